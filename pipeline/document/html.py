"""The text of an HTML block: comments say nothing, a tag's attributes neither declare nor mention (F6)."""

from __future__ import annotations

import re

from pipeline.document.inline import MASKED, TAG

# Most documents have no HTML: these are compiled by the first that has some.
_COMMENT = r"(?s:<!--(?:>|->|.*?-->|.*))"
_TAG = rf"{TAG}|</?[A-Za-z][^<>]*>"
"""A tag of CommonMark's, or what comes close: the first tag of an HTML block need not be a right one."""


def without_comments(text: str) -> str:
    """The block's text without its comments; one that is not closed reaches to the block's end."""
    return re.sub(_COMMENT, "", text) if "<!--" in text else text


def text_mask(text: str) -> str:
    """As long as `text`: comments as spaces, tags hidden."""
    if "<!--" in text:
        text = re.sub(_COMMENT, lambda match: re.sub(r"[^\n]", " ", match.group()), text)
    return re.sub(_TAG, lambda match: re.sub(r"[^\n]", MASKED, match.group()), text)
