"""The Japanese templates."""

from __future__ import annotations

from typing import Final

from pipeline.diagnostics.messages.language import Template, Templates

_HANDOVER: Final = "{where}そのまま渡す宣言{written}"

TEMPLATES: Final[Templates] = {
    # ------------------------------------------------------------------------------------------ document
    "fence-unclosed": {
        "": Template(
            "{where}{fence}が閉じられていません。",
            "囲みの終わりに、開いた行と同じ記号（``` か ~~~）を同じ数以上並べた行を書いてください。",
        ),
    },
    "document-unreadable": {
        "encoding": Template("文書を UTF-8 として読めません。", "UTF-8 で保存し直してください。"),
        "nul": Template(
            "文書に NUL 文字があります。",
            "NUL 文字を取り除いてください。文書ではないファイルを指定していないかも確かめてください。",
        ),
        "empty": Template("文書が空です。", "業務の手順を Markdown で書いてください。"),
    },
    "document-too-large": {
        "": Template(
            "文書が大きすぎます（{size:size}、上限は {limit:size}）。",
            "文書を分けてください。上限は --max-bytes で変えられます。",
        ),
        "expanded": Template(
            "フェーズの外の文を各フェーズに入れると、"
            "生成するコードが大きすぎます（{size:size}、上限は {limit:size}）。",
            "フェーズの外の文と囲みを、使うフェーズの中に移してください。",
        ),
    },
    "phase-number-duplicate": {
        "": Template("フェーズ {number} が 2 つあります。", "フェーズごとに違う番号を付けてください。"),
    },
    "phase-number-order": {
        "": Template(
            "フェーズ {number} が、フェーズ {previous} の後にあります。",
            "番号を、上から順に大きくなるように付けてください。フェーズは、番号ではなく文書の順に並びます。",
        ),
    },
    "declaration-in-code": {
        "code-span": Template(
            "{where}{written}はバッククォートの中にあるため、宣言として読まれません。",
            "宣言にするときは、バッククォートを外してください。"
            "説明のための例なら、囲みの中に書くと、この警告は出ません。",
        ),
        "indented-code": Template(
            "{where}{written}は字下げのコードの中にあるため、宣言として読まれません。",
            "宣言にするときは、行頭の空白を 3 つ以下にしてください。"
            "説明のための例なら、囲みの中に書くと、この警告は出ません。",
        ),
        "html": Template(
            "{where}{written}は HTML の中にあるため、宣言として読まれません。",
            "宣言にするときは、HTML の外に書いてください。読ませないときは、コメント（<!-- と --> の間）に書くと、"
            "この警告は出ません。",
        ),
    },
    "declaration-lookalike": {
        "brackets": Template(
            "{where}{written}は丸括弧で囲まれていないため、宣言として読まれません。", "{right}と書いてください。"
        ),
        "bare": Template("{where}{written}は括弧の中にないため、宣言として読まれません。", "{right}と書いてください。"),
        "colon": Template(
            "{where}{written}にはコロンがないため、宣言として読まれません。", "{right}と書いてください。"
        ),
        "verb": Template(
            "{where}{written}の動詞が「渡す」ではないため、そのまま渡す宣言として読まれません。",
            "{right}と書いてください。",
        ),
    },
    "declaration-unclosed": {
        "tool": Template("{where}宣言{written}の括弧が閉じられていません。", "宣言の終わりに「)」を書いてください。"),
        "call": Template("{where}呼び出し{written}の括弧が閉じられていません。", "名前の後に「)」を書いてください。"),
        "handover": Template(_HANDOVER + "の括弧が閉じられていません。", "宣言の終わりに「)」を書いてください。"),
    },
    # --------------------------------------------------------------------------------------------- tools
    "tool-unreadable": {
        "": Template(
            "{where}宣言{declaration}の{item}は、道具として読めません。",
            "使えるツールの一覧にある名前で、「道具名」か「道具名 の カテゴリ」と書いてください。",
        ),
        "empty": Template(
            "{where}宣言{declaration}に、道具名のない項目があります。",
            "道具名を書き足すか、余分な区切りや「の」を消してください。"
            "道具を使わないときは「なし」とだけ書いてください。",
        ),
    },
    "tool-unknown": {
        "": Template(
            "{where}宣言{declaration}の道具{name}は、使えるツールの一覧にも、追加した MCP サーバーにもありません。",
            "{item}を一覧にある道具名で書き直すか、その MCP サーバーを追加してください。",
        ),
    },
    "category-unknown": {
        "": Template(
            "{where}宣言{declaration}の道具{tool}に、カテゴリ{category}はありません。",
            "{item}を、この道具が持つカテゴリで書き直してください。",
        ),
    },
    "category-not-supported": {
        "": Template(
            "{where}宣言{declaration}の道具{tool}にはカテゴリがないため、{category}は書けません。",
            "{item}を、道具名だけの{tool}に書き直してください。",
        ),
    },
    "none-with-tools": {
        "": Template(
            "{where}宣言{declaration}の「なし」は、ほかの道具と一緒に書けません。",
            "道具を使うなら「なし」を消し、使わないならほかの道具を消してください。",
        ),
    },
    "option-unreadable": {
        "": Template(
            "{where}宣言{declaration}の道具{tool}に、{option}は指定できません。",
            "{item}の{option}を消すか、書き直してください。(read-only) のほかに指定できるもの: {options}。",
        ),
        "empty": Template(
            "{where}宣言{declaration}の道具{tool}の{option}に、値がありません。",
            "{item}に「名前: 値」の形で値を書いてください。指定できる名前: {options}。",
        ),
        "repeated": Template(
            "{where}宣言{declaration}の道具{tool}に、{option}が 2 回以上指定されています。",
            "{item}で、同じ名前の指定を 1 つだけにしてください。指定できる名前: {options}。",
        ),
        "read-only": Template(
            "{where}宣言{declaration}の道具{tool}に、{option}は指定できません。",
            "{item}を読む操作だけに絞るときは「(read-only)」と書いてください。ほかに指定できるもの: {options}。",
        ),
        "read-only-category": Template(
            "{where}宣言{declaration}の{item}に、カテゴリ{category}と (read-only) は一緒に書けません。",
            "読むだけなら「{tool:plain} の read」、"
            "そうでなければ「{tool:plain} の {category:plain}」と書いてください。",
        ),
        "read-only-unsupported": Template(
            "{where}宣言{declaration}の道具{tool}に、(read-only) は付けられません。",
            "{item}から (read-only) を外してください。",
        ),
    },
    "tool-mentioned-undeclared": {
        "": Template(
            "{where}文に道具{tool}の名前がありますが、宣言がないため、この道具は付きません。",
            "使うときは、フェーズの見出しに「(使う道具: {example:plain})」を書き足してください。"
            "使わないときは「(使う道具: なし)」と書くと、この警告は出ません。",
        ),
        "single": Template(
            "文に道具{tool}の名前がありますが、宣言がないため、この道具は付きません。",
            "使うときは、「## 利用可能なツール」の下に「- {example:plain}」を書き足してください。"
            "使わないときは「(使う道具: なし)」と書くと、この警告は出ません。",
        ),
    },
    "declaration-outside-phase": {
        "": Template(
            "フェーズの外の宣言{written}からは、道具は付きません。",
            "道具を使うフェーズの見出しか本文に書いてください。",
        ),
        "list": Template(
            "フェーズのある文書では、「利用可能なツール」の項目{written}から道具は付きません。",
            "道具を使うフェーズの見出しに「(使う道具: {written:plain})」と書いてください。",
        ),
        "call": Template(
            "フェーズの外の{written}からは、AOP は呼ばれません。", "呼び出すフェーズの見出しか本文に書いてください。"
        ),
    },
    # ----------------------------------------------------------------------------------------- hand-overs
    "handover-unreadable": {
        "": Template(
            _HANDOVER + "の形が読めません。",
            "「(この SQL を bigquery の query に、そのまま渡す。差し替え: <印>)」の形で書いてください。"
            "差し替える所がなければ「。差し替え: <印>」は書きません。",
        ),
    },
    "handover-tool-unreadable": {
        "": Template(
            _HANDOVER + "の{item}は、道具として読めません。",
            "使えるツールの一覧にある名前で、「道具名」か「道具名 の カテゴリ」と書いてください。",
        ),
    },
    "handover-not-mcp": {
        "": Template(
            _HANDOVER + "の{tool}は、MCP で接続する道具ではありません。",
            "MCP で接続する道具を書くか、この宣言を消して「(使う道具: …)」で道具を付けてください。",
        ),
    },
    "handover-several-tools": {
        "": Template(
            _HANDOVER + "に、2 つ以上の道具があります: {tools}。",
            "1 つの宣言に書ける道具は 1 つです。2 つの道具に渡すときは、囲みを 2 つ書いてください。",
        ),
    },
    "handover-mixed-read-only": {
        "": Template(
            _HANDOVER + "に、(read-only) の付いた機能と付いていない機能があります。",
            "すべての機能に (read-only) を付けるか、すべての機能から外してください。",
        ),
    },
    "handover-ambiguous-operation": {
        "": Template(
            _HANDOVER + "の渡す先が 1 つに決まりません。{tool}で文を受け取る操作: {operations}。",
            "渡す先が 1 つになるように、カテゴリや (read-only) で絞ってください。"
            "絞れないときは、囲みの言語の指定を ts にして、TypeScript で書いてください。",
        ),
    },
    "handover-no-receiver": {
        "": Template(
            _HANDOVER + "の{tool}に、{language:language}囲みの文を受け取る操作がありません。",
            "囲みの言語の指定を ts にして TypeScript で書くか、文を受け取れる道具に渡してください。"
            "(read-only) を付けると読む操作に、付けないと書く操作に渡します。",
        ),
    },
    "handover-argument-missing": {
        "": Template(
            _HANDOVER + "の渡す先{operation}に要る{argument}の値が、文書にありません。",
            "このフェーズの文か、フェーズの外の文に「{argument:plain}: 値」と書いてください。",
        ),
        "several": Template(
            _HANDOVER + "の渡す先{operation}に要る{argument}の値が、1 つに決まりません: {values}。",
            "「{argument:plain}: 値」を 1 つだけ書いてください。",
        ),
        "refused": Template(
            _HANDOVER + "の渡す先{operation}は、{argument}の値に{values}を受け付けません。",
            "「{argument:plain}: 値」を、この操作が受け付ける値で書いてください。",
        ),
    },
    "placeholder-empty": {
        "": Template(
            _HANDOVER + "に、空の印があります。",
            "「差し替え:」の後に印を書くか、余分な区切りを消してください。"
            "差し替える所がなければ「差し替え:」も消してください。",
        ),
    },
    "placeholder-duplicate": {
        "": Template(
            _HANDOVER + "に、印{placeholder}が 2 回書かれています。",
            "同じ印は 1 回だけ書いてください。囲みの中に何か所あっても、すべて同じ値に置き換わります。",
        ),
    },
    "placeholder-missing": {
        "": Template(
            _HANDOVER + "の印{placeholder}が、すぐ下の囲みの中にありません。",
            "囲みの中にある字面を、そのまま印に書いてください。"
            "「、」や「,」を含む印は、バッククォートで囲んでください。",
        ),
    },
    "placeholder-overlapped": {
        "": Template(
            _HANDOVER + "の印{placeholder}は、ほかの印と重なるため、値が入りません。",
            "ほかの印の一部にならない字面に変えてください。",
        ),
    },
    "handover-fence-blank": {
        "": Template(_HANDOVER + "のすぐ下の囲みが空です。", "渡す文を囲みの中に書くか、宣言を消してください。"),
    },
    "handover-stacked": {
        "": Template(
            _HANDOVER + "の下に、同じ囲みを渡す宣言がもう 1 つあります。",
            "1 つの囲みに書ける宣言は 1 つです。2 つの道具に渡すときは、囲みを 2 つ書いてください。",
        ),
    },
    "handover-outside-phase": {
        "": Template(
            "そのまま渡す宣言{written}が、フェーズの外にあります。",
            "宣言と囲みを、それを使うフェーズの中に移してください。",
        ),
    },
    "handover-in-call-phase": {
        "": Template(
            _HANDOVER + "は、別の AOP を呼ぶ所には書けません。",
            "AOP を呼ぶフェーズにはエージェントがありません。宣言と囲みを、別のフェーズか、呼ばれる AOP "
            "に移してください。",
        ),
    },
    "handover-detached": {
        "": Template(
            _HANDOVER + "のすぐ下に囲みがないため、道具は作られません。",
            "宣言のすぐ下に囲みを置いてください。間に置けるのは空行だけです。",
        ),
    },
    # ------------------------------------------------------------------------- generated code, artifacts
    "fence-unreachable": {
        "call-phase": Template(
            "{where}{fence}は、どのエージェントにも届きません。",
            "別の AOP を呼ぶフェーズにはエージェントがありません。囲みを、別のフェーズか、呼ばれる AOP "
            "に移してください。",
        ),
        "no-agent": Template(
            "{where}{fence}は、どのエージェントにも届きません。",
            "この文書には、エージェントを作るフェーズがありません。囲みを、呼ばれる AOP に移してください。",
        ),
    },
    "fence-lost": {
        "": Template(
            "{where}{fence}が、{attempts} 回生成しても、生成したコードに一字一句そのままの形で入りませんでした。",
            "もう一度コンパイルするか、既定の生成器でコンパイルしてください。検査の結果: {detail:plain}",
        ),
    },
    "fence-stale": {
        "": Template(
            "{where}{fence}は、引き継いだコードでは一字一句そのままの形で届きません。",
            "「--reuse exact」を付けてコンパイルすると、届く形になります。"
            "引き継いだコードについて: {reasons:reasons}。",
        ),
    },
    "tools-mismatch": {
        "": Template(
            "{where}生成したコードの道具が、{attempts} 回生成しても、宣言と合いませんでした。",
            "もう一度コンパイルするか、既定の生成器でコンパイルしてください。検査の結果: {detail:plain}",
        ),
    },
    "artifact-stale": {
        "": Template(
            "{where}コードは、前のコンパイルから引き継がれました: {reasons:reasons}。",
            "生成し直すときは「--reuse exact」を付けてコンパイルしてください。",
        ),
    },
    "tool-drifted": {
        "": Template(
            "{where}道具{tool}{operation:operation}が、ロックファイルの記録と違います: "
            "{change:change}{names:brackets}。",
            "「aop catalog diff」で変更を確かめ、よければ「aop catalog approve {target:plain}」で承認してください。",
        ),
        "approve": Template(
            "{where}道具{tool}{operation:operation}が、ロックファイルの記録と違います: "
            "{change:change}{names:brackets}。",
            "まだ承認されていません。「aop catalog diff」で変更を確かめ、"
            "よければ「aop catalog approve {target:plain}」で承認してください。",
        ),
        "block": Template(
            "{where}道具{tool}{operation:operation}が、ロックファイルの記録と違います: "
            "{change:change}{names:brackets}。",
            "ロックファイルの方針により、「aop catalog approve {target:plain}」では承認できません。"
            "カタログを直すか、方針を変えてください。",
        ),
    },
    # --------------------------------------------------------------------------------------------- calls
    "call-unknown": {
        "": Template(
            "{where}呼び出す AOP{target}が見つかりません。",
            "呼び出す文書の名前か、この文書からの相対パスを書いてください。",
        ),
        "nameless": Template(
            "{where}呼び出しに AOP の名前がありません。",
            "「(呼び出す AOP: 名前)」のように、文書の名前か、この文書からの相対パスを書いてください。",
        ),
        "several": Template(
            "{where}呼び出す AOP{target}に当たる文書が 2 つ以上あります: {paths}。",
            "この文書からの相対パスを書いて、1 つに決めてください。",
        ),
    },
    "call-cycle": {
        "": Template(
            "{where}呼び出しが循環しています: {path:path}。", "循環の中の呼び出しを、どれか 1 つ外してください。"
        ),
    },
    "call-with-tools": {
        "": Template(
            "{where}宣言{written}からは、道具は付きません。",
            "別の AOP を呼ぶフェーズにはエージェントがありません。宣言を消すか、別のフェーズか、呼ばれる AOP "
            "に移してください。",
        ),
    },
    "call-several": {
        "": Template(
            "{where}{written}は、このフェーズの 2 つ目以降の呼び出しです。",
            "1 つのフェーズから呼べる AOP は 1 つです。フェーズを分けてください。",
        ),
    },
}
