"""The tables of docs/operations.md and its Japanese twin, from costs and loads; written between marks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from bench.sizing import bounds
from bench.sizing.bounds import Bound
from bench.sizing.costs import Costs, Requests, Running
from bench.sizing.extrapolation import Size
from bench.sizing.loads import Loads
from bench.sizing.reproduction import Check, alone
from workers.ledger.records import STAGES, JobClass, Stage

Lang = Literal["ja", "en"]


class Words(NamedTuple):
    ja: str
    en: str


Row = tuple[Words, Sequence[str | Words]]

_DAY_JOBS: Final = 100_000

_BOUNDS: Final[dict[Bound, Words]] = {
    "reindex": Words("`aop admin reindex` の時間", "time of `aop admin reindex`"),
    "gc": Words("`aop admin gc` の時間", "time of `aop admin gc`"),
    "redis-pause": Words("索引を読む間の Redis の停止", "Redis's pause while the index is read"),
    "redis-memory": Words("Redis のメモリー", "Redis's memory"),
    "redis-processor": Words("Redis のプロセッサー", "Redis's processor"),
    "dispatcher-memory": Words("ディスパッチャーのメモリー", "a dispatcher's memory"),
}

_CHECKS: Final[dict[str, str]] = {
    "four stages": "4 段を通る文書（ファイルの保管庫、段ごとに 1 プロセス）",
    "four stages beside a sender": "同じ機械で送り手が送り続ける間",
    "four stages with S3": "同じ機械の SeaweedFS では",
    "idle, median": "保存から公開まで（空いているとき）、中央値",
    "idle, p95": "同、p95",
    "a third of the load, median": "保存から公開まで（三分の一の負荷）、中央値",
}
_ENGLISH_CHECKS: Final[dict[str, str]] = {
    "four stages": "Documents through all four stages, file store, one process a stage",
    "four stages beside a sender": "The same while a process of the same machine sends",
    "four stages with S3": "The same with SeaweedFS on the same machine",
    "idle, median": "Save to published, idle, median",
    "idle, p95": "The same, p95",
    "a third of the load, median": "Save to published at a third of the load, median",
}


# ---------------------------------------------------------------------------------------------------------- rows


def cost_rows(costs: Costs) -> list[Row]:
    file, s3, redis, memory, requests = costs.file, costs.s3, costs.redis, costs.memory, costs.requests
    machine = costs.machine
    return [
        (
            Words("機械", "Machine"),
            [Words(f"{machine.cores} コア（{machine.processor}）", f"{machine.cores} cores ({machine.processor})")],
        ),
        (Words("測った日", "Measured on"), [machine.date]),
        *(
            (
                Words(f"`{stage}` のプロセッサー時間（ファイル、S3）", f"Processor time of `{stage}` (files, S3)"),
                [f"{_ms(_stage(file, stage))}, {_ms(_stage(s3, stage))}"],
            )
            for stage in STAGES
        ),
        (
            Words("ディスパッチャーと Redis のプロセッサー時間", "Processor time of the dispatcher and of Redis"),
            [f"{_ms(file.dispatcher_ms)}, {_ms(file.redis_ms + file.accept_redis_ms)}"],
        ),
        (
            Words("HTTP の保存のプロセッサー時間（ファイル、S3）", "Processor time of a save over HTTP (files, S3)"),
            [f"{_ms(file.server_ms)}, {_ms(s3.server_ms)}"],
        ),
        (
            Words(
                "ほかに何も動いていないときに 1 秒に 4 段を通る文書（模擬計算。ファイル、S3）",
                "Documents through all four stages in a second where nothing else runs, simulated (files, S3)",
            ),
            [f"{alone(costs, file):.0f}, {alone(costs, s3):.0f}"],
        ),
        (
            Words(
                "メモリー（ワーカーの親、子、ディスパッチャー、サーバー）",
                "Memory of a worker's parent, of each child, of a dispatcher, of a server",
            ),
            [f"{memory.worker_parent:.0f}, {memory.worker_child:.0f}, {memory.dispatcher:.0f}, {memory.server:.0f} MB"],
        ),
        (
            Words("Redis のメモリー（文書、待つ仕事）", "Redis memory of a document, of a job that waits"),
            [f"{_kib(redis.document)}, {_kib(redis.waiting_job)}"],
        ),
        (
            Words(
                f"終わった仕事 {_DAY_JOBS:,} 件を 1 日残す Redis のメモリー",
                f"Redis memory for {_DAY_JOBS:,} ended jobs kept for a day",
            ),
            [f"{redis.ended_job * _DAY_JOBS / 2**20:,.0f} MB"],
        ),
        (
            Words(
                "S3 への要求、PUT と GET（保存、コンパイル、変わらない文書）",
                "Requests to S3, PUT and GET (a save, a compile, one unchanged)",
            ),
            [
                "; ".join(
                    map(
                        _requests,
                        (
                            requests.save,
                            bounds.together(requests.compile.values()),
                            bounds.together(requests.unchanged.values()),
                        ),
                    )
                )
            ],
        ),
    ]


def check_rows(checks: Sequence[Check]) -> list[Row]:
    return [
        (
            Words(_CHECKS[check.name], _ENGLISH_CHECKS[check.name]),
            [
                f"{check.others:.1f}",
                _unit(check.measured, check.unit),
                _unit(check.simulated, check.unit),
                f"{check.tolerance:.0%}",
            ],
        )
        for check in checks
    ]


def size_rows(loads: Loads, sizes: Sequence[Size]) -> list[Row]:
    """One column a size; what is of one installation is so in every column."""
    concurrency = loads.settings.concurrency
    bills = [size.bill for size in sizes]

    def row(ja: str, en: str, values: Sequence[str | Words]) -> Row:
        return Words(ja, en), values

    def pods(size: Size, job_class: JobClass) -> str:
        return " + ".join(str(size.pods(job_class, concurrency)[stage]) for stage in STAGES)

    return [
        row("設置の数", "Installations", [f"{size.installations}" for size in sizes]),
        row("それぞれの文書", "Documents of each", [f"{size.documents:,}" for size in sizes]),
        row(
            "忙しいときの保存",
            "Saves in the busiest minutes",
            [Words(f"毎秒 {_digits(s.save_rate)}", f"{_digits(s.save_rate)} a second") for s in sizes],
        ),
        row(
            "対話のワーカーのポッド（4 段）",
            "Pods of interactive workers (four stages)",
            [pods(s, "interactive") for s in sizes],
        ),
        row("一括のワーカーのポッド（4 段）", "Pods of bulk workers (four stages)", [pods(s, "bulk") for s in sizes]),
        row(
            "サーバー、ディスパッチャー、エクスポーターのポッド",
            "Pods of servers, dispatchers, exporter",
            [f"{size.servers} + {size.dispatchers} + 1" for size in sizes],
        ),
        row("`AOP_BULK_WINDOW`", "`AOP_BULK_WINDOW`", [f"{size.window}" for size in sizes]),
        row("コア（一括の実行も含む）", "Cores, a recompile of all included", [_cores(size.cores) for size in sizes]),
        row("ポッドのメモリー", "Memory of the pods", [_gigabytes(size.pods_gb) for size in sizes]),
        row("Redis のメモリー", "Redis memory", [_gigabytes(size.redis_gb) for size in sizes]),
        row("Redis の忙しさ", "Redis busy", [f"{size.redis_busy:.1%}" for size in sizes]),
        row(
            "保存から公開まで、p50、p95、p99",
            "Save to published, p50, p95, p99",
            [", ".join(_digits(size.saves.quantile(share)) for share in (0.5, 0.95, 0.99)) + " s" for size in sizes],
        ),
        row(
            f"{loads.use.burst} 文書の一度の保存から公開まで、p95",
            f"The same of a push of {loads.use.burst} documents, p95",
            [f"{_digits(size.push.quantile(0.95))} s" for size in sizes],
        ),
        row(
            "全文書の再コンパイル",
            "A recompile of all documents",
            [_hours(size.documents / size.bulk.rate() / bounds.HOUR_S) for size in sizes],
        ),
        row("`aop admin gc`", "`aop admin gc`", [_hours(size.gc_hours) for size in sizes]),
        row("`aop admin reindex`", "`aop admin reindex`", [_hours(size.reindex_hours) for size in sizes]),
        row(
            "一つの計画に入る文書",
            "Documents that one plan can cover",
            [f"{_floor(s.plan_documents):,}" for s in sizes],
        ),
        row(
            "一か月の S3 への要求（PUT、GET、LIST）",
            "Requests to S3 a month (PUT, GET, LIST)",
            [
                ", ".join(map(_count, (bill.requests.put, bill.requests.get + bill.requests.head, bill.lists)))
                for bill in bills
            ],
        ),
        row(
            "その費用（うち `aop admin gc`）",
            "Their cost (`aop admin gc` of it)",
            [f"${_dollars(bill.cost)} (${_dollars(bill.upkeep)})" for bill in bills],
        ),
        row(
            "全設置のポッド、コア",
            "Pods and cores of all installations",
            [
                f"{size.all_pods(concurrency) * size.installations:,}, {_cores(size.cores * size.installations)}"
                for size in sizes
            ],
        ),
        row(
            "全設置の Redis のメモリー",
            "Redis memory of all installations",
            [_gigabytes(size.redis_gb * size.installations) for size in sizes],
        ),
        row(
            "全設置の S3 への要求の費用、月額",
            "Cost of requests to S3 of all installations, a month",
            [f"${_dollars(size.bill.cost * size.installations)}" for size in sizes],
        ),
    ]


def bound_rows(limits: Sequence[bounds.Limit]) -> list[Row]:
    return [(_BOUNDS[limit.bound], [f"{_floor(limit.documents):,}"]) for limit in limits]


# --------------------------------------------------------------------------------------------------------- Markdown


def render(head: Sequence[Words | str], rows: Sequence[Row], lang: Lang) -> str:
    lines = [[_word(cell, lang) for cell in line] for line in (head, *((name, *cells) for name, cells in rows))]
    text = [f"| {' | '.join(line)} |" for line in lines]
    text.insert(1, "|---" * len(head) + "|")
    return "\n".join(text)


def _word(cell: Words | str, lang: Lang) -> str:
    if isinstance(cell, str):
        return cell
    return cell.ja if lang == "ja" else cell.en


def put_between(page: str, name: str, text: str) -> str:
    """Raises ValueError where the page has no such marks."""
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    pattern = f"{re.escape(begin)}\n.*?{re.escape(end)}"
    changed, count = re.subn(pattern, lambda _: f"{begin}\n{text}\n{end}", page, flags=re.DOTALL)
    if count != 1:
        raise ValueError(f"the page has {count} parts between {begin} and {end}")
    return changed


# ------------------------------------------------------------------------------------------------------------ forms


def _stage(running: Running, stage: Stage) -> float:
    cost = running.stages[stage]
    return cost.parent_ms + cost.child_ms


def _digits(value: float) -> str:
    """Two that count."""
    return f"{float(f'{value:.2g}'):,g}"


def _ms(value: float) -> str:
    return f"{_digits(value)} ms"


def _unit(value: float, unit: Literal["ms", "/s"]) -> Words:
    if unit == "ms":
        return Words(f"{value:.0f} ms", f"{value:.0f} ms")
    return Words(f"毎秒 {_digits(value)} 件", f"{_digits(value)} a second")


def _kib(size: float) -> str:
    return f"{size / 1_024:.1f} KiB"


def _cores(cores: float) -> str:
    return _digits(cores) if cores >= 0.1 else "< 0.1"


def _gigabytes(size: float) -> str:
    return f"{_digits(size)} GB" if size >= 1 else f"{_digits(size * 1_024)} MB"


def _requests(requests: Requests) -> str:
    return f"{_digits(requests.put)} + {_digits(requests.get + requests.head)}"


def _hours(hours: float) -> str:
    return f"{_digits(hours)} h" if hours >= 1 else f"{_digits(hours * 60)} min"


def _count(count: float) -> str:
    for unit, name in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if count >= unit:
            return f"{_digits(count / unit)}{name}"
    return _digits(count)


def _dollars(cost: float) -> str:
    return f"{cost:,.2f}" if cost < 10 else f"{cost:,.0f}"


def _floor(documents: float) -> int:
    """To two digits that count, never more than there may be."""
    digits = str(int(documents))
    return int(digits[:2].ljust(len(digits), "0"))
