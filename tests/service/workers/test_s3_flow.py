"""Given an installation whose store is a bucket, when documents are saved, then nothing is different."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.stores.backends import BUCKET, s3_server
from workers.ledger.records import STAGES

from .documents import FAILING, MULTI, compiled
from .installation import Installation
from .test_flow import same


@pytest.fixture
def bucket(install: Callable[..., Installation]) -> Iterator[Installation]:
    server = s3_server()
    yield install(
        AOP_STORE=f"s3://{BUCKET}/{uuid4().hex}",
        AOP_S3_ENDPOINT=server.endpoint,
        AOP_S3_REGION="us-east-1",
        AOP_S3_ACCESS_KEY=server.access_key,
        AOP_S3_SECRET_KEY=server.secret_key,
        AOP_S3_PATH_STYLE="true",
    ).start()


def test_a_document_of_a_bucket(bucket: Installation, tmp_path: Path) -> None:
    """Published as the command line compiles it, edited, failing, superseded, retired; a worker is killed meanwhile."""
    name = "経理/月次の締め.md"
    for text in (MULTI, MULTI.replace("請求書を", "領収書を"), FAILING, MULTI):
        outcome = bucket.outcome(bucket.save(name, text))
        output = bucket.archive.output(outcome.output)
        assert output is not None
        same(output, compiled(tmp_path, {name: text}, tmp_path / "cache")[name])
    assert bucket.published(name).order == (4, 0)

    many = {f"many/{number}.md": MULTI.replace("請求書", f"請求書 {number}") for number in range(12)}
    accepted = {document: bucket.save(document, text) for document, text in many.items()}
    for stage in STAGES[:2]:
        bucket.kill_one(stage)
        bucket.start_one(stage)
    expected = compiled(tmp_path, many)
    for document, save in accepted.items():
        assert bucket.outcome(save).status == "succeeded"
        same(bucket.output(document), expected[document])

    with bucket.frozen("generate"):
        older = bucket.save(name, MULTI + "\n古い。\n")
        bucket.until_at(older.job, "generate")
        newer = bucket.save(name, MULTI + "\n新しい。\n")
        bucket.until(lambda: bucket.job(older.job).superseded == newer.sequence)
    assert bucket.outcome(older).status == "superseded"
    assert bucket.outcome(newer).status == "succeeded"
    assert bucket.outcome(bucket.retire(name)).status == "retired"
    bucket.until(lambda: set(bucket.context.ledger.depths().values()) == {0})
