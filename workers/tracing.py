"""Spans for OpenTelemetry, from the HTTP entrance through all stages of a job: with the extra `tracing`, and where
`AOP_OTLP_ENDPOINT` says where to. Without it nothing is imported, and nothing costs anything.

What is handed from process to process is a W3C traceparent: it stands in the save and in the job. A
process that is not traced hands on the one that it was given.
"""

from __future__ import annotations

import hashlib
import os
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias
from urllib.parse import urlsplit

from pipeline.diagnostics.lang import Lang
from workers.settings import Settings

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Span as OtelSpan
    from opentelemetry.trace import Tracer

Kind: TypeAlias = Literal["server", "consumer"]
Value: TypeAlias = str | int | bool

EXPORT_TIMEOUT_S: Final = 3
"""Of one request to the collector, which also bounds how long a process that ends waits for it."""
_DELAY_MS: Final = 1_000
_PATH: Final = "/v1/traces"
TRACEPARENT: Final = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})")


class TracingUnavailable(Exception):
    """`AOP_OTLP_ENDPOINT` is set, and the packages for it are missing or of another version."""

    def __init__(self, cause: str) -> None:
        self.cause = cause
        super().__init__(self.text("en"))

    def text(self, lang: Lang) -> str:
        if lang == "ja":
            return (
                f"AOP_OTLP_ENDPOINT には extra の tracing が要ります（{self.cause}）。"
                "pip install 'aop[service,tracing]' で入れるか、AOP_OTLP_ENDPOINT を外してください。"
            )
        return (
            f"AOP_OTLP_ENDPOINT needs the extra tracing ({self.cause}): "
            "pip install 'aop[service,tracing]', or leave AOP_OTLP_ENDPOINT out"
        )


@dataclass(slots=True)
class _State:
    """Of this process."""

    tracer: Tracer | None = None
    provider: TracerProvider | None = None


_state: Final = _State()


class Span:
    """What is being done. `traceparent`: to be handed on to what follows from it; "" where nobody traces."""

    def __init__(self, traceparent: str, span: OtelSpan | None = None) -> None:
        self.traceparent = traceparent
        self._span = span

    def set(self, name: str, value: Value) -> None:
        if self._span is not None:
            self._span.set_attribute(name, value)

    def fail(self, cause: str) -> None:
        if self._span is not None:
            from opentelemetry.trace import Status, StatusCode  # noqa: PLC0415 - see `begin`

            self._span.set_status(Status(StatusCode.ERROR, cause))


def check(settings: Settings) -> None:
    """That `begin` will do, in a process whose children are to call it. Raises TracingUnavailable."""
    if settings.otlp_endpoint is not None:
        _exporter_of(settings.otlp_endpoint)


def begin(settings: Settings, process: str) -> None:
    """In each process by itself, after it was forked: a thread sends the spans. Raises TracingUnavailable."""
    if settings.otlp_endpoint is None or _state.tracer is not None:
        return
    exporter = _exporter_of(settings.otlp_endpoint)
    # An extra: imported where it is used only.
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415 - see above
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415 - see above
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415 - see above

    resource = Resource.create(
        {
            "service.namespace": "aop",
            "service.name": f"aop-{process}",
            "service.instance.id": f"{socket.gethostname()}:{os.getpid()}",
        }
    )
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(exporter, schedule_delay_millis=_DELAY_MS))
    _state.provider = provider
    _state.tracer = provider.get_tracer("aop")


def end() -> None:
    """Send what has not been sent, as long as the collector may take; nothing is traced any more."""
    provider, _state.provider, _state.tracer = _state.provider, None, None
    if provider is not None:
        provider.shutdown()


@contextmanager
def span(name: str, parent: str, kind: Kind, **attributes: Value) -> Iterator[Span]:
    """`parent`: a traceparent, "" or what is none: a trace of its own. Attributes: `job_id` becomes `aop.job_id`."""
    tracer = _state.tracer
    if tracer is None:
        yield Span(parent)
        return
    from opentelemetry.trace import SpanKind  # noqa: PLC0415 - see `begin`

    with tracer.start_as_current_span(
        name,
        context=_context_of(parent),
        kind=SpanKind.SERVER if kind == "server" else SpanKind.CONSUMER,
        attributes={f"aop.{key}": value for key, value in attributes.items()},
        record_exception=False,  # its text may hold what the user wrote; the logs have it, masked
        set_status_on_exception=False,
    ) as found:
        context = found.get_span_context()
        traceparent = f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"
        try:
            yield Span(traceparent, found)
        except BaseException as error:
            Span(traceparent, found).fail(type(error).__name__)
            raise


def trace_of_job(job: str, given: str) -> str:
    """What the stages of a job belong to: what its save came with, or else a trace that follows from the job's id, so
    that every process comes to the same."""
    if given or _state.tracer is None:
        return given
    digest = hashlib.sha256(job.encode()).hexdigest()
    return f"00-{digest[:32]}-{digest[32:48]}-01"


def _context_of(parent: str) -> Context:
    from opentelemetry.context import Context  # noqa: PLC0415 - see `begin`
    from opentelemetry.trace import (  # noqa: PLC0415 - see above
        NonRecordingSpan,
        SpanContext,
        TraceFlags,
        set_span_in_context,
    )

    empty = Context()
    found = TRACEPARENT.fullmatch(parent)
    if found is None:
        return empty
    trace, above, flags = (int(part, 16) for part in found.groups())
    context = SpanContext(trace, above, is_remote=True, trace_flags=TraceFlags(flags))
    return set_span_in_context(NonRecordingSpan(context), empty) if context.is_valid else empty


def _exporter_of(endpoint: str) -> SpanExporter:
    """Raises TracingUnavailable."""
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415 - see above
    except ImportError as error:
        raise TracingUnavailable(str(error)) from error
    # A collector's address alone means its usual path, as in the specification of OTLP.
    complete = urlsplit(endpoint).path.strip("/") != ""
    url = endpoint if complete else f"{endpoint.rstrip('/')}{_PATH}"
    return OTLPSpanExporter(endpoint=url, timeout=EXPORT_TIMEOUT_S)
