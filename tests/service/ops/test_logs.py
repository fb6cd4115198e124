"""Given whatever is logged, when it becomes a line, then it says what it is about, and holds no secret."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from workers.logs import MASK, Masking, secrets_of
from workers.settings import Settings

SECRET = "".join(("kirschen-'", '"\\-', "ピクルス-%41"))
TOKEN = f"aop_{'0' * 16}_{'x' * 43}"
SETTINGS = Settings(
    redis_url=SecretStr("redis://user:p%40ssw0rd@redis.example/0?password=question-mark"),
    sentinel_password=SecretStr("guard-of-the-gate"),
    webhook_secrets=(SecretStr("whsec_" + "a" * 20), SecretStr("plain-webhook-secret")),
    github_token=SecretStr(SECRET),
    s3_access_key=SecretStr("AKIAEXAMPLE"),
    s3_secret_key=SecretStr("s3/secret+key="),
)
ALL = (
    SECRET,
    TOKEN,
    "p@ssw0rd",
    "p%40ssw0rd",
    "question-mark",
    "guard-of-the-gate",
    "whsec_" + "a" * 20,
    "plain-webhook-secret",
    "AKIAEXAMPLE",
    "s3/secret+key=",
    "s3%2Fsecret%2Bkey%3D",
)

_SCRIPT = """
import os, sys, logging, threading, warnings, json
from workers.logs import bound, configure, get_logger
from workers.settings import load
settings = load()
configure(settings, "worker-parse")
log = get_logger("a.module")
SECRET = settings.github_token.get_secret_value()
"""


def lines_of(code: str, **environment: str) -> list[dict[str, Any]]:
    """What a process with these settings writes to standard error; each line must be JSON."""
    return [json.loads(line) for line in output_of(code, **environment).splitlines()]


def output_of(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT + code],
        env={"PATH": "", "AOP_GITHUB_TOKEN": SECRET, "PYTHONPATH": str(Path.cwd()), **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == ""
    return done.stderr


def text_of(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) + str(value)


# ------------------------------------------------------------------------------------------------ what a line holds


def test_a_line_says_when_where_and_what_it_is_about() -> None:
    """`job` and `document` are on every line inside `bound`, also on those of libraries, and on none outside."""
    lines = lines_of("""
with bound(job="J", stage="parse"):
    log.info("begun", attempt=1)
    with bound(document="月次/a.md"):
        logging.getLogger("some.library").warning("%s of %d", "one", 2)
log.info("after")
""")
    first, second, last = lines
    assert {key: first[key] for key in ("event", "level", "logger", "process", "job", "stage", "attempt")} == {
        "event": "begun",
        "level": "info",
        "logger": "a.module",
        "process": "worker-parse",
        "job": "J",
        "stage": "parse",
        "attempt": 1,
    }
    assert first["timestamp"].endswith("Z")
    assert (second["event"], second["job"], second["document"]) == ("one of 2", "J", "月次/a.md")
    assert second["logger"] == "some.library"
    assert second["process"] == "worker-parse"
    assert not {"job", "document", "stage"} & last.keys()


def test_the_level_of_the_settings_counts() -> None:
    """For our own lines and those of libraries; the talkative ones begin at `warning`."""
    code = """
log.debug("d"); log.info("i"); log.warning("w")
logging.getLogger("lib").info("lib-i")
logging.getLogger("botocore.endpoint").info("talk"); logging.getLogger("botocore.endpoint").warning("warn")
"""
    assert [line["event"] for line in lines_of(code)] == ["i", "w", "lib-i", "warn"]
    assert [line["event"] for line in lines_of(code, AOP_LOG_LEVEL="warning")] == ["w", "warn"]
    assert [line["event"] for line in lines_of(code, AOP_LOG_LEVEL="debug")] == ["d", "i", "w", "lib-i", "warn"]


def test_a_line_stays_one_line() -> None:
    """Whoever writes a document cannot write a log line of their own."""
    (line,) = lines_of("""log.info("saved", name='a\\n{"event": "forged"}\\r\\n')""")
    assert line["name"] == 'a\n{"event": "forged"}\r\n'


# ------------------------------------------------------------------------------------------------------- secrets


def test_no_secret_is_in_a_line_however_nested() -> None:
    """In texts, keys, objects, bytes, and what is nested too deep to be walked through."""
    lines = lines_of("""
class Thing:
    def __repr__(self): return f"Thing({SECRET!r})"
