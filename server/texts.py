"""What the server says of a request that it cannot fulfil, by key: Japanese, English. Never what the request held."""

from __future__ import annotations

from typing import Final

from pipeline.diagnostics.lang import Lang
from pipeline.diagnostics.visible import visible

_TEXTS: Final[dict[str, tuple[str, str]]] = {
    # ------------------------------------------------------------------------------------------------ requests
    "field": ("{path}: {detail}", "{path}: {detail}"),
    "too-large": ("本文が大きすぎます。{limit} バイトまでです。", "the body is too large: at most {limit} bytes"),
    "document-too-large": (
        "文書が大きすぎます。{limit} バイトまでです。",
        "the document is too large: at most {limit} bytes",
    ),
    "url-too-long": ("URL が長すぎます。{limit} バイトまでです。", "the URL is too long: at most {limit} bytes"),
    "headers-too-long": (
        "ヘッダが大きすぎます。合わせて {limit} バイトまでです。",
        "the headers are too large: at most {limit} bytes together",
    ),
    "encoding": (
        "圧縮した本文は受け付けません。Content-Encoding なしで送ってください。",
        "packed bodies are not accepted: send it without Content-Encoding",
    ),
    "too-slow": (
        "本文が {limit} 秒以内に届きませんでした。送り直してください。",
        "the body did not arrive within {limit} s; send it again",
    ),
    "cut-off": ("本文が途中で切れました。送り直してください。", "the body was cut off: send it again"),
    "rate": (
        "リクエストが多すぎます。{seconds} 秒待ってから送り直してください。",
        "too many requests: send it again after {seconds} s",
    ),
    "streams": (
        "進捗の接続が多すぎます（同時に {limit} 本まで）。使っていないものを閉じてください。",
        "too many open streams (at most {limit} at a time): close those that nobody reads",
    ),
    "host": (
        "この名前では応じません。サーバの URL（AOP_PUBLIC_URL か 127.0.0.1）を使ってください。",
        "not answered under this name: use the server's own URL (AOP_PUBLIC_URL, or 127.0.0.1)",
    ),
    "origin": (
        "このページからの要求には応じません。自分のページなら、その URL を AOP_PUBLIC_URL に設定してください。",
        "not answered to this page: if it is yours, set AOP_PUBLIC_URL to its address",
    ),
    "no-mcp-tool": (
        "その名前の道具はありません。details.tools のどれかを呼んでください。",
        "there is no tool of that name: call one of details.tools",
    ),
    "no-such-path": ("この URL には何もありません。", "there is nothing at this URL"),
    "method": ("この URL で {method} は使えません。", "{method} does not work at this URL"),
    "bad-request": ("リクエストの形が正しくありません。", "the request is malformed"),
    # ---------------------------------------------------------------------------------------------- recompiles
    "no-plan": (
        "この plan_token の計画はありません（計画は 1 時間で消えます）。scope を送って計画を作り直してください。",
        "no plan has this plan_token (a plan is kept for an hour): send a scope for a new one",
    ),
    "plan-changed": (
        "計画の後にカタログか文書が変わったので、何も実行していません。details.plan の plan_token を送ってください。",
        "catalog or documents have changed since the plan: nothing was run. Look at details.plan and send its token",
    ),
    "no-recompile": ("この ID の再コンパイルはありません。", "there is no recompile with this id"),
    "recompile-over": (
        "この再コンパイルはもう終わっています（{state}）。",
        "this recompile is over ({state})",
    ),
    # -------------------------------------------------------------------------------------------------- access
    "no-token": (
        "トークンがありません。Authorization: Bearer か X-API-Token で送ってください。",
        "there is no token: send it as Authorization: Bearer or X-API-Token",
    ),
    "two-tokens": (
        "Authorization と X-API-Token に別のトークンがあります。1 つだけ送ってください。",
        "Authorization and X-API-Token hold different tokens: send one",
    ),
    "scheme": (
        "Authorization は「Bearer トークン」の形で送ってください。",
        "send Authorization as `Bearer TOKEN`",
    ),
    "token-malformed": (
        "トークンの形（aop_…_…）ではありません。コピーが途中で切れていないか確かめてください。",
        "this is not the form of a token (aop_…_…): see whether it was copied whole",
    ),
    "token-unknown": (
        "このトークンは登録されていません。aop admin token create で作れます。",
        "this token is not known; aop admin token create makes one",
    ),
    "token-revoked": ("このトークンは取り消されました。", "this token was revoked"),
    "token-expired": ("このトークンは期限が切れました。", "this token has expired"),
    "scope": (
        "このトークンにはスコープ {scope} がありません。",
        "this token lacks the scope {scope}",
    ),
    "documents": (
        "このトークンで扱える文書（{patterns}）ではありません。",
        "this document is not among those of the token ({patterns})",
    ),
    "signature-missing": (
        "署名のヘッダ {header} がありません。",
        "the header {header} of the signature is missing",
    ),
    "signature-wrong": (
        "署名が合いません。送る側と AOP_{setting} の値が同じか確かめてください。",
        "the signature does not match: see whether the sender has a secret of AOP_{setting}",
    ),
    "timestamp-stale": (
        "webhook-timestamp が今の時刻から 5 分以上ずれています。送る側の時計を確かめて、署名し直してください。",
        "webhook-timestamp is more than 5 minutes away from now: check the sender's clock, and sign again",
    ),
    "hook-off": (
        "この入口は使えません。AOP_{setting} を設定してください。",
        "this entrance is closed: set AOP_{setting}",
    ),
    "bucket": (
        "{path}: 許可されたバケットではありません（AOP_S3_BUCKETS）。",
        "{path}: not one of the allowed buckets (AOP_S3_BUCKETS)",
    ),
    "repository": (
        "{path}: 許可されたリポジトリではありません（AOP_GITHUB_REPOSITORIES）。",
        "{path}: not one of the allowed repositories (AOP_GITHUB_REPOSITORIES)",
    ),
    # ------------------------------------------------------------------------------------------ nothing to do
    "other-branch": ("既定のブランチではありません。", "it is not the default branch"),
    "other-event": ("push のイベントではありません。", "it is no push"),
    "test-event": ("試しの通知です。", "it is a test"),
    "other-change": ("新しくも、消えてもいないオブジェクトです。", "the object is neither new nor gone"),
    # ------------------------------------------------------------------------------------------ what there is
    "no-document": ("その文書はありません。", "there is no such document"),
    "no-job": (
        "そのジョブはありません。終わったジョブは {hours} 時間で消えます。",
        "there is no such job; those that ended are forgotten after {hours} h",
    ),
    "not-published": (
        "まだ公開された版がありません。",
        "no version of the document has been published yet",
    ),
    "retired": ("その文書は取り下げられました。", "the document was retired"),
    "no-save": ("保存 {sequence} はありません。", "there is no save {sequence}"),
    "no-text": (
        "保存 {sequence} の本文がありません（まだ取得していないか、取り下げです）。",
        "save {sequence} has no text: it was not fetched yet, or it retires the document",
    ),
    "no-output": ("コンパイル結果が残っていません。", "the output of the compile is gone"),
    "no-catalog": (
        "カタログがまだ公開されていません。aop dispatcher が動いているか確かめてください。",
        "no catalog has been published yet: see whether aop dispatcher runs",
    ),
    "no-tool": ("その道具はカタログにありません。", "there is no such tool in the catalog"),
    # --------------------------------------------------------------------------------------------------- ours
    "ledger-lost": (
        "台帳が失われています。管理者が aop admin reindex を実行するまでお待ちください。",
        "the ledger was lost: it comes back when an administrator runs aop admin reindex",
    ),
    "redis": ("Redis に届きません。少し待ってから送り直してください。", "Redis does not answer: try again shortly"),
    "store": (
        "保管庫に届きません。少し待ってから送り直してください。",
        "the artifact store does not answer: try again shortly",
    ),
    "timeout": (
        "時間内に終わりませんでした。少し待ってから送り直してください。",
        "it took too long: try again shortly",
    ),
    "too-dear-time": (
        "この文章は {limit} 秒で調べ終わりません。短くするか、文書を分けてください。",
        "this text cannot be looked through within {limit} s: shorten it, or make several documents of it",
    ),
    "too-dear-memory": (
        "この文章を調べるには {limit} MB のメモリでは足りません。短くするか、文書を分けてください。",
        "{limit} MB of memory are not enough to look through this text: shorten it, or make several documents of it",
    ),
    "internal": (
        "内部エラーです。ログの request_id {request} を見てください。",
        "an internal error: see the logs for request_id {request}",
    ),
}


def say(key: str, lang: Lang, **arguments: str | int) -> str:
    """The sentence; texts in its blanks cannot break the line."""
    shown = {name: visible(value) if isinstance(value, str) else value for name, value in arguments.items()}
    return _TEXTS[key][0 if lang == "ja" else 1].format_map(shown)
