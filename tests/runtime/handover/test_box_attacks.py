"""The TypeScript box: whatever a script tries, nothing outside is read, written, reached or started.

Each attempt is made twice: behind Deno's wall alone, and behind the wall of namespaces too.
"""

from __future__ import annotations

import json
import socket
import tempfile
import threading
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from aop_runtime.handover.limits import SecondWall
from tests.runtime.handover.given import WALLS, box, left_in, printed

_ATTEMPTS = Path(__file__).with_name("attempts.ts").read_text(encoding="utf-8")
_NAMES = [
    line.strip().split(":")[0]
    for line in _ATTEMPTS.split("const attempts")[1].split("\n};\n")[0].splitlines()
    if line.startswith("  ") and not line.startswith("   ") and ":" in line and not line.strip().startswith("//")
]
_MARK = "what-lies-outside"

# What an attempt may get: nothing.
_HARMLESS = {"clipboard": ("null",)}


class Outside:
    """A file, a server and a socket beside the box. `reached`: somebody came."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "outside.env"
        self.file.write_text(f"X={_MARK}", encoding="ascii")
        self.reached = False
        self.server = socket.create_server(("127.0.0.1", 0))
        self.datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.datagrams.bind(self.server.getsockname())
        self.datagrams.settimeout(0.05)
        self.unix = socket.socket(socket.AF_UNIX)
        self.unix.bind(str(folder / "s"))
        self.unix.listen()
        for listener in (self.server, self.unix):
            threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def _accept(self, listener: socket.socket) -> None:
        try:
            listener.accept()
        except OSError:
            return
        self.reached = True

    def was_reached(self) -> bool:
        try:
            self.datagrams.recv(10)
        except TimeoutError:
            return self.reached
        return True

    def close(self) -> None:
        for each in (self.server, self.unix, self.datagrams):
            each.close()


@cache
def _outcomes(wall: SecondWall) -> dict[str, tuple[bool, str]]:
    with tempfile.TemporaryDirectory(prefix="aop-out-") as folder, pytest.MonkeyPatch.context() as patched:
        patched.setenv("AOP_TEST_VARIABLE", _MARK)
        patched.setattr(tempfile, "tempdir", folder)
        outside = Outside(Path(folder))
        try:
            script = (
                _ATTEMPTS.replace("<PORT>", str(outside.server.getsockname()[1]))
                .replace("<SOCKET>", f"{folder}/s")
                .replace("<OUTSIDE>", str(outside.file))
            )
            found = {
                name: (got, said) for name, (got, said) in json.loads(printed(box(script, wall, wall_s=60))).items()
            }
            found["reached"] = (outside.was_reached(), "a server beside the box")
            found["overwritten"] = (outside.file.read_text(encoding="ascii") != f"X={_MARK}", "a file beside the box")
            found["left"] = (left_in(Path(folder)) != [], "a folder of the box")
            return found
        finally:
            outside.close()


@pytest.mark.parametrize("wall", WALLS)
@pytest.mark.parametrize("name", _NAMES)
def test_an_attempt_gets_nothing(name: str, wall: SecondWall) -> None:
    """It is refused, for want of a right, or because what it wants is not there."""
    got, said = _outcomes(wall)[name]
    assert not got or said in _HARMLESS.get(name, ()), said
    assert said != "Error: nothing happened", "it is still at it"
    assert _MARK not in said
    assert "root:" not in said


@pytest.mark.parametrize("wall", WALLS)
def test_every_attempt_was_made(wall: SecondWall) -> None:
    """None of them ended the script before the others were tried."""
    assert set(_NAMES) <= set(_outcomes(wall))
    assert len(_NAMES) > 100


@pytest.mark.parametrize("wall", WALLS)
def test_nobody_outside_was_reached(wall: SecondWall) -> None:
    """No connection, no datagram, no change of a file; nothing new in the folder for temporary files."""
    outcomes = _outcomes(wall)
    assert not outcomes["reached"][0]
    assert not outcomes["overwritten"][0]
    assert not outcomes["left"][0]
    assert not list(Path("/tmp").glob("aop-attack*"))  # noqa: S108 - where the attempts would write


_STATIC = [
    'import x from "file:///etc/passwd" with { type: "text" };\nconsole.log(x);',
    'import x from "file:///etc/passwd" with { type: "json" };\nconsole.log(x);',
    'import x from "/etc/passwd" with { type: "json" };\nconsole.log(x);',
    'import x from "file:///etc/passwd" with { type: "bytes" };\nconsole.log(x);',
    'import "file:///etc/passwd";',
    'export * from "file:///etc/hostname";',
    'import type { X } from "file:///etc/passwd"; export * from "file:///etc/passwd";',
    'import x from "<OUTSIDE>" with { type: "text" };\nconsole.log(x);',
    'console.log((await import("file:///etc/passwd", { with: { type: "json" } })).default);',
    'console.log((await import("file:///etc/passwd", { with: { type: "text" } })).default);',
    'import x from "./lock" with { type: "text" };\nconsole.log("got", x);',
    'import x from "../../../../etc/passwd" with { type: "text" };\nconsole.log(x);',
    'import x from "https://deno.land/std@0.224.0/version.ts";\nconsole.log(x);',
    'import x from "http://127.0.0.1:<PORT>/x.ts";\nconsole.log(x);',
    'import x from "npm:left-pad@1.3.0";\nconsole.log(x);',
    'import x from "jsr:@std/path@1.0.0";\nconsole.log(x);',
    'import fs from "fs";\nconsole.log(fs.readFileSync("/etc/passwd", "utf8"));',
    'import x from "data:application/json,%7B%7D" with { type: "json" };\n'
    'import y from "data:text/javascript,import%20x%20from%20%22file:///etc/passwd%22%20with%20%7Btype:%22text%22%7D;export%20default%20x";\n'
    "console.log(y);",
    "/** @jsxImportSource file:///etc */\nconsole.log(Deno.readTextFileSync('/etc/passwd'));",
]


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Outside]:
    found = Outside(tmp_path)
    yield found
    found.close()


@pytest.mark.parametrize("wall", WALLS)
@pytest.mark.parametrize("script", _STATIC)
def test_imports_that_are_made_before_a_script_runs_get_nothing(
    script: str, wall: SecondWall, outside: Outside
) -> None:
    """Its own imports are read when it is loaded, and that is after all rights are gone."""
    port = outside.server.getsockname()[1]
    scripted = box(script.replace("<OUTSIDE>", str(outside.file)).replace("<PORT>", str(port)), wall)
    assert scripted.ended.status == 1, scripted.ended
    assert scripted.ended.stdout == b""
    assert _MARK.encode() not in scripted.ended.stderr
    assert b"root:" not in scripted.ended.stderr
    assert not outside.was_reached()


@pytest.mark.parametrize("wall", WALLS)
def test_no_datagram_leaves_it(wall: SecondWall, outside: Outside) -> None:
    """The refusal comes as an event that nobody can catch: the script ends."""
    port = outside.server.getsockname()[1]
    script = (
        "import dgram from 'node:dgram';\n"
        f"dgram.createSocket('udp4').send('x', {port}, '127.0.0.1', () => console.log('sent'));"
    )
    assert box(script, wall).ended.stdout == b""
    assert not outside.was_reached()


@pytest.mark.parametrize("wall", WALLS)
@pytest.mark.parametrize(
    "comment",
    ["//# sourceMappingURL=file:///etc/passwd", "/// <reference path='file:///etc/passwd' />",
     "// @deno-types='file:///etc/passwd'", "#!/usr/bin/env -S deno run -A"],
)  # fmt: skip
def test_comments_that_name_files_read_none(comment: str, wall: SecondWall) -> None:
    """Neither when it is loaded, nor when an error looks for its source."""
    scripted = box(f"{comment}\nthrow new Error('shown');", wall)
    assert b"shown" in scripted.ended.stderr
    assert b"root:" not in scripted.ended.stderr


_WORKER = """
const code = <CODE>;
const url = <URL>;
const worker = new Worker(url, { type: "module"<MORE> });
const got = await new Promise((ok) => {
  worker.onmessage = (event) => ok("got " + event.data);
  worker.onerror = (event) => { event.preventDefault(); ok("refused"); };
});
console.log(got);
Deno.exit(0);
"""
_IN_WORKER = [
    "postMessage(Deno.readTextFileSync('/etc/passwd'))",
    "import x from 'file:///etc/passwd' with { type: 'text' }; postMessage(x)",
    "import x from 'file:///etc/passwd' with { type: 'json' }; postMessage(x)",
    "import('file:///etc/passwd', { with: { type: 'json' } }).then((x) => postMessage(x.default))",
    "const net = await Deno.connect({ transport: 'unix', path: '/run/x' }); postMessage('connected')",
    "postMessage(JSON.stringify(Deno.env.toObject()))",
    "postMessage(String((await new Deno.Command('/bin/true').output()).code))",
    "await (await caches.open('x')).put('http://a/', new Response('x')); postMessage('stored')",
]
_URLS = {
    "data": '"data:application/javascript," + encodeURIComponent(code)',
    "blob": 'URL.createObjectURL(new Blob([code], { type: "application/javascript" }))',
}


@pytest.mark.parametrize("wall", WALLS)
@pytest.mark.parametrize("url", list(_URLS))
@pytest.mark.parametrize("code", _IN_WORKER)
def test_a_worker_has_no_more_rights_than_its_script(code: str, url: str, wall: SecondWall) -> None:
    """Tried with memory for a worker, which scripts do not have otherwise."""
    script = _WORKER.replace("<CODE>", json.dumps(code)).replace("<URL>", _URLS[url]).replace("<MORE>", "")
    assert printed(box(script, wall, memory_bytes=4 * 1024**3)) == "refused\n"


@pytest.mark.parametrize("wall", WALLS)
@pytest.mark.parametrize("permissions", ["'inherit'", "{ read: true, net: true }", "{ read: ['/etc'] }"])
def test_a_worker_cannot_be_given_rights(permissions: str, wall: SecondWall) -> None:
    """Nobody can give what he does not have."""
    script = (
        _WORKER.replace("<CODE>", json.dumps(_IN_WORKER[0]))
        .replace("<URL>", _URLS["data"])
        .replace("<MORE>", f", deno: {{ permissions: {permissions} }}")
    )
    ended = box(script, wall, memory_bytes=4 * 1024**3).ended
    assert b"got" not in ended.stdout
    assert b"root:" not in ended.stdout + ended.stderr


@pytest.mark.parametrize("wall", WALLS)
@pytest.mark.parametrize(
    "url", ['"file:///etc/passwd"', '"https://example.com/x.js"', "new URL('./entry.js', import.meta.url)"]
)
def test_a_worker_is_not_loaded_from_elsewhere(url: str, wall: SecondWall) -> None:
    """Neither from files nor from servers."""
    script = _WORKER.replace("<CODE>", '""').replace("<URL>", url).replace("<MORE>", "")
    assert printed(box(script, wall, memory_bytes=4 * 1024**3)) == "refused\n"


@pytest.mark.parametrize("wall", WALLS)
def test_a_worker_of_node_has_no_more_rights_either(wall: SecondWall) -> None:
    """Nor when it is given code as a text, an environment, or standard input."""
    script = """
import { Worker } from "node:worker_threads";
const worker = new Worker("require('fs').readFileSync('/etc/passwd'); process.exit(7)", {
  eval: true, env: {}, stdin: true,
});
worker.on("error", () => { console.log("refused"); process.exit(0); });
worker.on("exit", (code) => { console.log("ended", code); process.exit(0); });
"""
    assert printed(box(script, wall, memory_bytes=4 * 1024**3)) in ("refused\n", "ended 1\n")
