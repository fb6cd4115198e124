"""Documents to save, and what `aop compile` makes of them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

MULTI: Final = """# 月次の締め

締めの手順。

## フェーズ 1: 集める (使う道具: slack の history (read-only))

請求書を集める。

```text
・金額は円で、税込み。
```

## フェーズ 2: 知らせる (使う道具: slack の notify)

結果を送る。
"""

FAILING: Final = """# だめな手順

## フェーズ 1: 集める (使う道具: slakc の notify)

集める。
"""

UNREADABLE: Final = b"# \xff\xfe\n"


def calling(name: str, target: str) -> str:
    return f"# {name}\n\n## フェーズ 1: 頼む (呼び出す AOP: {target})\n\n頼む。\n"


def large(phases: int = 300, lines: int = 20) -> str:
    """So large that each stage takes a while."""
    bodies = (
        "".join(f"{phase} の {line} 行目を処理する。\n" for line in range(lines)) for phase in range(1, phases + 1)
    )
    heads = (f"## フェーズ {phase}: 仕事 {phase} (使う道具: slack の notify)" for phase in range(1, phases + 1))
    return "# 大きな手順\n\n" + "".join(f"{head}\n\n{body}\n" for head, body in zip(heads, bodies, strict=True))


def compiled(
    folder: Path, documents: Mapping[str, str | bytes], store: Path | None = None
) -> dict[str, dict[str, str]]:
    """By document: the files that the command line writes, and its JSON result as `result`."""
    for name, text in documents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
    out = folder / "build"
    command = [
        sys.executable,
        "-m",
        "cli",
        "compile",
        *documents,
        "--out",
        str(out),
        "--format",
        "jsonl",
        "--lang",
        "ja",
    ]
    command += ["--store", str(folder / "cache" if store is None else store)]
    root = Path(__file__).parents[3]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=120, check=False, env={"PYTHONPATH": str(root)}
    )
    found: dict[str, dict[str, str]] = {}
    for line in done.stdout.splitlines():
        result: dict[str, Any] = json.loads(line)
        output = result["document"]["output"]
        files = {} if output is None else {path.name: path.read_text() for path in (folder / output).iterdir()}
        found[result["document"]["path"]] = {**files, "result": line}
    assert found.keys() == documents.keys(), done.stderr
    return found
