"""What was sent to a server beside what it keeps.

The order of named items (variables, ports, volumes) is not compared: server-side apply finds them by their names, and
leaves those that were there where they were.
"""

from __future__ import annotations

from typing import TypeVar

from tests.chart.rendering import Object

Value = TypeVar("Value")


def _sorted(value: Value) -> Value:
    """Named items by their names, at any depth."""
    if isinstance(value, dict):
        return type(value)((key, _sorted(each)) for key, each in value.items())
    if isinstance(value, list):
        items = [_sorted(each) for each in value]
        if all(isinstance(each, dict) and "name" in each for each in items):
            items.sort(key=lambda each: (each["name"], each.get("mountPath", "")))
        return type(value)(items)
    return value


def differences(wanted: Object, found: Object) -> list[str]:
    """Where `found`, which the server completed, does not have what was `wanted`, or a list has more items."""
    return _differences(_sorted(wanted), _sorted(found), f"{wanted['kind']}/{wanted['metadata']['name']}")


def _differences(wanted: object, found: object, at: str) -> list[str]:
    if isinstance(wanted, dict) and isinstance(found, dict):
        said = [f"{at}/{key} is missing" for key in wanted.keys() - found.keys()]
        for key in wanted.keys() & found.keys():
            said += _differences(wanted[key], found[key], f"{at}/{key}")
        return said
    if isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        pairs = enumerate(zip(wanted, found, strict=True))
        return [said for index, (one, other) in pairs for said in _differences(one, other, f"{at}/{index}")]
    return [] if wanted == found else [f"{at}: {found!r} instead of {wanted!r}"]


def replaced(before: dict[str, Object], after: dict[str, Object]) -> list[str]:
    """Identities of objects that were deleted, or deleted and made anew."""
    return [
        name
        for name, found in before.items()
        if name not in after or after[name]["metadata"]["uid"] != found["metadata"]["uid"]
    ]


def state(found: Object) -> Object:
    """What somebody decided: the object without what tells when, by whom and how often it was written, and without the
    addresses and ports that a server gives a Service."""
    decided = {key: value for key, value in found["metadata"].items() if key in ("name", "labels", "annotations")}
    kept = {**{key: value for key, value in found.items() if key != "status"}, "metadata": decided}
    if found["kind"] == "Service":
        spec = {key: value for key, value in found["spec"].items() if key not in ("clusterIP", "clusterIPs")}
        ports = [{key: value for key, value in port.items() if key != "nodePort"} for port in spec["ports"]]
        kept["spec"] = {**spec, "ports": ports, "headless": found["spec"]["clusterIP"] == "None"}
    return _sorted(kept)
