"""How kanji are read, so that a word is found that was left in kana (`きんたい`) or turned into other kanji that are
read alike (`勤待`, `添附ファイル`) (T5, T6).

Readings as office words have them, of the kanji in the catalog's words and of those that they are mistaken for. A kanji
that is missing is only itself. Words are compared in the form of `words.loose`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from catalog.words import loose

_NONE: Final = frozenset[str]()
_VOICED: Final = dict(
    zip(
        "カキクケコサシスセソタチツテトハヒフヘホ",
        (*"ガギグゲゴザジズゼゾダヂヅデド", "バパ", "ビピ", "ブプ", "ベペ", "ボポ"),
        strict=True,
    )
)
"""How the first kana of a reading changes behind another one: `てん` and `ふ` are `てんぷ`."""

_READINGS: Final = """
あ 合 あい 相間合 あがり 上 あきらか 明 あず 預 あたい 値価 あつ 圧 あと 後跡 あな 穴 あやま 誤謝 あわ 併合 あん 案安暗
い 位医委異意依移以遺 いき 域 いく 育 いち 一 いつ 一逸 いれ 入 いん 員印引院因音 う 受請売有打 うけ 受請 うち 打
うつ 打移写 うり 売 うん 運 え 絵恵会 えい 営映英永影 えき 益役易駅 えつ 閲謁越 えん 演援円園遠延 お 置終 おう 応押往横
おき 置 おく 送億憶 おこ 起 おさ 収納修 おし 教押 おと 音 おぼえ 覚 おん 音温
か 化価加科課貨過仮何荷箇果家花掛替買書暇稼下 かい 会回改解界介開快械階絵買 かえ 替返換 かかり 係掛 かき 書
かく 確各画格核較拡覚獲 かけ 掛 かこ 囲 かず 数 かた 型形方片 かち 勝 かつ 活割括 かね 金 から 空 かり 借仮 かわ 代換
かん 管間関監環完換勘観巻漢感館簡看歓鑑慣幹 が 画我賀 がい 外害概街該 がか 掛 がく 額学楽 がた 型 がつ 月 がん 元願岩
き 期機記気起帰企規基器既希季紀危貴寄棄軌来切 きき 聞 きく 聞 きめ 決 きゃく 客却脚 きゅう 給休求急究救級球旧
きょ 許去拠居巨挙 きょう 共境強教協競供況業興胸 きょく 局極 きり 切 きん 勤金禁緊近均筋謹 ぎ 議義儀技疑犠偽 ぎょう 業行
ぎん 銀吟 く 区苦繰組句口工 くう 空 くち 口 くみ 組 くり 繰 ぐ 具 ぐち 口 け 家 けい 計経系契形警係型掲継敬軽景
けつ 決結欠血潔 けん 件検権見券険研験県健剣圏倹顕 げ 下 げい 芸迎 げき 激劇 げつ 月 げん 現原源限言減元厳験
こ 個古固庫呼己雇込顧箇 こう 公工口好効向構高校考交行項購講興広稿口航港候控更功鋼 こえ 越声 こく 告国刻 こと 事 こみ 込
こん 今混婚懇 ご 後誤語護互御 ごう 号合業 ごと 毎 ごみ 込 ごん 言 さ 差査作座左 さい 際最再済採債細催祭裁歳災才斉
さか 坂 さき 先 さく 作索策削昨 さくら 桜 さつ 札刷察冊撮 さん 算産参散賛三 ざ 座 ざい 財在材剤罪 ざん 残
し 司試資指支使始仕士史子止死視紙市私師姿示氏次自旨施志誌至刺 しき 式識織 した 下 しつ 質室失執 しな 品 しめ 締
しゃ 社者車写射謝舎 しゃく 借釈 しゅ 種主手取守酒首趣 しゅう 集収修終就周習週秋衆州 しゅつ 出 しゅん 春瞬
しょ 書所処署初諸暑庶 しょう 証商章賞承照紹象小障詳少傷省勝昇将消性称償招 しょく 職色食植織 しら 調 しらべ 調 しるし 印
しん 申信新進審深診心真親臣振針森神身 じ 事時字自持治示次寺地 じき 直 じつ 日実 じみ 染 じゃく 弱 じゅ 受授需寿
じゅう 従重充住十銃 じゅつ 術述 じゅん 順巡準純 じょ 除助女序 じょう 情上状場常条乗定浄城 じょく 辱 じん 人仁陣尽
す 素数 すい 推水出遂 すう 数 すべ 全 ず 図数 ずみ 済 せ 世施 せい 請整正生成性制製精清世政姓声静勢
せき 席責績積析籍跡石 せつ 設説接節切 せん 先選線専占戦宣千泉遷 ぜい 税脆 ぜつ 絶 ぜん 全前然善 そ 組素訴
そう 総送想操相層窓双走装早争 そく 速測則足即息 そん 損存孫尊 ぞう 像増造象蔵贈 ぞく 属続族 た 他多田打立
たい 怠待態対体退帯隊滞代替貸 たか 高 たく 託宅択 たち 立 たて 立建 たの 頼 たび 旅 たん 担単探短端 だ 打出
だい 代題台大第 だし 出 だん 談断団段 ち 知値地置治遅血 ちく 蓄築 ちゃく 着 ちゅう 注中抽虫忠昼 ちょ 貯著
ちょう 調帳長張徴超頂町直重 ちょく 直捗 ちん 賃 つ 付着 つい 追対 つう 通 つき 月付 つぎ 次継 つけ 付 つづき 続 つみ 積
つも 積 つもり 積 づけ 付 て 手 てい 定程提低停訂締底体 てき 適的 てつ 徹撤哲鉄 てん 添転点店展伝天 でん 電伝田
と 登図取都徒渡 とい 問 とう 当答投統討頭党東登踏湯透 とき 時 とく 特得督徳 とど 届 とどけ 届 とも 共友 とり 取鳥
とん 問 ど 度土 どう 動働同導堂道童 どく 読独 どり 取 ない 内 なか 中 なが 流長 ならび 列並 なん 何 に 荷二 にち 日
にゅう 入乳 にん 認人任 ね 値音 ねん 年念 のう 能納農 のぞ 望 のぞみ 望 のり 乗 は 把波派 はい 配背廃拝 はいり 入
はく 白博 はこ 箱 はたら 働 はつ 発 はなし 話 はら 払 はらい 払 はん 判販版半班汎範反 ば 場 ばい 売買倍 ばらい 払
ばん 番盤版板 ひ 費非比否秘被避 ひかえ 控 ひき 引 ひと 人 ひび 日 ひま 暇 ひょう 表票評標憑 ひん 品貧 び 備 びき 引
びょう 秒病 びん 便 ふ 不付附布夫扶負普符府 ふう 封風 ふく 複復服福 ふり 振 ふん 分 ぶ 部分無 ぶつ 物 ぶり 振 ぶん 文分
へい 併閉平並 へん 変編返片偏辺 べつ 別 べん 弁便 ほ 保補歩 ほう 報法方訪包放宝 ほか 他 ほし 星 ほり 掘 ほん 本
ぼ 簿募墓 ぼう 忘望防房 まえ 前 まかせ 任 まち 町待 まつ 末 まど 窓 まね 招 まわ 回 み 見未実身 みつ 密見 みなお 直
む 務無 むかし 昔 むね 旨 め 目 めい 名明命迷盟 めん 面免 も 持 もう 申網 もうし 申 もく 目 もち 持 もと 元基 もの 物者
もり 盛 もん 問門文 や 屋矢 やく 役約訳益薬 やす 休 やすみ 休 ゆう 有友優誘郵 ゆび 指 よ 予与預余 よう 用要様養容洋葉曜
よこ 横 よび 呼 よみ 読 より 寄 らい 来頼礼雷 らく 絡落楽 らん 覧欄乱 り 理利離履里裏 りつ 率立律 りゃく 略
りゅう 流留立 りょ 旅慮 りょう 料領了量両療良 りょく 力 りん 稟臨林輪 るい 類累 れい 礼例令励 れき 歴暦 れつ 列
れん 連練恋 ろう 労郎老浪 ろく 録六緑 わ 話和 わく 惑枠 わけ 訳分 わた 渡
"""


def read_alike(query: str, word: str) -> bool:
    """Whether `word` may be read as `query` is: some of its kanji stand there in kana, or others that are read alike,
    but not others for all of them."""
    return any(_ways(query, word, kept=False))


def first_sounds(word: str) -> frozenset[str]:
    """The kana that `word` may begin with, read; its first character where that has no readings."""
    return frozenset(reading[0] for reading in _readings(word[0])) or frozenset(word[0])


def _ways(query: str, word: str, *, kept: bool) -> Iterator[bool]:
    """Each way to read both alike. `kept`: whether a kanji was the same, or in kana."""
    if not word or not query:
        if not word and not query:
            yield kept
        return
    readings = _readings(word[0])
    if word[0] == query[0]:
        yield from _ways(query[1:], word[1:], kept=kept or bool(readings))
        return
    for reading in readings:
        voiced = (first + reading[1:] for first in _VOICED.get(reading[0], ""))
        if query.startswith((reading, *voiced)):
            yield from _ways(query[len(reading) :], word[1:], kept=True)
    if not _heard(word[0]).isdisjoint(_heard(query[0])):
        yield from _ways(query[1:], word[1:], kept=kept)


def _readings(character: str) -> frozenset[str]:
    return _table().get(character, _NONE)


@lru_cache(maxsize=1024)
def _heard(kanji: str) -> frozenset[str]:
    """Its readings without the long vowel at the end, which is soon misheard: `書`, `証`."""
    found = _readings(kanji)
    return frozenset(reading[:-1] if len(reading) > 1 and reading[-1] == "ウ" else reading for reading in found)


@lru_cache(maxsize=1)
def _table() -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    words = _READINGS.split()
    for reading, kanji in zip(words[::2], words[1::2], strict=True):
        for each in kanji:
            found.setdefault(each, set()).add(loose(reading))
    return {kanji: frozenset(readings) for kanji, readings in found.items()}