deep = SECRET
for _ in range(20): deep = [deep]
log.info(f"with {SECRET}", a=SECRET, b={"k": [{"k": (SECRET,)}], SECRET: 1}, c=Thing(), d={SECRET}, e=deep,
         f=settings, g=SECRET.encode(), h=json.dumps(SECRET))
log.warning("%s and %r", SECRET, SECRET)
""")
    assert len(lines) == 2
    assert all(SECRET not in text_of(line) and "ピクルス" not in text_of(line) for line in lines)
    assert lines[0]["event"] == f"with {MASK}"
    assert lines[0]["b"] == {"k": [{"k": [MASK]}], MASK: 1}


def test_no_secret_is_in_the_lines_of_libraries() -> None:
    """Neither in their message nor in its arguments, nor in a warning of Python's."""
    lines = lines_of("""
logging.getLogger("lib").error("connecting to %s", "redis://user:geheim@host/0")
logging.getLogger("lib").error("header %r", {"Authorization": "Bearer abcdef"})
logging.getLogger("lib").error("headers: x-api-token: abcdef")
logging.getLogger("lib").error(SECRET)
warnings.warn(f"do not use {SECRET}")
""")
    assert len(lines) == 5
    for line in lines:
        assert not [secret for secret in ("geheim", "abcdef", "ピクルス") if secret in text_of(line)], line
    assert lines[0]["event"] == f"connecting to redis://{MASK}@host/0"


def test_no_secret_is_in_a_traceback() -> None:
    """Of what is logged, of what nobody caught, and of what a thread dies of; each is one line."""
    code = """
try:
    raise ValueError(f"no {SECRET}") from KeyError(SECRET)
except ValueError:
    log.exception("failed", job="J")
    logging.getLogger("lib").exception("lib failed")
thread = threading.Thread(target=lambda: 1 / len([x for x in () if SECRET]), name="t"); thread.start(); thread.join()
raise RuntimeError(SECRET)
"""
    lines = lines_of(code)
    assert [line["event"] for line in lines] == [
        "failed",
        "lib failed",
        "uncaught: this is a bug of aop",
        "uncaught: this is a bug of aop",
    ]
    assert lines[0]["job"] == "J"
    assert "ValueError" in lines[0]["exception"]
    assert "ZeroDivisionError" in lines[2]["exception"]
    assert f"RuntimeError: {MASK}" in lines[3]["exception"]
    assert "ピクルス" not in text_of(lines)
    assert "ピクルス" not in output_of(code, AOP_LOG_FORMAT="console")


def test_the_console_form_masks_too() -> None:
    """It is what a developer copies into a report."""
    out = output_of(
        "log.info('saved', a={'k': SECRET}, job='J'); logging.getLogger('lib').info(SECRET)", AOP_LOG_FORMAT="console"
    )
    assert "ピクルス" not in out
    assert "job=J" in out


def test_every_secret_of_the_settings_is_known() -> None:
    """Also the password within a URL, as it is and as it stands there."""
    masking = Masking(secrets_of(SETTINGS))
    for secret in ALL:
        assert masking.text(f"before {secret} after") == f"before {MASK} after"
        assert secret not in masking.text(repr({"key": [secret]}))
        assert json.dumps(secret)[1:-1] not in masking.text(json.dumps(secret))


def test_what_is_no_secret_stays() -> None:
    """Ids, URLs without credentials, mail addresses, paths."""
    masking = Masking(secrets_of(SETTINGS))
    for text in (
        "https://aop.example/v1/documents/a@b",
        "a@b.example",
        "0193f7a2b3c4d5e6f708192a3b4",
        "the authorization was refused",
        "file:///srv/a@b",
        "https://aop.example?next=c@d",
    ):
        assert masking.text(text) == text


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from(ALL),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=4) | st.sampled_from(ALL), inner, max_size=4)
        | st.tuples(inner, inner)
        | st.builds(lambda before, secret, after: f"{before} {secret} {after}", inner, st.sampled_from(ALL), inner)
        | st.builds(ValueError, inner)
        | st.builds(repr, inner)
        | st.builds(lambda value: [[[[[[value]]]]]], inner)
    ),
    max_leaves=12,
)


@given(values)
def test_no_value_carries_a_secret_through(value: object) -> None:
    """Whatever holds it."""
    line = Masking(secrets_of(SETTINGS))(None, "info", {"event": "x", "value": value})
    shown = text_of(line)
    assert not [secret for secret in ALL if secret in shown]
