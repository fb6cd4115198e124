"""From what a document says to what it means: tools, hand-overs, mentions. The resolve stage puts these together."""
