"""Given an installation whose store is a bucket, when documents are saved, then nothing is different."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

from tests.stores.backends import BUCKET, s3_server
from workers.intake import Intake
from workers.ledger.records import STAGES, Accepted
from workers.records import S3Reference

from .documents import FAILING, MULTI, compiled
from .installation import Installation
from .test_flow import same


def of_a_bucket(install: Callable[..., Installation], **environment: str) -> Installation:
    server = s3_server()
    return install(
        AOP_STORE=f"s3://{BUCKET}/{uuid4().hex}",
        AOP_S3_ENDPOINT=server.endpoint,
        AOP_S3_REGION="us-east-1",
        AOP_S3_ACCESS_KEY=server.access_key,
        AOP_S3_SECRET_KEY=server.secret_key,
        AOP_S3_PATH_STYLE="true",
        AOP_S3_BUCKETS=BUCKET,
        **environment,
    ).start()


def test_a_document_of_a_bucket(install: Callable[..., Installation], tmp_path: Path) -> None:
    """Published as the command line compiles it, edited, failing, superseded, retired; a worker is killed meanwhile."""
    bucket = of_a_bucket(install)
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


def test_a_save_that_only_refers_to_its_text(install: Callable[..., Installation]) -> None:
    """The parse worker fetches it; what is not there, or not allowed, is ours to look at, with the cause."""
    bucket = of_a_bucket(install, AOP_MOST_ATTEMPTS="1")
    intake = Intake(bucket.context.ledger, bucket.archive)
    client = s3_server().client()
    key = f"inbox/{uuid4().hex}.md"
    client.put_object(Bucket=BUCKET, Key=key, Body=MULTI.encode())

    def refer(document: str, where: str, at: str) -> Accepted:
        return intake.accept(document, data=None, reference=S3Reference(bucket=where, key=at), source="s3")

    outcome = bucket.outcome(refer("there.md", BUCKET, key))
    assert (outcome.status, outcome.name) == ("succeeded", "月次の締め")
    assert bucket.archive.text(outcome.text) == MULTI.encode()
    missing, forbidden = refer("missing.md", BUCKET, f"{key}.gone"), refer("forbidden.md", "other", key)
    outcome = bucket.outcome(missing)
    assert (outcome.status, "does not exist" in outcome.cause) == ("dead", True)
    outcome = bucket.outcome(forbidden)
    assert (outcome.status, "AOP_S3_BUCKETS" in outcome.cause) == ("dead", True)
