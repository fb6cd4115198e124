"""How a server of an `mcpServers` file is reached, and that its secrets stay where they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from catalog.errors import CatalogError
from catalog.mcp_connection import Connection
from catalog.nodes import Json
from catalog.source import connections_in

ENVIRONMENT = {"TOKEN": "s3cret-token", "EMPTY": ""}


def connect(tmp_path: Path, servers: dict[str, Json], *names: str) -> list[Connection]:
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": servers}, indent=1), encoding="utf-8")
    return connections_in(path, names, ENVIRONMENT)


def refused(tmp_path: Path, servers: dict[str, Json], *names: str) -> CatalogError:
    with pytest.raises(CatalogError) as caught:
        connect(tmp_path, servers, *names)
    return caught.value


def test_both_transports(tmp_path: Path) -> None:
    """A command with its environment, or a URL with its headers."""
    first, second = connect(
        tmp_path,
        {
            "a": {"command": "x", "args": ["--y", "$TOKEN"], "env": {"T": "Bearer ${TOKEN}", "E": "${EMPTY}"}},
            "b": {"type": "http", "url": "https://b.example/mcp", "headers": {"Authorization": "${TOKEN}"}},
        },
    )
    assert (first.transport, first.command, first.args) == ("stdio", "x", ("--y", "$TOKEN"))
    assert first.env == {"T": "Bearer s3cret-token", "E": ""}
    assert (second.transport, second.url) == ("http", "https://b.example/mcp")
    assert second.headers == {"Authorization": "s3cret-token"}


@pytest.mark.parametrize("value", ["$TOKEN", "$(TOKEN)", "`TOKEN`", "%TOKEN%", "~", "$$", "{TOKEN}"])
def test_nothing_but_braces_is_expanded(tmp_path: Path, value: str) -> None:
    """No shell, no other program's syntax."""
    (connection,) = connect(tmp_path, {"a": {"command": "x", "env": {"A": value}}})
    assert connection.env == {"A": value}


def test_an_unset_variable_is_named(tmp_path: Path) -> None:
    """Only where the server is asked for."""
    servers: dict[str, Json] = {"a": {"command": "x", "env": {"A": "${NOWHERE}"}}, "b": {"command": "y"}}
    error = refused(tmp_path, servers)
    assert (error.reason, error.line) == ("variable-unset", 6)
    assert "NOWHERE" in error.message("ja")
    assert [connection.name for connection in connect(tmp_path, servers, "b")] == ["b"]
    assert refused(tmp_path, {"a": {"command": "x", "env": {"A": "${TOKEN:-x}"}}}).reason == "variable-unreadable"


@pytest.mark.parametrize(
    "server",
    [
        {"type": "sse", "url": "https://a.example"},
        {"type": "ws", "url": "https://a.example"},
        {"type": "http", "command": "x"},
        {"type": "stdio", "url": "https://a.example"},
    ],
)
def test_other_transports_are_refused(tmp_path: Path, server: dict[str, Json]) -> None:
    """Streamable HTTP and stdio are what there is."""
    assert refused(tmp_path, {"a": server}).reason == "transport-unsupported"


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    """Names are compared folded, and those that there are are listed."""
    servers: dict[str, Json] = {"alpha": {"command": "x"}, "beta": {"command": "y"}}
    assert [connection.name for connection in connect(tmp_path, servers, "ＡＬＰＨＡ")] == ["alpha"]
    error = refused(tmp_path, servers, "gamma")
    assert error.reason == "server-unknown"
    assert "alpha, beta" in error.message("en")


def test_secrets_are_in_no_representation(tmp_path: Path) -> None:
    """A traceback or a log shows the connection; what a server says may repeat what it was given."""
    (connection,) = connect(tmp_path, {"a": {"command": "x", "env": {"A": "Bearer ${TOKEN}", "B": "on"}}})
    assert "s3cret" not in repr(connection)
    assert connection.hide("token s3cret-token is bad; Bearer s3cret-token, on") == "token *** is bad; ***, on"


@pytest.mark.parametrize(
    ("server", "reason"),
    [
        ({"url": "ftp://a.example"}, "url-unusable"),
        ({"url": "a.example/mcp"}, "url-unusable"),
        ({"url": "http://"}, "url-unusable"),
        ({"url": "http://[::1"}, "url-unusable"),
        ({"url": "http://a.example:99999/"}, "url-unusable"),
        ({"url": "http://a b/"}, "url-unusable"),
        ({"url": "https://a.example", "headers": {"A b": "x"}}, "header-unusable"),
        ({"url": "https://a.example", "headers": {"": "x"}}, "header-unusable"),
        ({"url": "https://a.example", "headers": {"A": "s3cret\r\nB: x"}}, "header-unusable"),
        ({"url": "https://a.example", "headers": {"A": "s3cr\u00e9t"}}, "header-unusable"),
        ({"command": "x\0"}, "process-unusable"),
        ({"command": "x", "args": ["\0"]}, "process-unusable"),
        ({"command": "x", "env": {"A=B": "s3cret"}}, "process-unusable"),
        ({"command": "x", "env": {"A": "s3cret\0"}}, "process-unusable"),
    ],
)
def test_what_cannot_be_passed_on_is_refused_before(tmp_path: Path, server: dict[str, Json], reason: str) -> None:
    """So that no library quotes a value in its own words."""
    error = refused(tmp_path, {"a": server})
    assert error.reason == reason
    assert "s3cr" not in error.message("ja") + error.message("en")


@pytest.mark.parametrize(
    ("given", "text", "where"),
    [
        ({"API_TOKEN": "abcdef"}, "use abcdef here", "env.API_TOKEN"),
        ({"Authorization": "Bearer abcdef"}, "abcdef", "env.Authorization"),
        ({"DATABASE_URL": "postgres://me:abcdef@db/x"}, "abcdef", "env.DATABASE_URL"),
        ({"Authorization": "Bearer abcdef"}, "a bearer of Bearer", None),
        ({"LOG_LEVEL": "information"}, "information", None),
        ({"TOKEN": "abc"}, "abc", None),
    ],
)
def test_a_credential_in_a_text_is_noticed(given: dict[str, str], text: str, where: str | None) -> None:
    """What is a credential is told by names, because most other values are words that any text may hold."""
    assert Connection("a", 1, "stdio", "x", (), "", given, {}).secret_in(text) == where
