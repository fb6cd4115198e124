"""Two versions of a document compared, as somebody who must approve the change needs to see it."""
