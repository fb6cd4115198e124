"""`mcpServers` files and the manifest's pins as servers: what is read, what is refused, what is given to a process."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aop_runtime.manifest import ToolPin
from aop_runtime.sources.protocol import SourceFault
from aop_runtime.sources.servers import (
    MAX_BYTES,
    ServerEntry,
    ServersFault,
    configured,
    fold,
    inherited,
    pinned,
    read_servers,
)

HOME = {"PATH": "/usr/bin", "HOME": "/home/me", "AWS_SECRET": "no", "BASH_FUNC_x%%": "() { :; }", "LANG": "() { :; }"}


def written(folder: Path, content: object) -> Path:
    path = folder / "mcp.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_a_file_of_another_client_is_read(tmp_path: Path) -> None:
    """Keys that are not ours pass; names are found whatever their width and case."""
    stdio = {"command": "crm", "args": ["--x"], "env": {"TOKEN": "${T}"}, "disabled": False, "autoApprove": []}
    servers = {"My_CRM": stdio, "web": {"type": "http", "url": "https://a.example/mcp", "headers": {"X-Key": "k"}}}
    found = read_servers(written(tmp_path, {"mcpServers": servers, "inputs": []}))
    assert set(found) == {"my_crm", "web"}
    assert found[fold("ＭＹ＿ＣＲＭ")].command == "crm"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[", "not readable as JSON"),
        ("[" * 100_000, "not readable as JSON"),
        ("[]", ""),
        ("{}", "mcpServers"),
        ({"mcpServers": []}, "mcpServers"),
        ({"mcpServers": {"a": {}}}, "either a command or a url"),
        ({"mcpServers": {"a": {"command": "x", "url": "https://a"}}}, "either a command or a url"),
        ({"mcpServers": {"a": {"command": ["x"]}}}, "a.command"),
        ({"mcpServers": {"a": {"command": "x", "args": "y"}}}, "a.args"),
        ({"mcpServers": {"a": {"command": "x", "args": [1]}}}, "a.args"),
        ({"mcpServers": {"a": {"command": "x", "env": {"A": 1}}}}, "a.env"),
        ({"mcpServers": {"a": {"command": "x", "env": {"A=B": "1"}}}}, "no name of a variable"),
        ({"mcpServers": {"a": {"url": "https://a", "headers": {"X: y": "1"}}}}, "no name of a header"),
        ({"mcpServers": {" ": {"command": "x"}}}, "without a name"),
        ({"mcpServers": {"a": {"command": "x"}, "A": {"command": "x"}}}, "twice"),
        ('{"mcpServers": {"a": {"command": "x", "command": "y"}}}', "twice"),
    ],
)
def test_what_is_no_such_file_is_refused(tmp_path: Path, content: object, said: str) -> None:
    """With the place, in one line."""
    with pytest.raises(ServersFault, match=r"mcp\.json") as raised:
        read_servers(written(tmp_path, content))
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_values_stay_out_of_messages(tmp_path: Path) -> None:
    """Those of a file that is refused, and those of an entry that is shown."""
    secret = "s3cr3t-value"  # noqa: S105 - of a test
    with pytest.raises(ServersFault) as raised:
        read_servers(written(tmp_path, {"mcpServers": {"a": {"command": "x", "env": {"A": [secret]}}}}))
    entry = ServerEntry(command="x", env={"A": secret}, headers={"B": secret})
    assert secret not in str(raised.value) + repr(entry) + repr(configured("a", entry, {}))


def test_files_that_are_none(tmp_path: Path) -> None:
    """A folder, a missing file, a device, one that is too large."""
    (tmp_path / "large.json").write_bytes(b" " * (MAX_BYTES + 1))
    for path in (tmp_path, tmp_path / "none", Path("/dev/zero"), tmp_path / "large.json", Path("a\0b")):
        with pytest.raises(ServersFault):
            read_servers(path)


def test_variables_are_filled_in_env_and_headers_only() -> None:
    """Not in commands, arguments and addresses."""
    environment = {**HOME, "T": "tok", "U": "user"}
    entry = ServerEntry(command="${T}", args=("${T}",), env={"TOKEN": "${U}:${T}", "PLAIN": "$T ${"})
    server = configured("a", entry, environment)
    assert (server.command, server.args) == ("${T}", ("${T}",))
    assert {name: server.env[name] for name in entry.env} == {"TOKEN": "user:tok", "PLAIN": "$T ${"}
    remote = configured(
        "a", ServerEntry(url="https://a.example/mcp", headers={"Authorization": "Bearer ${T}"}), environment
    )
    assert remote.headers == {"Authorization": "Bearer tok"}


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"command": "x", "env": {"A": "${NOT_SET}"}}, "NOT_SET"),
        ({"command": "x", "env": {"A": "${T:-x}"}}, "no name of a variable"),
        ({"command": "x", "type": "http"}, "not supported"),
        ({"url": "https://a", "type": "sse"}, "not supported"),
        ({"url": "https://a", "headers": {"A": "${LINES}"}}, "cannot have"),
        ({"url": "http://a.example/mcp"}, "https"),
        ({"url": "file:///etc/passwd"}, "https"),
        ({"url": "https://[x"}, "no URL"),
    ],
)
def test_a_server_that_cannot_be_used(entry: dict[str, object], said: str) -> None:
    """A fault that names the tool and the place, not the value."""
    with pytest.raises(SourceFault, match=r"^crm: ") as raised:
        configured("crm", ServerEntry.model_validate(entry), {"T": "tok", "LINES": "a\r\nX: y"})
    assert said in str(raised.value)


def test_a_process_is_given_little_of_our_environment() -> None:
    """Programs, homes, languages; no shell functions, nobody else's secrets."""
    assert inherited(HOME) == {"PATH": "/usr/bin", "HOME": "/home/me"}
    assert not {name for name in inherited(os.environ) if "TOKEN" in name or "KEY" in name}


def test_the_manifests_server_gets_the_credentials_that_it_names() -> None:
    """By their names for a process, as a bearer token for an address; what is missing is named."""
    environment = {**HOME, "A_TOKEN": "aaaa", "B_TOKEN": "bbbb"}
    local = {"tool": "crm", "kind": "mcp", "server": {"command": "npx", "args": ["-y"], "credentials": ["A_TOKEN"]}}
    server = pinned(ToolPin.model_validate(local), environment)
    assert server.env == {"PATH": "/usr/bin", "HOME": "/home/me", "A_TOKEN": "aaaa"}
    assert server.secrets.hide("it was aaaa") == "it was ***"
    remote = {"tool": "crm", "kind": "mcp", "server": {"url": "https://a.example/mcp", "credentials": ["B_TOKEN"]}}
    assert pinned(ToolPin.model_validate(remote), environment).headers == {"Authorization": "Bearer bbbb"}
    with pytest.raises(SourceFault, match="B_TOKEN"):
        pinned(ToolPin.model_validate(remote), HOME)
    with pytest.raises(SourceFault, match="neither"):
        pinned(ToolPin.model_validate({"tool": "crm", "kind": "mcp"}), HOME)


@given(st.text(max_size=300))
def test_any_file_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, content: str) -> None:
    """And never with any other exception."""
    path = tmp_path_factory.mktemp("any") / "mcp.json"
    path.write_bytes(content.encode("utf-8", "surrogatepass"))
    with pytest.raises(ServersFault):
        read_servers(path)
