"""What is wrong with a value that came in: where, as a JSON pointer (RFC 6901), and in either language what to write
instead. pydantic's own words are English, and may repeat what was sent; none of them leaves the server.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, get_args

from pydantic import BaseModel, JsonValue, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, PydanticCustomError

from pipeline.diagnostics.lang import Lang
from pipeline.diagnostics.visible import visible
from server.errors import ApiError

MOST_FAULTS: Final = 10
MOST_PATH: Final = 200
_MOST_ALLOWED: Final = 50

Problem: TypeAlias = Literal[
    "missing",
    "unknown field",
    "wrong type",
    "too long",
    "too short",
    "too many",
    "too few",
    "too small",
    "too large",
    "wrong form",
    "not one of the allowed values",
    "not exactly one",
    "none of them",
    "more than once",
    "not Unicode",
    "not JSON",
    "not UTF-8",
    "too deep",
    "number too long",
    "malformed",
]
"""The words that a tool's caller is told as well (docs/tool-plane.md), where they are about the same."""

_SENTENCES: Final[dict[Problem, tuple[str, str]]] = {
    "missing": ("ありません。加えてください。", "it is missing: add it"),
    "unknown field": (
        "知らない項目です。取り除くか、正しい名前にしてください（使える項目: {allowed}）。",
        "unknown field: remove it, or correct its name (there are: {allowed})",
    ),
    "wrong type": ("型が違います。{expected}にしてください。", "wrong type: send {expected}"),
    "too long": ("長すぎます。{limit} 文字までにしてください。", "too long: at most {limit} characters"),
    "too short": ("短すぎます。{limit} 文字以上にしてください。", "too short: at least {limit} characters"),
    "too many": (
        "要素が多すぎます。{limit} 個までにして、残りは別に送ってください。",
        "too many items: at most {limit}; send the others by themselves",
    ),
    "too few": ("要素が足りません。{limit} 個以上にしてください。", "too few items: at least {limit}"),
    "too small": ("小さすぎます。{limit} 以上にしてください。", "too small: at least {limit}"),
    "too large": ("大きすぎます。{limit} 以下にしてください。", "too large: at most {limit}"),
    "wrong form": (
        "形が違います。正規表現 {expected} に合うものにしてください。",
        "wrong form: it has to match the regular expression {expected}",
    ),
    "not one of the allowed values": (
        "使えない値です。次のどれかにしてください: {allowed}。",
        "not one of the allowed values: choose one of {allowed}",
    ),
    "not exactly one": ("{allowed} のうち 1 つだけを送ってください。", "send exactly one of {allowed}"),
    "none of them": ("{allowed} の少なくとも 1 つを送ってください。", "send at least one of {allowed}"),
    "more than once": ("2 回以上あります。1 回だけにしてください。", "it is there more than once: send it once"),
    "not Unicode": (
        "文字にならないサロゲート（U+D800 から U+DFFF）があります。取り除いてください。",
        "it holds surrogates (U+D800 to U+DFFF), which are no characters: remove them",
    ),
    "not JSON": (
        "JSON ではありません（{line} 行目、{column} バイト目）。書き方を直してください。",
        "it is no JSON (line {line}, byte {column}): correct it there",
    ),
    "not UTF-8": (
        "UTF-8 ではありません（{offset} バイト目）。UTF-8 で送ってください。",
        "it is not UTF-8 (at byte {offset}): send it as UTF-8",
    ),
    "too deep": (
        "入れ子が深すぎます（{line} 行目、{column} バイト目）。浅くしてください。",
        "it is nested too deeply (line {line}, byte {column}): make it flatter",
    ),
    "number too long": (
        "数の桁が多すぎます（{line} 行目、{column} バイト目）。文字列にするか、短くしてください。",
        "a number has too many digits (line {line}, byte {column}): send a string, or a shorter one",
    ),
    "malformed": ("正しい形ではありません。書き方を確かめてください。", "it is malformed: see how it is to be written"),
}
_TYPES: Final[dict[str, tuple[str, str]]] = {
    "string": ("文字列", "a string"),
    "integer": ("整数", "an integer"),
    "number": ("数", "a number"),
    "boolean": ("true か false", "true or false"),
    "object": ("オブジェクト", "an object"),
    "array": ("配列", "an array"),
    "null": ("null", "null"),
}
_ALL: Final = ("全体", "all of it")

