"""Whether a katakana word and an English one may be the same word, heard: `スプレッドシート`, `spreadsheet`.

Both are reduced to the consonants that Japanese keeps of an English word. What Japanese does not tell apart (`l` and
`r`, `b` and `v`, `s` and `z`) is one; an `r` that is not heard in Japanese (`calendar`, `record`) is a vowel. The
vowels must only be possible: English spelling says little about them, but `black` is no `ブロック`.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from catalog.fold import fold

_ROWS: Final = {
    "": "アイウエオ",
    "k": "カキクケコ",
    "g": "ガギグゲゴ",
    "s": "サシスセソ",
    "z": "ザジズゼゾ",
    "t": "タチツテト",
    "d": "ダヂヅデド",
    "n": "ナニヌネノ",
    "h": "ハヒフヘホ",
    "b": "バビブベボ",
    "p": "パピプペポ",
    "m": "マミムメモ",
    "r": "ラリルレロ",
}
_SYLLABLES: Final = {
    **{kana: consonant + vowel for consonant, row in _ROWS.items() for kana, vowel in zip(row, "aiueo", strict=True)},
    **dict(zip("ヤユヨワヲンヴ", ("a", "u", "o", "a", "o", "n", "bu"), strict=True)),
}
_SMALL: Final = dict(zip("ァィゥェォャュョ", "aiueoauo", strict=True))
_SILENT: Final = re.compile("[ッー・]|ン(?=[ナニヌネノ])")
_KANA: Final = re.compile(r"[ァ-ヺー・]+")
_LETTERS: Final = re.compile(r"[a-z]+")
_SPELLINGS: Final = tuple(
    (re.compile(spelling), heard)
    for spelling, heard in (
        (r"sch", "sk"),
        (r"[ts]ion", "son"),
        (r"ch", "t"),
        (r"ph", "h"),
        (r"[st]h", "s"),
        (r"gh(?=t|$)", ""),
        (r"ck|qu?", "k"),
        (r"x", "ks"),
        (r"c(?=[eiy])|g(?=e)|[jz]", "s"),
        (r"c", "k"),
        (r"(?<=.)r(?![aeiouy])|(?<=.)re$", "a"),
        (r"l", "r"),
        (r"v", "b"),
        (r"f", "h"),
        (r"m(?=[bp])", "n"),
        (r"([^aeiou])\1+", r"\1"),
    )
)
_POSSIBLE: Final = {"a": "ae", "e": "eiauo", "i": "ia", "o": "oua", "u": "ua", "y": "ia", "w": "oua"}
"""What an English vowel is in Japanese; an `e` may be silent."""

_ADDED: Final = "uo"
"""What Japanese puts behind a consonant that has no vowel."""

_UNIT: Final = re.compile(r"([^aeiouyw])([aeiouyw]*)")
_VOWELS: Final = re.compile(r"[aeiouyw]*")


class Sound(NamedTuple):
    """`consonants`: with `*` before them where a vowel comes first. `vowels`: behind each of the consonants."""

    consonants: str
    vowels: tuple[str, ...]

    @property
    def length(self) -> int:
        """How much it says: two words with few consonants are soon alike."""
        return len(self.vowels)


SILENCE: Final = Sound("", ())


def sound(word: str) -> Sound:
    """Of a katakana word or an English one; silence for all others."""
    plain = fold(word).replace(" ", "").replace("_", "").replace("-", "")
    if _LETTERS.fullmatch(plain):
        heard = plain
        for spelling, consonant in _SPELLINGS:
            heard = spelling.sub(consonant, heard)
        return _units(heard)
    return _units(_romanized(_SILENT.sub("", plain))) if _KANA.fullmatch(plain) else SILENCE


def sounds_alike(english: Sound, japanese: Sound) -> bool:
    """Neither of them silence."""
    if english.consonants != japanese.consonants or not english.vowels:
        return False
    last = len(english.vowels) - 1
    return all(
        _possible(written, heard, last=place == last)
        for place, (written, heard) in enumerate(zip(english.vowels, japanese.vowels, strict=True))
    )


def _possible(written: str, heard: str, *, last: bool) -> bool:
    if not heard:
        return not written or last
    if not written:
        return heard[0] in _ADDED
    return any(vowel in _POSSIBLE[letter] for letter in written for vowel in heard)


def _units(heard: str) -> Sound:
    start = _VOWELS.match(heard)
    first = "*" if start is not None and start[0] else ""
    units = [(unit[1], unit[2]) for unit in _UNIT.finditer(heard)]
    return Sound(first + "".join(consonant for consonant, _ in units), tuple(vowels for _, vowels in units))


def _romanized(kana: str) -> str:
    """`チャ` is ta: English `ch` is t here."""
    syllables: list[str] = []
    for each in kana:
        if each in _SMALL and syllables and len(syllables[-1]) > 1:
            syllables[-1] = syllables[-1][0] + _SMALL[each]
        else:
            syllables.append(_SYLLABLES.get(each) or _SMALL.get(each, ""))
    return "".join(syllables).replace("z", "s")
