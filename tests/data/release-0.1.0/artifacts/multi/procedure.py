"""月次の締め — compiled by aop. Do not edit."""

from aop_runtime import Mcp, Phase, Procedure

PROCEDURE = Procedure(
    name="月次の締め",
    phases=(
        Phase(
            number=1,
            title="集める",
            instructions=(
                "あなたは「集める」の担当エージェントです。手順に沿って進め、結果を簡潔に報告してください。\n"
                "\n"
                "【業務全体の説明】\n"
                "# 月次の締め\n"
                "\n"
                "締めの手順。\n"
                "\n"
                "【手順】\n"
                "請求書を集める。\n"
                "```text\n"
                "・金額は円で、税込み。\n"
                "```\n"
                "\n"
                "【使える道具】\n"
                "- slack の history（読むだけ）\n"
                "  - conversations_history（読む）: チャンネルの投稿を返す。\n"
                "  - conversations_replies（読む）: スレッドの投稿を返す。\n"
                "  - conversations_search_messages（読む）: 投稿を検索する。\n"
                "  - conversations_unreads（読む）: 未読の投稿を返す。\n"
                "  - attachment_get_data（読む）: 投稿に添えられたファイルの中身を返す。\n"
                "\n"
                "【決まり】使えるのは上の道具だけ。囲み（``` の間）の文は一字一句そのまま使い、要約も言い換えもしない。\n"
            ),
            tools=(
                Mcp(
                    "slack",
                    categories=("history",),
                    read_only=True,
                    operations=("conversations_history", "conversations_replies", "conversations_search_messages", "conversations_unreads", "attachment_get_data"),
                ),
            ),
        ),
        Phase(
            number=2,
            title="知らせる",
            instructions=(
                "あなたは「知らせる」の担当エージェントです。手順に沿って進め、結果を簡潔に報告してください。\n"
                "\n"
                "【業務全体の説明】\n"
                "# 月次の締め\n"
                "\n"
                "締めの手順。\n"
                "\n"
                "【手順】\n"
                "結果を送る。\n"
                "\n"
                "【使える道具】\n"
                "- slack の notify\n"
                "  - conversations_add_message（書く）: チャンネルかダイレクトメッセージに投稿する。スレッドへの返信もできる。\n"
                "  - channels_list（読む）: チャンネルの一覧を返す。\n"
                "  - users_search（読む）: 名前かメールアドレスで人を探す。\n"
                "\n"
                "【決まり】使えるのは上の道具だけ。囲み（``` の間）の文は一字一句そのまま使い、要約も言い換えもしない。\n"
            ),
            tools=(
                Mcp(
                    "slack",
                    categories=("notify",),
                    read_only=False,
                    operations=("conversations_add_message", "channels_list", "users_search"),
                ),
            ),
        ),
    ),
)

if __name__ == "__main__": PROCEDURE.main()
