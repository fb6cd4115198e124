"""What is said of settings that no process can start with."""

from __future__ import annotations

from typing import Final

from pipeline.diagnostics.lang import Lang

_TEXTS: Final[dict[str, tuple[str, str]]] = {
    "secret-short": (
        "シークレットが短すぎます。16 文字以上の推測できない値にしてください。",
        "a secret is too short: use at least 16 characters that nobody can guess",
    ),
    "redis-cluster": (
        "Redis Cluster は使えません。単独の Redis（または Sentinel）の URL を書いてください。",
        "Redis Cluster is not supported: write the URL of one Redis (or of a Sentinel)",
    ),
    "redis-scheme": (
        "redis://、rediss://、unix://、sentinel:// のいずれかで始まる URL を書いてください。",
        "write a URL that begins with redis://, rediss://, unix:// or sentinel://",
    ),
    "redis-url": (
        "URL が読めません。redis://[:パスワード@]ホスト[:ポート][/番号] か"
        "sentinel://ホスト[:ポート]/名前 の形で書いてください。",
        "the URL cannot be read: write redis://[:PASSWORD@]HOST[:PORT][/DB], or sentinel://HOST[:PORT]/NAME",
    ),
    "store-scheme": (
        "`file:フォルダ` か `s3://バケット/接頭辞` の形で書いてください。",
        "write `file:FOLDER` or `s3://BUCKET/PREFIX`",
    ),
    "url": ("http:// か https:// で始まる URL を書いてください。", "write a URL that begins with http:// or https://"),
    "refresh-often": (
        "0（問い合わせない）か、60 以上の秒数を書いてください。",
        "write 0 (never), or at least 60 seconds",
    ),
    "wait-below-quiet": (
        "AOP_QUIET_MS より短くはできません。",
        "it may not be shorter than AOP_QUIET_MS",
    ),
    "limit-below-soft": (
        "AOP_SOFT_TIME_LIMIT_S より長くしてください。",
        "it must be longer than AOP_SOFT_TIME_LIMIT_S",
    ),
    "visibility-below-limit": (
        "AOP_TIME_LIMIT_S より 60 秒以上長くしてください。短いと、処理中の仕事がもう一度配られます。",
        "make it at least 60 s longer than AOP_TIME_LIMIT_S: else a task that still runs is handed out again",
    ),
    "half-a-key": (
        "AOP_S3_ACCESS_KEY と AOP_S3_SECRET_KEY は、両方を書くか、両方を省いてください。",
        "write both AOP_S3_ACCESS_KEY and AOP_S3_SECRET_KEY, or neither",
    ),
    "key-without-kms": (
        "AOP_S3_ENCRYPTION=aws:kms と一緒に使ってください。",
        "use it together with AOP_S3_ENCRYPTION=aws:kms",
    ),
}


def problem(what: str, lang: Lang) -> str:
    """`what`: a key of this module, or else pydantic's words for a value, which it has in English only."""
    texts = _TEXTS.get(what)
    if texts is not None:
        return texts[lang == "en"]
    return what if lang == "en" else f"値を直してください（{what}）。"
