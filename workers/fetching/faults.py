"""What goes wrong with fetching."""

from __future__ import annotations

from typing import Final, Literal

from pipeline.diagnostics.lang import Lang

FetchFault = Literal["missing", "denied", "forbidden", "unreachable", "limited", "unusable"]

_TEXTS: Final[dict[FetchFault, tuple[str, str]]] = {
    "missing": ("{where}: ありません。", "{where} does not exist"),
    "denied": (
        "{where}: 読む権限がありません。サーバの認証情報を確かめてください。",
        "{where}: access denied; check the credentials of the installation",
    ),
    "forbidden": (
        "{where}: 許可された場所ではありません。許可する設定は {detail} です。",
        "{where} is not among the allowed places, which {detail} lists",
    ),
    "unreachable": ("{where}: 応答がありません（{detail}）。", "{where} does not answer ({detail})"),
    "limited": ("{where}: 呼び出しの上限に達しています（{detail}）。", "{where}: too many requests ({detail})"),
    "unusable": ("{where}: 予期しない応答です（{detail}）。", "{where} answered unexpectedly ({detail})"),
}


class FetchError(Exception):
    """`where`: what was to be fetched, without credentials. `retry_after_s`: how long the other side asks to wait."""

    def __init__(self, fault: FetchFault, where: str, detail: str = "", retry_after_s: float | None = None) -> None:
        super().__init__(_TEXTS[fault][1].format(where=where, detail=detail))
        self.fault: FetchFault = fault
        self.where = where
        self.detail = detail
        self.retry_after_s = retry_after_s

    def text(self, lang: Lang) -> str:
        return _TEXTS[self.fault][0 if lang == "ja" else 1].format(where=self.where, detail=self.detail)
