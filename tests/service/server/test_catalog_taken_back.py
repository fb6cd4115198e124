"""Given a document that was compiled with two catalogs, when the first one is current again, then a plan runs it."""

from __future__ import annotations

from pathlib import Path

from catalog.own import ORGANISATION
from server.saving import compile_again
from workers.catalogs import Sources

from .running import Running, text

SLACK = "# {name}\n\n## フェーズ 1: 知らせる\n\n(使う道具: slack)\n\n知らせる。\n"
WITHOUT_SLACK = "version: 1\nremove: [slack]\n"


def test_a_change_of_the_catalog_that_is_taken_back(running: Running, document: str, tmp_path: Path) -> None:
    """The older record answers the compile, but what came of the newer one stands until then. A plan changes nothing:
    asked twice it says the same."""
    client = running.as_token()
    scope = {"scope": {"ids": [document]}}
    client.put(f"/v1/documents/{document}", content=text(body=SLACK))
    running.compile_all()
    assert client.post("/v1/recompiles", json=scope).json()["run"] == 0

    (tmp_path / ORGANISATION).write_text(WITHOUT_SLACK)
    try:
        running.publish(Sources(tmp_path))
        assert client.post("/v1/recompiles", json=scope).json()["reasons"] == {"tool-removed": 1}
        compile_again(running.service.backend, running.service, document, "")
        running.compile_all()
        assert client.get(f"/v1/documents/{document}").json()["state"] == "failed"
    finally:
        running.publish(Sources(None))

    for _ in range(2):
        plan = client.post("/v1/recompiles", json=scope).json()
        assert (plan["run"], plan["reasons"]["tool-added"]) == (1, 1)
    compile_again(running.service.backend, running.service, document, "")
    running.compile_all()
    assert client.get(f"/v1/documents/{document}").json()["state"] == "succeeded"
    assert client.post("/v1/recompiles", json=scope).json()["run"] == 0
