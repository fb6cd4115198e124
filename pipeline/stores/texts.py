"""What a store says when something is wrong: what, where, what to do; Japanese and English."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from pipeline.diagnostics.lang import Lang

Fault: TypeAlias = Literal[
    "denied",
    "not-a-folder",
    "in-the-way",
    "full",
    "busy",
    "unusable",
    "too-large",
    "damaged",
    "damaged-blob",
    "closed",
    "set-aside",
    "other-version",
    "bucket-denied",
    "bucket-unusable",
    "unreachable",
    "unconditional",
    "store-damaged",
    "store-vanished",
]

_SENTENCES: dict[Fault, tuple[str, str]] = {
    "denied": (
        "{where}: キャッシュに書き込めません（{detail}）。"
        "このフォルダーに書き込めるようにするか、別のフォルダーを指定してください。",
        "{where}: the cache cannot be written ({detail}). Make the folder writable, or name another one.",
    ),
    "not-a-folder": (
        "{where}: キャッシュの置き場所がフォルダーではありません（{detail}）。"
        "同じ名前のファイルを移すか、別のフォルダーを指定してください。",
        "{where}: the cache needs a folder, and this is none ({detail}). "
        "Move the file of that name away, or name another folder.",
    ),
    "in-the-way": (
        "{where}: キャッシュのファイルを置く場所に、ファイルでないもの {detail} があります。"
        "それを移すか、別のフォルダーを指定してください。",
        "{where}: {detail} is in the way of the cache, which needs a file there, and this is none. "
        "Move it away, or name another folder.",
    ),
    "full": (
        "{where}: 空き容量が足りず、キャッシュに書き込めません（{detail}）。"
        "空きを作るか、`aop cache prune` で小さくするか、別のフォルダーを指定してください。",
        "{where}: no space left to write the cache ({detail}). "
        "Free some, shrink the cache with `aop cache prune`, or name another folder.",
    ),
    "busy": (
        "{where}: 別のプロセスがキャッシュを長く使っています（{detail}）。"
        "それが終わってから、もう一度実行してください。",
        "{where}: another process has kept the cache locked for long ({detail}). Run again when it has ended.",
    ),
    "unusable": (
        "{where}: キャッシュを読み書きできません（{detail}）。"
        "ディスクの空き、ファイルの大きさの制限、ディスクの異常を確かめるか、別のフォルダーを指定してください。",
        "{where}: the cache cannot be read or written ({detail}). "
        "Check free space, limits on file sizes and the disk, or name another folder.",
    ),
    "too-large": (
        "{where}: {detail} バイトはキャッシュの 1 件として大きすぎます。文書を分けてください。",
        "{where}: {detail} bytes are too many for one entry of the cache. Split the document.",
    ),
    "damaged": (
        "{where}: キャッシュを新しく作りましたが、すぐにまた壊れていました（{detail}）。"
        "ディスクの異常が疑われます。別のフォルダーを指定してください。",
        "{where}: the cache was begun anew and is damaged again at once ({detail}). "
        "The disk may be faulty: name another folder.",
    ),
    "damaged-blob": (
        "{where}: 保存した内容 {detail} が壊れていたので捨てました。もう一度コンパイルすると作り直されます。",
        "{where}: the stored content {detail} was damaged and has been dropped. Compiling again restores it.",
    ),
    "closed": (
        "{where}: キャッシュはもう閉じられています。開き直してください。",
        "{where}: the cache has been closed. Open it again.",
    ),
    "bucket-denied": (
        "{where}: このバケットを読み書きする権限がありません（{detail}）。鍵と、バケットのポリシーを確かめてください。",
        "{where}: access to the bucket is denied ({detail}). Check the credentials and the bucket's policy.",
    ),
    "bucket-unusable": (
        "{where}: バケットを使えません（{detail}）。バケットがあるか、保存先の S3 サーバーが正常かを確かめてください。",
        "{where}: the bucket cannot be used ({detail}). Check that it exists, and that the S3 server is healthy.",
    ),
    "unreachable": (
        "{where}: S3 サーバーに届きません（{detail}）。エンドポイントとネットワークを確かめてください。",
        "{where}: the S3 server cannot be reached ({detail}). Check the endpoint and the network.",
    ),
    "unconditional": (
        "{where}: この S3 サーバーは条件付きの書き込み（If-None-Match、If-Match）を無視します。"
        "同時に書くと気づかずに上書きされるため使えません。条件付きの書き込みに対応したサーバーを指定してください。",
        "{where}: this S3 server ignores the conditions of a write (If-None-Match, If-Match): two writers would "
        "overwrite each other unseen. Name a server that honours them.",
    ),
    "store-damaged": (
        "{where}: 成果物の保存先が壊れています（{detail}）。何も書き換えていません。"
        "ディスクの異常を確かめ、バックアップから戻してください。",
        "{where}: the artifact store is damaged ({detail}). Nothing was changed. "
        "Check the disk, and restore the store from a backup.",
    ),
    "store-vanished": (
        "{where}: 使っている間に、成果物の保存先のファイル {detail} がなくなりました。"
        "元に戻すか、新しい保存先で始めるなら、すべてのプロセスを起動し直してください。",
        "{where}: the file {detail} of the artifact store has gone while it was in use. "
        "Put it back; or, to begin with an empty store, start all processes again.",
    ),
    "set-aside": (
        "{where} が壊れていた（{detail}）ので、新しいキャッシュを作りました。"
        "壊れたファイルは消してかまいません。中身は次のコンパイルで作り直されます。",
        "{where} was damaged ({detail}), so a new cache was begun. "
        "The damaged file may be deleted; what it held is compiled again.",
    ),
    "other-version": (
        "{where} は別の版の aop が作ったキャッシュ（{detail}）なので、そのまま残し、新しいキャッシュを作りました。"
        "その版をまだ使うなら、消さないでください。",
        "{where} is the cache of another version of aop ({detail}): it was left as it is, and a new cache was begun. "
        "Keep the file while that version is in use.",
    ),
}


def sentence(fault: Fault, lang: Lang, where: str, detail: str) -> str:
    """`where` and `detail` are put in as they are."""
    japanese, english = _SENTENCES[fault]
    return (japanese if lang == "ja" else english).format(where=where, detail=detail)


class Note(NamedTuple):
    """Something that a store got over by itself and the user should know. `str(note)` is the English sentence."""

    fault: Fault
    where: str
    detail: str

    def text(self, lang: Lang) -> str:
        return sentence(self.fault, lang, self.where, self.detail)

    def __str__(self) -> str:
        return self.text("en")
