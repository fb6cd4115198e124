"""What the comparison of sent and kept objects finds, and what it lets pass. Needs no server."""

from __future__ import annotations

from typing import Final

import pytest

from tests.chart.apiserver.comparing import differences, replaced, state
from tests.chart.rendering import Object

SENT: Final[Object] = {
    "kind": "Service",
    "metadata": {"name": "a", "labels": {"app": "a"}},
    "spec": {
        "type": "NodePort",
        "ports": [{"name": "http", "port": 80}, {"name": "metrics", "port": 9100}],
        "sources": ["10.0.0.0/8"],
    },
}
KEPT: Final[Object] = {
    "kind": "Service",
    "metadata": {"name": "a", "labels": {"app": "a"}, "uid": "1", "resourceVersion": "7"},
    "spec": {
        "type": "NodePort",
        "clusterIP": "10.0.0.4",
        "clusterIPs": ["10.0.0.4"],
        "ports": [
            {"name": "metrics", "port": 9100, "protocol": "TCP", "nodePort": 30001},
            {"name": "http", "port": 80, "protocol": "TCP", "nodePort": 30002},
        ],
        "sources": ["10.0.0.0/8"],
    },
    "status": {},
}


def _with(found: Object, **spec: object) -> Object:
    return {**found, "spec": {**found["spec"], **spec}}


def test_what_a_server_adds_is_no_difference() -> None:
    """Defaults, addresses, versions, and another order of named items."""
    assert differences(SENT, KEPT) == []


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"type": "ClusterIP"}, "Service/a/spec/type: 'NodePort' instead of 'ClusterIP'"),
        ({"affinity": "None"}, "Service/a/spec/affinity is missing"),
        ({"ports": [{"name": "http", "port": 80}]}, "Service/a/spec/ports: "),
        ({"sources": []}, "Service/a/spec/sources: "),
        ({"sources": ["10.0.0.0/9"]}, "Service/a/spec/sources/0: "),
        ({"ports": [{"name": "http", "port": 81}, {"name": "metrics", "port": 9100}]}, "Service/a/spec/ports/0/port: "),
    ],
)
def test_what_is_not_as_it_was_sent_is_a_difference(wanted: Object, said: str) -> None:
    """Another value, a field that is not there, an item too many or too few: each is said, with its place."""
    (found,) = differences(_with(SENT, **wanted), KEPT)
    assert found.startswith(said)


def test_a_state_is_what_was_decided() -> None:
    """Two writings of the same are one state, and other addresses; another field is another, and so is no address."""
    assert state({**KEPT, "metadata": {**KEPT["metadata"], "resourceVersion": "8"}}) == state(KEPT)
    assert state(_with(KEPT, clusterIP="10.0.0.5", clusterIPs=["10.0.0.5"])) == state(KEPT)
    assert state(_with(KEPT, type="ClusterIP")) != state(KEPT)
    assert state(_with(KEPT, clusterIP="None", clusterIPs=["None"])) != state(KEPT)
    assert state({**KEPT, "metadata": {**KEPT["metadata"], "labels": {}}}) != state(KEPT)


def test_replaced_is_gone_or_made_anew() -> None:
    """By the identifier that a server gives an object once."""
    anew = {**KEPT, "metadata": {**KEPT["metadata"], "uid": "2"}}
    assert replaced({"Service/a": KEPT}, {"Service/a": _with(KEPT, type="ClusterIP")}) == []
    assert replaced({"Service/a": KEPT}, {"Service/a": anew}) == ["Service/a"]
    assert replaced({"Service/a": KEPT}, {}) == ["Service/a"]