_OF_TYPES: Final = {
    "string": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "list": "array",
    "tuple": "array",
    "dict": "object",
    "model": "object",
    "none": "null",
}
"""What pydantic calls the types that it misses, before `_type` and `_parsing`."""

Argument: TypeAlias = int | str | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fault:
    """`path`: a JSON pointer into the body, "" all of it; or `query.NAME`, `header.NAME`. `given`: the blanks of the
    problem's sentence, which hold what is ours, and never a value that was sent."""

    path: str
    problem: Problem
    given: Mapping[str, Argument] = field(default_factory=dict)

    def message(self, lang: Lang) -> str:
        shown = {key: _shown(key, value, lang) for key, value in self.given.items()}
        return _SENTENCES[self.problem][_of(lang)].format_map(shown)

    def as_dict(self, lang: Lang) -> dict[str, JsonValue]:
        given: dict[str, JsonValue] = {
            key: _plain(key, value) if isinstance(value, tuple) else value for key, value in self.given.items()
        }
        return {"path": self.path, "problem": self.problem, "message": self.message(lang), **given}


class Malformed(ApiError):
    """400: one or several faults, the first of which is the message's."""

    def __init__(self, *faults: Fault) -> None:
        super().__init__("invalid_input", "field", details={"path": faults[0].path})
        self.faults = faults

    def message(self, lang: Lang) -> str:
        first = self.faults[0]
        more = len(self.faults) - 1
        rest = ("", "") if not more else (f"（ほかに {more} 件）", f" (and {more} more)")
        return f"{visible(first.path) or _ALL[_of(lang)]}: {first.message(lang)}{rest[_of(lang)]}"

    def body(self, lang: Lang) -> dict[str, JsonValue]:
        faults: list[JsonValue] = [fault.as_dict(lang) for fault in self.faults]
        return {"code": self.code, "message": self.message(lang), "details": {**self.details, "faults": faults}}


def _of(lang: Lang) -> Literal[0, 1]:
    return 0 if lang == "ja" else 1


def _shown(key: str, value: Argument, lang: Lang) -> Argument:
    if not isinstance(value, tuple):
        return value
    if key == "expected":
        return ("か" if lang == "ja" else " or ").join(_TYPES[word][_of(lang)] for word in value)
    return ("、" if lang == "ja" else ", ").join(value)


def _plain(key: str, value: tuple[str, ...]) -> JsonValue:
    return " or ".join(value) if key == "expected" else list(value)


# ---------------------------------------------------------------------------------------------------------- models


def at_least_one(*names: str) -> PydanticCustomError:
    return PydanticCustomError("at_least_one", "send at least one of the fields", {"fields": names})


def faults_of(error: ValidationError, kind: type[BaseModel], value: object, at: str = "") -> list[Fault]:
    """`value`: what was to be a `kind`, and stands at the pointer `at`. At most `MOST_FAULTS`; of a place that may be
    of several types one fault says all of them."""
    found: dict[tuple[str, Problem], Fault] = {}
    for details in error.errors(include_url=False):
        location = tuple(_real(details, value))
        fault = _fault(pointer(location, at), details, kind, location)
        key = (fault.path, fault.problem)
        if key in found:
            found[key] = _merged(found[key], fault)
        elif len(found) < MOST_FAULTS:
            found[key] = fault
    return list(found.values())


def pointer(location: Sequence[int | str], at: str = "") -> str:
    """Bounded: whoever sends a name of a megabyte does not get it back."""
    path = at + "".join("/" + str(part)[: MOST_PATH + 1].replace("~", "~0").replace("/", "~1") for part in location)
    return path if len(path) <= MOST_PATH else f"{path[:MOST_PATH]}…"


def _real(details: ErrorDetails, value: object) -> Iterator[int | str]:
    """The location without what pydantic adds: which of several types it tried."""
    location = details["loc"]
    for number, part in enumerate(location):
        if _has(value, part):
            value = value[part]  # type: ignore[index]  # as `_has` says
        elif details["type"] != "missing" or number < len(location) - 1:
            return
        yield part


