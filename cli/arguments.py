"""From the words of a command line to options: every value is read here, whichever parser found the words."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias, TypeVar, get_args

from cli.reading import LARGEST
from cli.trouble import Trouble
from pipeline.diagnostics.lang import Lang
from pipeline.document.source import DEFAULT_MAX_BYTES

Format: TypeAlias = Literal["text", "json", "jsonl", "sarif", "github"]
Reuse: TypeAlias = Literal["compatible", "exact", "never"]
Color: TypeAlias = Literal["auto", "always", "never"]

_Word = TypeVar("_Word", bound=str)

LANGUAGE_VARIABLE: Final = "AOP_LANG"
ORG_VARIABLE: Final = "AOP_CATALOG_ORG"
DEFAULT_OUT: Final = "build"
DEFAULT_STORE: Final = ".aop"

FORMATS: Final[tuple[Format, ...]] = get_args(Format)
REUSES: Final[tuple[Reuse, ...]] = get_args(Reuse)
COLORS: Final[tuple[Color, ...]] = get_args(Color)
LANGS: Final[tuple[Lang, ...]] = get_args(Lang)

_UNITS: Final = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}
_SIZE: Final = re.compile(r"([0-9]{1,12})\s*([a-z]*)", re.ASCII | re.IGNORECASE)


class Words(NamedTuple):
    """What `aop compile` and `aop check` were given, as written; None where nothing was."""

    documents: tuple[str, ...] = ()
    out: str | None = None
    catalog: tuple[str, ...] = ()
    org: tuple[str, ...] = ()
    mcp_config: str | None = None
    format: str | None = None
    lang: str | None = None
    reuse: str | None = None
    strict: bool = False
    watch: bool = False
    max_bytes: str | None = None
    jobs: str | None = None
    store: str | None = None
    color: str | None = None


class Setting(NamedTuple):
    """What every command that reads a document is told. `catalog` None: the shipped one. `org`: the organisation's
    files; None: the one in the current folder, if there is one. `max_bytes` in bytes."""

    catalog: tuple[Path, ...] | None
    org: tuple[Path, ...] | None
    mcp_config: Path | None
    lang: Lang
    max_bytes: int


class Options(NamedTuple):
    """`check`: nothing is generated or written. `jobs` None: as many as there are cores."""

    check: bool
    documents: tuple[str, ...]
    setting: Setting
    out: Path
    format: Format
    reuse: Reuse
    strict: bool
    watch: bool
    jobs: int | None
    store: Path
    color: Color


def read_setting(
    *,
    catalog: Sequence[str],
    org: Sequence[str],
    mcp_config: str | None,
    lang: str | None,
    max_bytes: str | None,
    environment: Mapping[str, str] = os.environ,
) -> Setting:
    """Raises Trouble for a value that an option does not take."""
    files = tuple(Path(filled("--catalog", word) or "") for word in catalog)
    return Setting(
        catalog=files or None,
        org=read_org(org, environment),
        mcp_config=read_path("--mcp-config", mcp_config),
        lang=read_lang(lang, environment),
        max_bytes=DEFAULT_MAX_BYTES if max_bytes is None else min(LARGEST, read_size("--max-bytes", max_bytes)),
    )


def read_options(words: Words, *, check: bool, environment: Mapping[str, str] = os.environ) -> Options:
    """Raises Trouble for a value that an option does not take."""
    setting = read_setting(
        catalog=words.catalog,
        org=words.org,
        mcp_config=words.mcp_config,
        lang=words.lang,
        max_bytes=words.max_bytes,
        environment=environment,
    )
    output_format: Format = one_of("--format", words.format, FORMATS, "text")
    if words.watch and output_format == "sarif":
        raise Trouble("usage.watch-sarif")
    if words.watch and "-" in words.documents:
        raise Trouble("usage.watch-stdin")
    return Options(
        check=check,
        documents=words.documents,
        setting=setting,
        out=Path(filled("--out", words.out) or DEFAULT_OUT),
        format=output_format,
        reuse=one_of("--reuse", words.reuse, REUSES, "compatible"),
        strict=words.strict,
        watch=words.watch,
        jobs=None if words.jobs is None else _count("--jobs", words.jobs),
        store=read_path("--store", words.store) or Path(DEFAULT_STORE),
        color=one_of("--color", words.color, COLORS, "auto"),
    )


def read_org(words: Sequence[str], environment: Mapping[str, str] = os.environ) -> tuple[Path, ...] | None:
    """`--org`, else the paths in `AOP_CATALOG_ORG`; None for neither. Raises Trouble for an empty word."""
    if words:
        return tuple(Path(filled("--org", word) or "") for word in words)
    listed = environment.get(ORG_VARIABLE, "").split(os.pathsep)
    return tuple(Path(word) for word in listed if word) or None


def one_of(option: str, word: str | None, choices: Sequence[_Word], default: _Word) -> _Word:
    """The choice that `word` is. Raises Trouble for any other word."""
    if word is None:
        return default
    for choice in choices:
        if word == choice:
            return choice
    raise Trouble("usage.choice", option=option, value=word, choices=", ".join(choices))


def filled(option: str, word: str | None) -> str | None:
    """The word itself. Raises Trouble for an empty one: an unset variable in a script would mean `.` as a path."""
    if word == "":
        raise Trouble("usage.empty", option=option)
    return word


def read_path(option: str, word: str | None) -> Path | None:
    """Raises Trouble for an empty word."""
    word = filled(option, word)
    return None if word is None else Path(word)


def read_lang(word: str | None, environment: Mapping[str, str] = os.environ) -> Lang:
    """`--lang`, else `AOP_LANG`, else Japanese. Raises Trouble for a language that we do not speak."""
    if word is None and environment.get(LANGUAGE_VARIABLE):
        return one_of(LANGUAGE_VARIABLE, environment[LANGUAGE_VARIABLE], LANGS, "ja")
    return one_of("--lang", word, LANGS, "ja")


def spoken(arguments: Sequence[str], environment: Mapping[str, str] = os.environ) -> Lang:
    """The language in which to complain about a command line that may not be readable."""
    words = [*arguments, ""]
    asked = [words[index + 1] for index, word in enumerate(arguments) if word == "--lang"]
    asked += [word.removeprefix("--lang=") for word in arguments if word.startswith("--lang=")]
    wanted = asked[-1] if asked else environment.get(LANGUAGE_VARIABLE, "")
    return "en" if wanted == "en" else "ja"


def read_size(option: str, word: str) -> int:
    """Bytes: `1048576`, `500MB` (powers of 1000), `1MiB` (powers of 1024). Raises Trouble."""
    match = _SIZE.fullmatch(word.strip())
    unit = _UNITS.get(match[2].lower()) if match else None
    if match is None or unit is None:
        raise Trouble("usage.size", option=option, value=word)
    return int(match[1]) * unit


def read_seconds(option: str, word: str | None) -> float | None:
    """From a tenth of a second to an hour; None for none given. Raises Trouble."""
    if word is None:
        return None
    if re.fullmatch(r"[0-9]{1,4}(?:\.[0-9]{1,3})?", word, re.ASCII) is None or not 0.1 <= float(word) <= 3_600:
        raise Trouble("usage.seconds", option=option, value=word)
    return float(word)


def _count(option: str, word: str) -> int:
    if re.fullmatch(r"[0-9]{1,4}", word, re.ASCII) is None or int(word) < 1:
        raise Trouble("usage.count", option=option, value=word, most=9999)
    return int(word)
