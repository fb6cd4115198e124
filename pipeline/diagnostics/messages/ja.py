"""The Japanese phrases, with the templates that they are used in."""

from __future__ import annotations

from typing import Final

from pipeline.diagnostics.messages.ja_templates import TEMPLATES
from pipeline.diagnostics.messages.language import Language

JA: Final = Language(
    templates=TEMPLATES,
    quote=("「", "」"),
    separator="、",
    more="ほか {} 件",
    none="なし",
    where="フェーズ {} の",
    fence="囲み",
    fence_at=" {} 行目で開いた囲み",
    size="{} バイト",
    language="言語の指定が{}の",
    no_language="言語の指定のない",
    operation="の操作{}",
    candidates="候補: {}。",
    remark="そのまま渡す宣言のつもりでなければ、括弧の中を「この」で始まらない語で書き始めてください。",
    between_sentences="",
    brackets="（{}）",
    reasons={
        "new": "初めてのコンパイル",
        "document": "文書が変わった",
        "declaration": "宣言が変わった",
        "fence": "囲みが変わった",
        "shared-fence": "フェーズの外の囲みが変わった",
        "tool-schema": "操作の定義が変わった",
        "tool-added": "道具や操作が加わった",
        "tool-removed": "道具や操作がなくなった",
        "tool-effect": "操作の読み書きの別が変わった",
        "callee": "呼び出す AOP が変わった",
        "options": "オプションが変わった",
        "stage-version": "生成器の版が違う",
        "model": "モデルが違う",
        "artifact-missing": "保存した成果物がない",
        "artifact-damaged": "保存した成果物が壊れている",
        "forced": "指定された",
        "same": "変わっていない",
    },
    changes={
        "tool-removed": "道具がなくなった",
        "tool-renamed": "道具の名前が変わった",
        "operations-unknown": "操作がわからなくなった",
        "operation-added": "操作が新しく増えた",
        "operation-removed": "操作がなくなった",
        "operation-renamed": "操作の名前が変わった",
        "effect-writes": "読むだけだったのに、書くようになった",
        "effect-reads": "書いていたのに、読むだけになった",
        "schema-breaking": "引数が変わり、これまでの呼び出しが拒まれることがある",
        "schema-changed": "引数が変わったが、これまでの呼び出しは通る",
        "description-changed": "モデルが読む説明が変わった",
    },
)
