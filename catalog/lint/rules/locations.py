"""No tool goes wherever it is told: not to any address, not to any file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final, TypeAlias

from catalog.lint.arguments import Argument, arguments
from catalog.lint.regex.pattern import read_pattern
from catalog.lint.rule import Finding, Rule, Text
from catalog.lint.schema.assertions import Undecided
from catalog.lint.tools import Tool
from catalog.lint.words import Endings, endings, ends_with, word_set, words

ANY_URL: Final = Rule(
    "TSL206",
    "url-unrestricted",
    "strict",
    Text(
        "引数「{name}」に、どの URL やホストでも渡せます。",
        "argument `{name}` takes any URL or host.",
    ),
    Text(
        "サーバー側が知っている ID に替えるか、"
        "許す先を enum か、先頭を固定した pattern（^https://docs\\.example\\.com/）で限ってください。",
        "Take an id that the server knows, or allow only certain hosts, by enum or by a pattern that begins with them "
        "(^https://docs\\.example\\.com/).",
    ),
)
ANY_PATH: Final = Rule(
    "TSL207",
    "path-unrestricted",
    "strict",
    Text(
        "引数「{name}」に、どのファイルパスでも渡せます。",
        "argument `{name}` takes any file path.",
    ),
    Text(
        "サーバー側が知っている ID に替えるか、"
        ".. や絶対パスを受け付けない pattern（^[a-z0-9_-]+\\.csv$）で限ってください。",
        "Take an id that the server knows, or a pattern that allows neither .. nor absolute paths "
        "(^[a-z0-9_-]+\\.csv$).",
    ),
)

RULES: Final = (ANY_URL, ANY_PATH)

Dangers: TypeAlias = "tuple[tuple[str, ...], Callable[[str], Iterator[str]]]"
"""Texts that are always tried, and what makes more of a pattern."""

_WINDOW: Final = 2_000
_MOST: Final = 10

_URLS: Final = endings(
    "url, urls, uri, uris, href, link, links, endpoint, endpoints, webhook, callback, host, hosts, hostname,"
    "domain, domains, server address, ip address, origin, website, リンク"
)
_NO_ADDRESSES: Final = frozenset({"symbolic", "deep", "issue", "unlink"})
_URL_FORMATS: Final = frozenset({"uri", "uri-reference", "iri", "iri-reference", "url", "uri-template", "hostname"})
_PATHS: Final = endings(
    "path, paths, pathname, filepath, filepaths, file, files, filename, filenames, file name, dir, directory,"
    "directories, cwd, workdir, working dir, glob, globs, ファイル, パス,"
)
_IN_FILE_TOOLS: Final = endings("source, destination, src, dest, dst, folder, root")
_FILE_WORDS: Final = frozenset({"file", "files", "directory", "dir", "folder", "path"})
"""In the name of a tool that moves or reads files, the former are paths (`move_file`)."""
_OTHER_PATHS: Final = word_set(
    "json xml x css dom field fields key keys property attribute node tree object data career critical learning "
    "conversion menu category breadcrumb selector element"
)
"""Paths through something that is no file system (`json_path`, `field_path`)."""
_NO_PATH_FORMATS: Final = frozenset({"json-pointer", "relative-json-pointer", "binary", "byte", "uuid", "date"})

_ADDRESSES: Final = (
    "http://169.254.169.254/latest/meta-data/",
    "https://evil.test/",
    "http://localhost:8080/",
    "file:///etc/passwd",
    "evil.test",
    "10.0.0.1",
    "localhost",
)
_HOST: Final = re.compile(r"[A-Za-z0-9-]+(?:\\\.[A-Za-z0-9-]+)+")
_ENDING: Final = re.compile(r"\\\.([a-z0-9]{1,5})\b")
_FILES: Final = (
    "../secret",
    "/etc/passwd",
    "a/../../secret",
    "C:\\Windows\\win.ini",
    "~/.ssh/id_rsa",
    "..",
    "..\\secret",
)


def check(tool: Tool) -> Iterator[Finding]:
    for argument in arguments(tool):
        if not argument.takes_text or argument.asks:
            continue
        formats = frozenset(argument.values("format"))
        dangers: Dangers
        if formats & _URL_FORMATS or _is_named(argument, _URLS, _NO_ADDRESSES):
            rule, dangers = ANY_URL, (_ADDRESSES, _like_addresses)
        elif _is_path(argument, tool) and not formats & _NO_PATH_FORMATS:
            rule, dangers = ANY_PATH, (_FILES, _like_files)
        else:
            continue
        if not _refuses(argument, dangers, tool):
            yield Finding(rule, argument.path, {"name": argument.name})


def _is_path(argument: Argument, tool: Tool) -> bool:
    if ends_with(argument.words, _IN_FILE_TOOLS) and not _FILE_WORDS.isdisjoint(words(tool.name)):
        return True
    return _is_named(argument, _PATHS, _OTHER_PATHS)


def _is_named(argument: Argument, wanted: Endings, unlike: frozenset[str]) -> bool:
    name = argument.words
    return ends_with(name, wanted) and not (len(name) > 1 and name[-2] in unlike)


def _like_addresses(pattern: str) -> Iterator[str]:
    """Addresses that are none of those that a pattern names, though they hold their names."""
    for match in islice(_HOST.finditer(pattern[:_WINDOW]), _MOST):
        host = match[0].replace("\\", "")
        for other in (f"evil-{host}", f"{host}.evil.test", f"{host}@evil.test"):
            yield from (other, f"https://{other}/", f"https://{other}")


def _like_files(pattern: str) -> Iterator[str]:
    """Paths with an ending that a pattern names."""
    for match in islice(_ENDING.finditer(pattern[:_WINDOW]), _MOST):
        yield from (f"../secret.{match[1]}", f"/etc/secret.{match[1]}", f"a/../../secret.{match[1]}")


def _refuses(argument: Argument, dangers: Dangers, tool: Tool) -> bool:
    """Whether some pattern of the argument keeps all dangers out."""
    texts, like = dangers
    return any(_keeps_out(pattern, (*texts, *like(pattern)), tool) for pattern in argument.values("pattern"))


def _keeps_out(pattern: str, texts: tuple[str, ...], tool: Tool) -> bool:
    for text in texts:
        matched, steps = read_pattern(pattern).search(text)
        try:
            tool.budgets.patterns.spend(steps)
        except Undecided:
            return False
        if matched is not False:
            return False
    return True
