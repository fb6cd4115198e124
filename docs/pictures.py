"""The pictures in the READMEs, from what the compiler really prints: `make pictures`."""

from __future__ import annotations

import html
import io
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
AOP = Path(sys.executable).with_name("aop")

FAULTY = """# 月次の締め

## フェーズ 1: 取引を集める (使う道具: 会計ソフト の deals (read-only))

先月の取引を集める。

## フェーズ 2: 知らせる

締めた金額を slack に投稿する。
"""
GRAPHED = ROOT / "examples" / "competitor-research.md"
_COLUMN = 12.2
"""The width of a column in rich's pictures."""
READMES = {"en": ROOT / "README.md", "ja": ROOT / "README.ja.md"}


def printed(*words: str | Path, folder: Path = ROOT) -> str:
    done = subprocess.run([str(AOP), *map(str, words)], cwd=folder, capture_output=True, encoding="utf-8", check=False)
    return done.stdout


def picture(lang: str) -> str:
    """A terminal's window with the diagnostics of a small procedure, as SVG that loads nothing from elsewhere."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "getsuji.md").write_text(FAULTY, encoding="utf-8")
        output = printed("check", "getsuji.md", "--color", "always", "--lang", lang, folder=Path(folder))
    console = Console(record=True, width=112, file=io.StringIO(), color_system="standard", force_terminal=True)
    console.print(Text.from_ansi(f"$ aop check getsuji.md\n{output}"))
    svg = console.export_svg(title="aop check", unique_id=f"aop-{lang}")
    svg = re.sub(r'(<text [^>]*?)x="([0-9.]+)"([^>]*?)textLength="([0-9.]+)"([^>]*>)(.*?)</text>', _runs, svg)
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


def _runs(text: re.Match[str]) -> str:
    """rich gives a full-width character the room of one column. Runs of one width, each with its own place, keep the
    caret below its word whatever the font."""
    before, x, middle, _, behind, content = text.groups()
    place, parts = float(x), []
    for run in re.finditer(r"[\u0000-\u10ff]+|[^\u0000-\u10ff]+", html.unescape(content)):
        width = cell_len(run.group()) * _COLUMN
        escaped = html.escape(run.group()).replace(" ", "&#160;")
        parts.append(f'{before}x="{place:.1f}"{middle}textLength="{width:.1f}"{behind}{escaped}</text>')
        place += width
    return "".join(parts)


def with_graph(text: str, graph: str) -> str:
    block = f"<!-- graph:begin -->\n```mermaid\n{graph.strip()}\n```\n<!-- graph:end -->"
    return re.sub(r"<!-- graph:begin -->.*?<!-- graph:end -->", lambda _: block, text, flags=re.DOTALL)


def main() -> None:
    for lang, readme in READMES.items():
        name = "diagnostic.svg" if lang == "en" else f"diagnostic.{lang}.svg"
        (ROOT / "docs" / "images" / name).write_text(picture(lang), encoding="utf-8")
        graph = printed("graph", GRAPHED)
        readme.write_text(with_graph(readme.read_text(encoding="utf-8"), graph), encoding="utf-8")


if __name__ == "__main__":
    main()
