"""What can be wrong with a live MCP server, and with reaching it, in both languages; as `errors.MESSAGES`."""

from __future__ import annotations

from typing import Final

SERVER_MESSAGES: Final[dict[str, tuple[str, str]]] = {
    "server-unknown": (
        "「{server}」という MCP サーバーがありません。あるのは {known} です。",
        'there is no MCP server "{server}". There are {known}.',
    ),
    "transport-unsupported": (
        "MCP サーバー「{server}」の接続方式 {transport} には対応していません。"
        "command（stdio）か、Streamable HTTP の url を書いてください。",
        'the MCP server "{server}" is reached by {transport}, which is not supported. '
        "Write a command (stdio) or a url for Streamable HTTP.",
    ),
    "variable-unset": (
        "{where} にある環境変数 {variable} が設定されていません。設定してから実行してください。",
        "{where} needs the environment variable {variable}, which is not set. Set it first.",
    ),
    "variable-unreadable": (
        "{where} の「${{{variable}}}」は環境変数の名前ではありません。「${{名前}}」の形で書いてください。",
        '{where}: "${{{variable}}}" names no environment variable. Write it as "${{NAME}}".',
    ),
    "url-unusable": (
        "{where} は http:// か https:// の URL ではありません。",
        "{where} is no http:// or https:// URL.",
    ),
    "header-unusable": (
        "{where} は HTTP のヘッダーにできません。名前は英数字と -、値は ASCII の文字だけで書いてください。",
        "{where} cannot be an HTTP header. Write its name in letters, digits and -, and its value in ASCII.",
    ),
    "process-unusable": (
        "{where} の command、args、env に、プロセスに渡せない文字（NUL、名前の中の =）があります。",
        "{where}: command, args or env hold what no process can be given (NUL, = in a name).",
    ),
    "mcp-missing": (
        "MCP サーバーへの接続には追加のパッケージ mcp が要ります。pip install 'mcp>=2,<3' を実行してください。",
        "connecting to MCP servers needs the package mcp. Run pip install 'mcp>=2,<3'.",
    ),
    "server-unreachable": (
        "MCP サーバー「{server}」に接続できません（{detail}）。動いているか、接続先が正しいかを確かめてください。",
        'the MCP server "{server}" cannot be reached ({detail}). Check that it runs, and where.',
    ),
    "server-refused": (
        "MCP サーバー「{server}」が道具の一覧を返しませんでした（{detail}）。サーバーの設定を確かめてください。",
        'the MCP server "{server}" did not list its tools ({detail}). Check its settings.',
    ),
    "server-ended": (
        "MCP サーバー「{server}」は道具の一覧を返さずに終わりました"
        "（終了コード {status}、標準エラー出力の最後: {said}）。コマンドを手で動かして確かめてください。",
        'the MCP server "{server}" ended without listing its tools (exit status {status}, last on standard error: '
        "{said}). Run its command by hand to see why.",
    ),
    "server-tells-secret": (
        "MCP サーバー「{server}」の道具の一覧に、{where} の値が入っています。"
        "保存しません。その値を失効させ、サーバーの作者に知らせてください。",
        'the tool list of the MCP server "{server}" holds the value of {where}, so it is not stored. '
        "Revoke that value, and tell the server's author.",
    ),
    "server-compressed": (
        "MCP サーバー「{server}」が、求めていないのに応答を圧縮しました。圧縮しないように設定してください。",
        'the MCP server "{server}" compresses its answers, although that was not asked for. Have it send them plain.',
    ),
    "server-slow": (
        "MCP サーバー「{server}」が {seconds} 秒以内に道具の一覧を返しませんでした。"
        "サーバーを確かめるか、--timeout を延ばしてください。",
        'the MCP server "{server}" did not list its tools within {seconds} s. Check it, or raise --timeout.',
    ),
    "server-flood": (
        "MCP サーバー「{server}」の応答が大きすぎます。{limit} バイトまでしか読みません。",
        'the MCP server "{server}" answers with too much. No more than {limit} bytes are read.',
    ),
    "server-not-json": (
        "MCP サーバー「{server}」の出力が JSON-RPC ではありません（{said}）。"
        "標準出力に別のものを書いていないか確かめてください。",
        'what the MCP server "{server}" writes is not JSON-RPC ({said}). '
        "Check that it writes nothing else to its standard output.",
    ),
    "server-wrong-list": (
        "MCP サーバー「{server}」の道具の一覧が MCP の形ではありません（{detail}）。サーバーの作者に知らせてください。",
        'the tool list of the MCP server "{server}" is not as MCP has it ({detail}). Tell its author.',
    ),
    "server-too-many": (
        "MCP サーバー「{server}」の道具が多すぎます。{limit} 個までにしてください。",
        'the MCP server "{server}" lists too many tools. Keep it within {limit}.',
    ),
    "server-pages": (
        "MCP サーバー「{server}」の一覧が {limit} ページで終わりません。サーバーの作者に知らせてください。",
        'the list of the MCP server "{server}" does not end within {limit} pages. Tell its author.',
    ),
    "server-pages-circle": (
        "MCP サーバー「{server}」の一覧が、同じページに戻って終わりません。サーバーの作者に知らせてください。",
        'the list of the MCP server "{server}" comes back to the same page and never ends. Tell its author.',
    ),
    "server-schema-large": (
        "MCP サーバー「{server}」の道具「{tool}」の定義が大きすぎます。{limit} バイトまでにしてください。",
        'the definition of "{tool}" of the MCP server "{server}" is too large. Keep it within {limit} bytes.',
    ),
    "server-schema-deep": (
        "MCP サーバー「{server}」の道具「{tool}」の定義の入れ子が深すぎます。{limit} 段までにしてください。",
        'the definition of "{tool}" of the MCP server "{server}" is nested too deeply. Keep it within {limit} levels.',
    ),
    "server-duplicate": (
        "MCP サーバー「{server}」の一覧に「{tool}」と「{other}」があり、名前が重複しています"
        "（全角と半角、大文字と小文字は区別しません）。サーバーの作者に知らせてください。",
        'the MCP server "{server}" lists "{tool}" and "{other}", which are the same name '
        "(full and half width, upper and lower case are the same). Tell its author.",
    ),
    "snapshot-of-another": (
        "「{name}」の一覧を書けません。このファイルには「{other}」があります。"
        "ファイルを移すか、--out で別のフォルダを指定してください。",
        'the list of "{name}" cannot be written: this file is that of "{other}". '
        "Move it, or name another folder (--out).",
    ),
    "snapshot-edited": (
        "aop catalog import が書いた形ではありません（道具は 1 つのはずです）。ファイルを移してください。",
        "this is not as aop catalog import writes it (one tool a file). Move the file away.",
    ),
}
"""By reason: (Japanese, English)."""
