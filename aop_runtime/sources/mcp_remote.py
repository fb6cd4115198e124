"""An MCP server during one run: what it listed when it was first asked, and calls that are sent only while it still
offers what was granted."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Final

from mcp_types import INVALID_PARAMS, METHOD_NOT_FOUND, CallToolResult

from aop_runtime.declarations import Json
from aop_runtime.messages import Message
from aop_runtime.plane.envelope import Output, ToolFailure
from aop_runtime.plane.spec import Effect
from aop_runtime.sources import failures
from aop_runtime.sources.first_lists import FirstLists, OperationRecord
from aop_runtime.sources.limits import Limits
from aop_runtime.sources.mcp_connection import Connection, LiveOperation, Nonsense, Refused
from aop_runtime.sources.mcp_link import Unreachable
from aop_runtime.sources.mcp_results import output_of
from aop_runtime.sources.mcp_watchdog import Watchdog
from aop_runtime.sources.misfit import misfit
from aop_runtime.sources.protocol import SourceFault
from aop_runtime.sources.redaction import Secrets
from aop_runtime.sources.schemas import Schema, depth, digest, gone, without_patterns
from aop_runtime.sources.servers import Server
from aop_runtime.sources.words import one_line

_DEEPEST: Final = 58
_LAST_S: Final = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """One operation as it was granted. `input_schema` None: neither catalog nor manifest has one, the first list of the
    run counts. `unknown`: of a server whose operations were unknown, so all of its definition is the first list's."""

    address: str
    operation: str
    effect: Effect
    input_schema: Schema | None
    output_schema: Schema | None
    timeout_s: float
    unknown: bool = False