def _has(value: object, part: int | str) -> bool:
    if isinstance(value, Mapping):
        return part in value
    return isinstance(value, list | tuple) and isinstance(part, int) and part < len(value)


def _fault(path: str, details: ErrorDetails, kind: type[BaseModel], location: Sequence[int | str]) -> Fault:
    context = details.get("ctx", {})
    name, is_text = details["type"], isinstance(details["input"], str)
    match name:
        case "missing":
            return Fault(path, "missing")
        case "extra_forbidden":
            return Fault(path, "unknown field", {"allowed": _known(kind, location)[:_MOST_ALLOWED]})
        case "string_too_long":
            return Fault(path, "too long", {"limit": int(context["max_length"])})
        case "string_too_short":
            return Fault(path, "too short", {"limit": int(context["min_length"])})
        case "too_long":
            return Fault(path, "too long" if is_text else "too many", {"limit": int(context["max_length"])})
        case "too_short":
            return Fault(path, "too short" if is_text else "too few", {"limit": int(context["min_length"])})
        case "greater_than_equal":
            return Fault(path, "too small", {"limit": int(context["ge"])})
        case "less_than_equal":
            return Fault(path, "too large", {"limit": int(context["le"])})
        case "less_than":
            return Fault(path, "too large", {"limit": int(context["lt"]) - 1})
        case "string_pattern_mismatch":
            return Fault(path, "wrong form", {"expected": str(context["pattern"])})
        case "literal_error":
            words = re.findall(r"'([^']*)'", str(context["expected"])) or [str(context["expected"]).lower()]
            return Fault(path, "not one of the allowed values", {"allowed": tuple(words)})
        case "exactly_one":
            return Fault(path, "not exactly one", {"allowed": tuple(map(str, context["fields"]))})
        case "at_least_one":
            return Fault(path, "none of them", {"allowed": tuple(map(str, context["fields"]))})
        case "string_unicode":
            return Fault(path, "not Unicode")
    word = _OF_TYPES.get(re.sub(r"_(attributes_)?(type|parsing|from_float)(_size)?$", "", name))
    return Fault(path, "malformed") if word is None else Fault(path, "wrong type", {"expected": (word,)})


def _merged(one: Fault, other: Fault) -> Fault:
    expected, more = one.given.get("expected"), other.given.get("expected")
    if not isinstance(expected, tuple) or not isinstance(more, tuple):
        return one
    return Fault(one.path, one.problem, {**one.given, "expected": tuple(dict.fromkeys((*expected, *more)))})


def _known(kind: type[BaseModel], location: Sequence[int | str]) -> tuple[str, ...]:
    """The fields beside the one that `location` leads to."""
    for part in location[:-1]:
        info = fields_of(kind).get(str(part))
        nested = None if info is None else _model_in(info.annotation)
        kind = kind if nested is None else nested
    return tuple(fields_of(kind))


def fields_of(kind: type[BaseModel]) -> dict[str, FieldInfo]:
    """By the names that a sender writes."""
    return {info.alias or name: info for name, info in kind.model_fields.items()}


def _model_in(annotation: object) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for found in map(_model_in, get_args(annotation)) if found is not None), None)


# ------------------------------------------------------------------------------------------------------------ JSON

_PLACE: Final = re.compile(r" at line (\d+) column (\d+)$")
_REFUSALS: Final[tuple[tuple[str, Problem], ...]] = (
    ("recursion limit", "too deep"),
    ("number out of range", "number too long"),
)
"""How the parser's refusals begin that are of JSON that others may read."""


def json_fault(data: bytes, error: ValueError) -> Fault:
    """What the parser's refusal of `data` means."""
    try:
        data.decode()
    except UnicodeDecodeError as wrong:
        return Fault("", "not UTF-8", {"offset": wrong.start + 1})
    words = str(error)
    place = _PLACE.search(words)
    given = {"line": 1, "column": 1} if place is None else {"line": int(place[1]), "column": int(place[2])}
    return Fault("", next((problem for start, problem in _REFUSALS if words.startswith(start)), "not JSON"), given)
