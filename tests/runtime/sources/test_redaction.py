"""Secrets are taken out of texts and structures, and nothing else is."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from aop_runtime.sources.redaction import HIDDEN, Secrets
from aop_runtime.sources.words import one_line

SECRETS = st.text(st.characters(exclude_categories=["Cs"]), min_size=4, max_size=40).filter(
    lambda text: len(text.strip()) >= 4 and text.strip() == text and text not in HIDDEN * 9
)


@given(st.text(max_size=60), SECRETS, st.text(max_size=60))
def test_no_secret_passes(before: str, secret: str, after: str) -> None:
    """As it is, and as JSON writes it."""
    secrets = Secrets([secret])
    assert secret not in secrets.hide(before + secret + after).replace(HIDDEN, "")
    written = json.dumps({"x": before + secret})
    assert json.dumps(secret)[1:-1] not in secrets.hide(written).replace(HIDDEN, "")
    assert secret not in str(secrets.hide_json({"a": [secret, {secret: secret}]})).replace(HIDDEN, "")


def test_parts_are_secrets_too() -> None:
    """The token of a header, the password of an address, plain and percent-encoded."""
    secrets = Secrets(["Bearer abcd1234", "postgres://user:p%40ssw0rd@db.example/x"])
    for said in ("abcd1234", "Bearer abcd1234", "p%40ssw0rd", "p@ssw0rd", "p%2540ssw0rd"):
        assert HIDDEN in secrets.hide(f"no: {said}"), said
    assert secrets.hide("user") == "user"


def test_short_values_and_no_values_hide_nothing() -> None:
    """`1` in an environment is no reason to ruin a table of numbers."""
    for secrets in (Secrets(), Secrets(["", "1", "abc"])):
        assert secrets.hide("1 abc") == "1 abc"
        assert secrets.hide_json({"a": 1}) == {"a": 1}


@given(st.text(max_size=500), st.integers(min_value=2, max_value=50))
def test_one_line_is_one_line(text: str, most: int) -> None:
    """Whatever it is made of: bounded, without what moves a terminal's cursor."""
    shown = one_line(text, most)
    assert len(shown) <= most
    assert not any(char in shown for char in "\r\n\t\x1b\x9b\u202e")


def test_values_that_are_no_utf_8() -> None:
    """Variables of the environment may hold any bytes, and a file half a character."""
    assert Secrets(["\udcff\udcfeabcd"]).hide("x \udcff\udcfeabcd y %FF%FEabcd") == f"x {HIDDEN} y {HIDDEN}"
    assert Secrets(["\ud800abcd"]).hide("x \ud800abcd") == f"x {HIDDEN}"
