"""What `aop admin preflight` says."""

from __future__ import annotations

from typing import Final

from pipeline.diagnostics.lang import Lang

_TEXTS: Final[dict[str, tuple[str, str]]] = {
    "settings": ("設定は読める。", "the settings can be read"),
    "redis": ("{server} {version} に届く。", "{server} {version} answers"),
    "redis-unreachable": (
        "届かない（{detail}）。AOP_REDIS_URL と、そこまでの経路を確かめてください。",
        "it does not answer ({detail}): look at AOP_REDIS_URL, and at the way there",
    ),
    "redis-old": (
        "{server} {version} は古い。{least} 以降にしてください。",
        "{server} {version} is too old: use {least} or later",
    ),
    "redis-cluster": (
        "クラスターとして動いている。単独の Redis か Sentinel にしてください。",
        "it runs as a cluster: use one Redis, or a Sentinel",
    ),
    "redis-rights": (
        "{prefix} の下で読み書きとスクリプトの実行ができない（{detail}）。ACL を確かめてください。",
        "it does not let us write and run scripts below {prefix} ({detail}): look at the ACL",
    ),
    "redis-writes": ("{prefix} の下に書け、スクリプトが動く。", "it can be written below {prefix}, and scripts run"),
    "redis-memory": (
        "満杯になると書き込みを断る（noeviction）。上限 {limit} バイト。",
        "it refuses writes when it is full (noeviction); limit {limit} bytes",
    ),
    "redis-evicts": (
        "maxmemory-policy が {policy}：満杯になると仕事を捨てる。noeviction にしてください。",
        "maxmemory-policy is {policy}: it throws jobs away when it is full; set noeviction",
    ),
    "redis-unbounded": (
        "maxmemory がない：機械のメモリを使い切るまで増える。上限を決めてください。",
        "it has no maxmemory, and grows until the machine has none left: set one",
    ),
    "redis-lasting": ("書き込みをファイルに残す（AOF）。", "it keeps what is written in a file (AOF)"),
    "redis-forgets": (
        "AOF がない：再起動で最近の仕事が消え、aop admin reindex が要る。appendonly yes にしてください。",
        "it has no AOF: a restart loses the newest jobs, and takes aop admin reindex; set appendonly yes",
    ),
    "clock": ("この機械と Redis の時計の差は {ms} ms。", "this machine's clock and that of Redis are {ms} ms apart"),
    "clock-apart": (
        "この機械と Redis の時計が {ms} ms ずれている。NTP で合わせてください。",
        "this machine's clock and that of Redis are {ms} ms apart: set both by NTP",
    ),
    "store": (
        "{where} に書け、読め、条件つきの書き込みを守る。",
        "{where} can be written and read, and keeps to conditions",
    ),
    "store-fails": ("{detail}", "{detail}"),
    "store-careless": (
        "{where} は条件つきの書き込みを守らない：古い版が新しい版を上書きしうる。別の保管庫を使ってください。",
        "{where} does not keep to conditions: an older version could replace a newer one; use another store",
    ),
    "ledger": ("台帳の形は合っている。", "the ledger has the layout of this version"),
    "ledger-new": ("台帳も保存もまだない：新しい設置。", "there is no ledger and no save yet: a new installation"),
    "ledger-lost": (
        "保管庫には保存があるのに、Redis に台帳がない。aop admin reindex を実行してください。",
        "the store has saves and Redis has no ledger: run aop admin reindex",
    ),
    "ledger-version": ("台帳の形がこの版のものと違う（{detail}）。", "{detail}"),
    "catalog": ("カタログは読める（道具 {tools} 個）。", "the catalog can be read ({tools} tools)"),
    "catalog-wrong": ("{detail}", "{detail}"),
    "skipped": ("調べられない（先に {needs} を直す）。", "not looked at: first comes {needs}"),
}


def text_of(key: str, lang: Lang, arguments: dict[str, str]) -> str:
    return _TEXTS[key][lang == "en"].format(**arguments)