class Remote:
    """`lists`: whether and what the server listed when the run first asked it, under `server.name`."""

    def __init__(self, server: Server, limits: Limits, watchdog: Watchdog, lists: FirstLists) -> None:
        self.secrets = server.secrets
        self._name = server.name
        self._lists = lists
        self._limits = limits
        self._connection = Connection(server, limits, watchdog)
        self._lock = asyncio.Lock()
        self._listed: dict[str, LiveOperation] = {}
        self._first: dict[str, LiveOperation] | None = None
        self._generation = -1
        self._when = float("-inf")
        self._judged: dict[str, tuple[LiveOperation, str | None]] = {}

    async def first(self, tool: str) -> Mapping[str, LiveOperation]:
        """What the server listed when the run first asked it, in whatever process. Raises SourceFault."""
        try:
            await self._list()
        except (Unreachable, Refused, Nonsense) as error:
            raise SourceFault("server.unusable", tool=tool, why=error.message) from error
        return self._first or {}

    async def aclose(self, last: str | None) -> None:
        """`last`: an operation to be called before, where there is a connection; whether it works changes nothing."""
        if last is not None and self._connection.alive:
            with suppress(Unreachable, Refused, Nonsense):
                await self._connection.call(last, {}, _LAST_S, lambda line: None)
        await self._connection.aclose()

    async def call(self, wanted: Wanted, arguments: Mapping[str, Json], watch: Callable[[str], None]) -> Output:
        """Raises ToolFailure. A lost connection: a read is sent again once, a write only if it was not sent."""
        for last in (False, True):
            await self._verify(wanted, arguments)
            try:
                result = await self._connection.call(wanted.operation, dict(arguments), wanted.timeout_s, watch)
            except Unreachable as error:
                if last or error.late or (error.sent and wanted.effect == "write"):
                    raise failures.lost(wanted.address, str(error), wanted.effect, sent=error.sent) from error
                continue
            except Nonsense as error:
                raise failures.lost(wanted.address, str(error), wanted.effect, sent=True) from error
            except Refused as error:
                raise await self._refused(wanted, arguments, error) from error
            return await self._judged_result(wanted, arguments, result)
        raise AssertionError("the last turn returns or raises")

    # ------------------------------------------------------------------------------------------- before a call

    async def _verify(self, wanted: Wanted, arguments: Mapping[str, Json]) -> None:
        """Raises ToolFailure, with nothing sent, where the server does not offer any more what was granted."""
        try:
            await self._list()
        except (Unreachable, Refused, Nonsense) as error:
            raise failures.lost(wanted.address, str(error), wanted.effect, sent=False) from error
        except SourceFault as fault:
            raise ToolFailure("dependency_failure", str(fault)) from fault
        live = self._listed.get(wanted.operation)
        if live is None:
            raise failures.conflict(wanted.address, "the server does not offer this operation (any more)")
        judged = self._judged.get(wanted.operation)
        if judged is None or judged[0] is not live:
            judged = (live, self._changed(wanted, live))
            self._judged[wanted.operation] = judged
        if judged[1] is not None:
            raise failures.conflict(wanted.address, judged[1])
        if wanted.input_schema is not None and live.input_schema != wanted.input_schema:
            refused = misfit(dict(arguments), live.input_schema)
            if refused is not None:
                raise failures.conflict(
                    wanted.address, f"the server's definition has changed and refuses these arguments ({refused})"
                )

    def _changed(self, wanted: Wanted, live: LiveOperation) -> str | None:
        first = (self._first or {}).get(live.name)
        if first is not None and first is not live:
            if first.read_only is not live.read_only and live.read_only is not True:
                return "the server's definition has changed during the run: it may write now"
            if (wanted.unknown or wanted.input_schema is None) and _definition(first) != _definition(live):
                return "the server's definition has changed during the run"
        elif first is None and wanted.unknown:
            return "the server did not offer it when the run began"
        lacking = None if wanted.input_schema is None else gone(wanted.input_schema, live.input_schema)
        if lacking is not None:
            return f"the server's definition has changed: its argument {one_line(lacking, 200)} is gone"
        return None

    async def _list(self) -> None:
        """Raises Unreachable, Refused, Nonsense; SourceFault where what was listed first cannot be read or kept."""
        if self._fresh():
            return
        async with self._lock:
            if self._fresh():
                return
            await self._connection.open()
            # What changes while the list comes makes it stale.
            generation = self._connection.generation
            operations = await self._connection.list()
            found = _checked(operations, self.secrets)
            # Kept as the same object while it is the same: what was judged once need not be judged again.
            self._listed = {
                name: known if (known := self._listed.get(name)) is not None and _same(known, live) else live
                for name, live in found.items()
            }
            if self._first is None:
                self._first = self._kept(self._listed)
            self._generation = generation
            self._when = time.monotonic()

    def _kept(self, listed: dict[str, LiveOperation]) -> dict[str, LiveOperation]:
        """What counts for the whole run: `listed` only where no process of the run has asked before."""
        records = self._lists.load(self._name)
        if records is not None:
            return {record.name: LiveOperation(**record.model_dump()) for record in records}
        self._lists.keep(self._name, [OperationRecord.model_validate(asdict(live)) for live in listed.values()])
        return listed

    def _fresh(self) -> bool:
        connection = self._connection
        young = time.monotonic() - self._when < self._limits.recheck_s
        return young and connection.alive and self._generation == connection.generation

    # -------------------------------------------------------------------------------------------- after a call

    async def _refused(self, wanted: Wanted, arguments: Mapping[str, Json], error: Refused) -> ToolFailure:
        changed = await self._changed_meanwhile(wanted, arguments)
        if changed is not None:
            return changed
        details: dict[str, Json] = {"mcp_code": error.code}
        if error.code in (INVALID_PARAMS, METHOD_NOT_FOUND):
            return failures.answered(wanted.address, "invalid_input", str(error), details)
        status = error.exchange.status
        if status is None or status < 400:
            code, more = failures.of_words(str(error))
            return failures.answered(wanted.address, code, str(error), {**details, **more})
        code, unknown = failures.of_status(status, wanted.effect)
        if code == "invalid_input":
            # A status that refuses the request as such, not the arguments, which no gateway knows.
            code = "dependency_failure"
        details = {"status": status, **failures.retry_after(error.exchange.retry_after)}
        said = f"HTTP {status} {error}"
        return failures.answered(wanted.address, code, said, details, unknown_outcome=unknown)

    async def _judged_result(self, wanted: Wanted, arguments: Mapping[str, Json], result: CallToolResult) -> Output:
        output = output_of(result, self.secrets)
        if result.is_error:
            changed = await self._changed_meanwhile(wanted, arguments)
            if changed is not None:
                raise changed
            code, details = failures.of_words(output.content)
            raise failures.answered(wanted.address, code, one_line(output.content, self._limits.words), details)
        if wanted.output_schema is not None:
            wrong = misfit(output.structured, wanted.output_schema)
            if wrong is not None:
                raise ToolFailure(
                    "dependency_failure",
                    f"{wanted.address}: its result is not what its definition promises ({wrong})",
                    unknown_outcome=wanted.effect == "write",
                )
        return output

    async def _changed_meanwhile(self, wanted: Wanted, arguments: Mapping[str, Json]) -> ToolFailure | None:
        """A failed call may have failed because the server's definition has changed without a word."""
        self._when = float("-inf")
        try:
            await self._verify(wanted, arguments)
        except ToolFailure as failure:
            return failure if failure.code == "conflict" else None
        return None


def _definition(live: LiveOperation) -> tuple[str, str]:
    return live.description, digest(live.input_schema)


def _same(known: LiveOperation, live: LiveOperation) -> bool:
    return known == live and _definition(known) == _definition(live)


def _checked(operations: tuple[LiveOperation, ...], secrets: Secrets) -> dict[str, LiveOperation]:
    """What may be shown and kept: without the secrets that the server was given. Raises Nonsense."""
    found: dict[str, LiveOperation] = {}
    for live in operations:
        name = one_line(live.name, 80)
        if live.name in found:
            raise Nonsense(Message("list.twice", name=name))
        if max(depth(live.input_schema), depth(live.output_schema)) > _DEEPEST:
            raise Nonsense(Message("list.deep", name=name))
        found[live.name] = LiveOperation(
            name=live.name,
            description=secrets.hide(live.description),
            input_schema=_plain(live.input_schema, secrets) or {},
            output_schema=_plain(live.output_schema, secrets),
            read_only=live.read_only,
        )
    return found


def _plain(schema: dict[str, Json] | None, secrets: Secrets) -> dict[str, Json] | None:
    result = secrets.hide_json(without_patterns(schema))
    return result if isinstance(result, dict) else None
