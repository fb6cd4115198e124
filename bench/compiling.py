"""Compiling libraries of 1 to 10,000 documents: cold, nothing changed, one changed; beside the bare Markdown parse of
the same texts in one process, and beside `baml-cli generate` on as many files.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path

from markdown_it import MarkdownIt

from bench.timing import milliseconds, process

SIZES = (1, 100, 1_000, 10_000)
AOP = Path(sys.executable).with_name("aop")
BAML = Path(sys.executable).with_name("baml-cli")

_DOCUMENT = """# 週次の在庫報告 {n}

毎週月曜の朝、倉庫 {n} の在庫を確かめて、足りない品を発注の担当に知らせる。数字は必ず前の週のものと比べる。

## フェーズ 1: 集める (使う道具: google_workspace の sheets (read-only))

1. 「在庫 {n}」の表を開き、品番、数、置き場の三つの列を読む。
2. 数が空の行は、倉庫の担当が数えている途中なので飛ばす。
3. 置き場が二つに分かれた品は、数を足して一つにする。

## フェーズ 2: 数える (使う道具: bigquery の query (read-only), sandbox)

前の週の出荷の数と合わせて、来週に足りなくなる品を選ぶ。

```sql
select sku, sum(quantity) as shipped
from warehouse_{n}.shipments
where shipped_on >= date_sub(current_date(), interval 7 day)
group by sku
```

## フェーズ 3: 調べる (使う道具: exa の web (read-only))

- 値段が一割より上がった品は、仕入れ先の知らせを探す。
- 見つからないときは、そのまま次へ進む。
- 読んだ知らせは、題と日付と一行の要約を残す。値段の数字は写し間違えないように、元の文のまま残す。

## フェーズ 4: 確かめる (使う道具: hitl)

> 次の形で、発注してよいかを聞く。
>
> ```text
> 倉庫 {n} で足りなくなる品: <品番>
>   発注する数: <数>
> ```

よいと言われた品だけを次へ渡す。言われなかった品は、理由を一言で残す。

## フェーズ 5: 知らせる (使う道具: slack の notify)

発注の担当に、品番と数を投稿する。急ぐ品には印を付ける。投稿は一度だけにし、品の多い週も分けない。

## 期待される成果物

足りなくなる品の一覧と、発注してよいと言われた数。
"""


def document(n: int) -> str:
    """About 2 KB and five phases; no two alike."""
    return _DOCUMENT.format(n=n)


def write_library(folder: Path, size: int) -> list[str]:
    texts = [document(n) for n in range(size)]
    folder.mkdir(parents=True)
    for n, text in enumerate(texts):
        (folder / f"report-{n:05}.md").write_text(text, encoding="utf-8")
    return texts


def bare_parse(texts: list[str]) -> float:
    """Seconds of CommonMark alone, in this process: the fastest of three."""
    parser = MarkdownIt("commonmark")
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        for text in texts:
            parser.parse(text)
        best = min(best, time.perf_counter() - start)
    return best


def baml_generate(folder: Path, size: int) -> float | None:
    """Seconds of `baml-cli generate` over as many files with one function each, the fastest of three; None without
    BAML."""
    if not BAML.exists():
        return None
    source = folder / "baml_src"
    source.mkdir(parents=True)
    (source / "generators.baml").write_text(
        'generator target {\n  output_type "python/pydantic"\n  output_dir "../"\n  version "0.0.0"\n}\n'.replace(
            "0.0.0", _baml_version()
        ),
        encoding="utf-8",
    )
    (source / "clients.baml").write_text(
        'client<llm> Model {\n  provider openai\n  options {\n    model "m"\n  }\n}\n', encoding="utf-8"
    )
    for n in range(size):
        text = document(n).replace("{", "[").replace("}", "]").replace('"#', '" #')
        (source / f"f{n}.baml").write_text(
            f'function Report{n}(input: string) -> string {{\n  client Model\n  prompt #"\n{text}\n"#\n}}\n',
            encoding="utf-8",
        )
    return process([BAML, "generate"], folder, 3).clock


def _baml_version() -> str:
    from importlib.metadata import version  # noqa: PLC0415 - BAML may be absent

    return version("baml-py")


def files_alone(build: Path) -> float:
    """Seconds of writing the same folders and files with nothing else, the fastest of three: what the disk takes of a
    cold compile, which no compiler can save."""
    contents = [(path.relative_to(build), path.read_bytes()) for path in sorted(build.rglob("*")) if path.is_file()]
    best = float("inf")
    for attempt in range(3):
        copy = build.with_name(f"copy-{attempt}")
        start = time.perf_counter()
        copy.mkdir()
        for name, data in contents:
            target = copy / name
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(data)
        best = min(best, time.perf_counter() - start)
        shutil.rmtree(copy)
    return best


def measure(size: int, folder: Path) -> None:
    library = folder / "library"
    texts = write_library(library, size)
    build, store = folder / "build", folder / "store"
    command: list[str | Path] = [AOP, "compile", ".", "--out", build, "--store", store]
    runs = 3 if size >= 1_000 else 7

    def from_nothing() -> None:
        shutil.rmtree(build, ignore_errors=True)
        shutil.rmtree(store, ignore_errors=True)

    changes = iter(range(1_000_000))
    middle = library / f"report-{size // 2:05}.md"

    def one_change() -> None:
        middle.write_text(texts[size // 2].replace("三つの列", f"三つの列 {next(changes)}"), encoding="utf-8")

    bare = bare_parse(texts)
    cold = process(command, library, runs, from_nothing)
    files = files_alone(build)
    unchanged = process(command, library, runs)
    changed = process(command, library, runs, one_change)
    baml = baml_generate(folder / "baml", size)
    print(
        f"{size:>7,}  {milliseconds(bare):>9}  {milliseconds(cold.clock):>10} {cold.clock / bare:>7.2f} x"
        f"  {milliseconds(cold.processors):>10} {cold.processors / bare:>7.2f} x"
        f"  {milliseconds(files):>9}  {milliseconds(unchanged.clock):>9} {unchanged.clock / bare:>7.2f} x"
        f"  {milliseconds(changed.clock):>9} (+ {milliseconds(changed.clock - unchanged.clock)})"
        f"  {milliseconds(baml) if baml is not None else '-':>9}"
    )


def check_start(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "report.md").write_text(document(0), encoding="utf-8")
    imports = process([sys.executable, "-c", "import pydantic, markdown_it, typer"], folder, 15)
    check = process([AOP, "check", "report.md"], folder, 15)
    ratio = f"{check.clock / imports.clock:.2f} x the imports alone ({milliseconds(imports.clock)})"
    print(f"\naop check, one document: {milliseconds(check.clock)}, {ratio}")


def main(sizes: tuple[int, ...] = SIZES) -> None:
    print("Documents of 2 KB and five phases; x = times the bare Markdown parse of the same texts in one process.")
    print("Its files: writing the same folders and files, and nothing else. TMPDIR says on which disk all of it lies.")
    print("Processors: what the cold compile takes of all cores together, however busy they are with other things.\n")
    print(
        "   size       bare        cold               processors             its files    unchanged"
        "          one changed              baml"
    )
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            measure(size, Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        check_start(Path(folder) / "check")


if __name__ == "__main__":
    main(tuple(map(int, sys.argv[1:])) or SIZES)
