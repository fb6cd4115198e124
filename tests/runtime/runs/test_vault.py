"""What is sealed in a record comes back to the letter, and shows nothing to whoever only reads it."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from aop_runtime.declarations import Json
from aop_runtime.runs.vault import HIDDEN, Vault, hidden

SECRET = "s3cr3t-value"  # noqa: S105 - of a test
FORMS = st.lists(st.text(min_size=4, max_size=12), max_size=4)
JSON: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.integers() | st.text(max_size=20), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
)


def with_secrets(draw: st.DataObject, forms: list[str]) -> str:
    return "".join(draw.draw(st.lists(st.sampled_from([*forms, "a", "‹secret:", "‹secret:0123456789abcdef›", "›"]))))


@given(FORMS, JSON, st.data())
def test_what_was_sealed_is_opened_to_the_letter(forms: list[str], value: Json, data: st.DataObject) -> None:
    """Whatever else is in it, a text that looks like a seal included."""
    vault = Vault(forms, "run", cost=2)
    text = with_secrets(data, forms)
    event: dict[str, Json] = {"event": "x", "message": [value, {"text": text}], "envelope": {"content": text}}
    sealed = json.loads(json.dumps(vault.sealed(event)))
    assert Vault(forms, "run", cost=2).opened(sealed) == (event, True)


@given(FORMS.filter(bool), st.data())
def test_no_secret_is_in_what_is_sealed(forms: list[str], data: st.DataObject) -> None:
    """In values and in names of fields; what is shown has nothing of the seal either."""
    forms = [f"{form}#{number}" for number, form in enumerate(forms)]
    text = with_secrets(data, forms)
    sealed = Vault(forms, "run", cost=2).sealed({"arguments": {text: [text]}})
    assert not any(form in name for name in sealed["arguments"] for form in forms)  # type: ignore[union-attr,operator]
    assert "‹secret:" not in json.dumps(hidden(sealed), ensure_ascii=False)


def test_what_the_environment_does_not_hold_stays_hidden() -> None:
    """And that it is not whole is said."""
    sealed = Vault([SECRET], "run").sealed({"message": f"a {SECRET} b"})
    assert Vault(["other"], "run").opened(sealed) == ({"message": f"a {HIDDEN} b"}, False)
    assert Vault([SECRET], "another run").opened(sealed) == ({"message": f"a {HIDDEN} b"}, False)


def test_vaults_are_joined() -> None:
    """What either of them knows is sealed by the first one's seals."""
    both = Vault([SECRET], "run", cost=2).joined(Vault(["another-one"], "child", cost=2))
    sealed = both.sealed({"message": f"{SECRET} another-one"})
    assert Vault([SECRET, "another-one"], "run", cost=2).opened(sealed) == ({"message": f"{SECRET} another-one"}, True)


def test_a_seal_that_was_copied_opens_nothing() -> None:
    """A model that has read a record cannot have its secrets filled in."""
    vault = Vault([SECRET], "run")
    copied = vault.sealed({"message": SECRET})
    again, whole = vault.opened(vault.sealed(copied))
    assert (again, whole) == (copied, True)


def test_identifiers_are_let_be() -> None:
    """A secret that is an ordinary word must not make a record unreadable."""
    vault = Vault(["call-finished", "denied", "crm.send", "text"], "run")
    event: dict[str, Json] = {"event": "call-finished", "call": "crm.send", "envelope": {"error": {"code": "denied"}}}
    assert vault.sealed(event) is event
    assert vault.sealed({"verdict": "text"}) == {"verdict": "text"}


def test_events_without_a_secret_are_the_same_objects() -> None:
    """So that they cost nothing more."""
    event: dict[str, Json] = {"event": "noted", "text": "a", "arguments": {"a": ["b", {"c": None}]}}
    assert Vault([SECRET], "run").sealed(event) is event
    assert hidden(event) is event
    assert "s3cr3t" not in repr(Vault([SECRET]))
