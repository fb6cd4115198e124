"""Names taken apart into words, and what the words mean."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, TypeAlias

from catalog.fold import fold

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W_0-9A-Za-z]+")
_MAX_NAME: Final = 200
_LONGEST: Final = 4
"""Words of an ending."""

Endings: TypeAlias = "frozenset[tuple[str, ...]]"


@lru_cache(maxsize=8_192)
def _words(name: str) -> tuple[str, ...]:
    return tuple(fold(word) for word in _WORD.findall(name))


def words(name: str) -> tuple[str, ...]:
    """`getUserURL`, `get-user_url`: get, user, url. Digits are words; letters of other scripts stay together."""
    return _words(name[:_MAX_NAME])


def endings(text: str) -> Endings:
    """`api key, token`: words with which names may end, of one list."""
    return frozenset(tuple(part.split()) for part in text.split(","))


def ends_with(name: tuple[str, ...], wanted: Endings) -> bool:
    """Whether the last words of a name are one of `wanted`."""
    if name[-1:] in wanted:
        return True
    return any(name[-length:] in wanted for length in range(2, min(len(name), _LONGEST) + 1))


def singular(word: str) -> str:
    if len(word) > 3 and word.endswith("ies"):
        return f"{word[:-3]}y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def word_set(text: str) -> frozenset[str]:
    """The words of a text with blanks between them."""
    return frozenset(text.split())


READING: Final = word_set(
    "get list search find read fetch retrieve lookup query show view describe count check compare inspect browse "
    "explain summarize summarise preview validate verify calculate compute estimate analyze analyse diff resolve "
    "detect identify locate monitor watch poll tail explore scan recommend suggest classify extract parse "
    "translate convert render format lint test ping wait whoami download export"
)
"""Verbs of tools that change nothing."""

DANGEROUS: Final = word_set(
    "delete remove destroy purge erase wipe drop truncate cancel revoke terminate kill uninstall deprovision send "
    "post publish share broadcast notify email invite reply forward announce tweet dial buy purchase pay charge "
    "refund transfer withdraw payout checkout subscribe unsubscribe order deploy release rollback promote "
    "shutdown restart reboot grant permit authorize authorise approve reject deny ban suspend deactivate disable "
    "sign submit merge overwrite reset restore"
)
"""Verbs of changes that somebody else notices, that cost, or that cannot be taken back."""

WRITING: Final = DANGEROUS | word_set(
    "create add insert make new generate build write update edit modify change patch replace set put save store "
    "upsert append upload import move rename copy duplicate clone attach detach assign unassign link unlink "
    "connect disconnect enable activate archive unarchive close open reopen start stop pause resume schedule "
    "reschedule compile register unregister mark unmark pin unpin star unstar react tag untag label lock unlock "
    "subscribe join leave enqueue trigger sync refresh install configure provision complete finish begin commit push "
    "pull fork rebase revert comment reserve book allocate increment decrement apply rotate undo redo unset uncancel "
    "transition"
)
"""Verbs of tools that change something."""

EXECUTING: Final = word_set("run execute exec eval evaluate invoke call launch spawn perform interpret")

_OTHER_VERBS: Final = word_set(
    "ask answer accept confirm handle process manage use load transform filter sort group aggregate plan think "
    "draft click press type scroll drag hover navigate screenshot capture record play listen speak transcribe "
    "print collect gather crawl scrape index embed log track report observe draw visualize visualise encode login "
    "logout retry resize enrich clear take give swap extend measure bind mute unmute follow unfollow actualize "
    "decode encrypt decrypt compress decompress extract split join combine collapse expand select choose pick "
    "toggle switch request review investigate diagnose debug guide discover orchestrate fix repair solve echo "
    "return sample fill rank score predict simulate train open"
)

VERBS: Final = READING | WRITING | EXECUTING | _OTHER_VERBS

AMBIGUOUS: Final = word_set(
    "test format label tag comment order email post share book schedule plan report record log index score rank "
    "sample link pin star lock release charge transfer refund query view search export import update change "
    "request review answer draft group filter process use load type play print track switch copy patch build set "
    "new sign message call count check list diff scan watch start stop close open store save return step split "
    "fix pull push fork commit merge branch mark purchase guide transition"
)
"""Verbs that are as often nouns."""

_USUAL: Final = word_set("list update search query export import count check view change patch copy set mark lock")
"""Of those, the ones that in a tool's name mean what is done, wherever they stand (`kintone_update_app`)."""


def verb_of(name: tuple[str, ...]) -> str | None:
    """The verb of a tool's name; None where it has none."""
    if len(name) > 1 and name[0] in VERBS and (name[0] in READING or name[0] not in AMBIGUOUS):
        return name[0]
    certain = next((word for word in name if word in VERBS and word not in AMBIGUOUS), None)
    if certain is not None:
        return certain
    if len(name) > 1 and name[0] in VERBS:
        return name[0]
    return next((word for word in name if word in _USUAL), None) or next(
        (word for word in name[1:-1] if word in VERBS), None
    )
