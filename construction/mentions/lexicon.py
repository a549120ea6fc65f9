"""The words around a file name that show whether the file is given or requested.

Each word or phrase has one role; `mentions.intent` reads the roles from left to right.
"""

from __future__ import annotations

from enum import IntEnum, auto

from data.text.lexicon import load_table
from data.text.numerals import NUMBER_WORDS


class Cue(IntEnum):
    GIVE = auto()  # its object exists: read, check, update; also "I have", "attached"
    MAKE = auto()  # it creates its object: write, create
    STORE = auto()  # it saves a result: save, export
    CONVERT = auto()  # its object exists, its target does not: convert, rename, merge
    RESULT = auto()  # a noun for the requested result: the output, the deliverable
    PAST = auto()  # made or stored already: wrote, saved
    WISH = auto()  # "add", "need": a new file with an indefinite article, otherwise unclear
    ASK = auto()  # explain, what: an existing file, or knowledge about a kind of file
    SOURCE = auto()  # of, from, using
    BESIDE = auto()  # "and" or "with" in Chinese: the next of a list of results, or a source
    ABOUT = auto()  # for, with: as SOURCE, but what follows "a plan with costs in" may be the plan
    TARGET = auto()  # as, into
    NAMED = auto()  # called, named
    PLACE = auto()  # to: the verb decides
    INSIDE = auto()  # in: the verb decides
    FINAL = auto()  # verb and target in one word: "save-to" in Chinese
    NOT = auto()
    EXAMPLE = auto()
    INDEFINITE = auto()
    THE = auto()  # makes the next word a noun
    YOU = auto()
    SELF = auto()  # somebody else's doing, or done: "I saved", "was saved"
    JOIN = auto()  # a further verb may follow
    DONE = auto()  # "already" in Chinese: what follows has been made or stored
    CLAUSE = auto()  # as JOIN, and ends the reach of a "not"
    LIST = auto()  # as JOIN: a comma after the name of a file
    FILE = auto()  # the name of another file
    OTHER = auto()  # any other word


def _words(listed: str) -> list[str]:
    return listed.split()


def _present(verbs: str) -> list[str]:
    """Base, -s and -ing forms; the past has a role of its own."""
    forms = []
    for verb in verbs.split():
        stem = verb[:-1] if verb.endswith("e") else verb
        forms += [verb, verb + "s", verb + "es", stem + "ing", verb + verb[-1] + "ing"]
    return forms


def _past(verbs: str) -> list[str]:
    return [
        form
        for verb in verbs.split()
        for form in (verb.removesuffix("e") + "ed", verb + verb[-1] + "ed")
    ]


def _phrases(listed: str) -> list[str]:
    return listed.split("|")


_ENGLISH = {
    Cue.GIVE: [
        *_present(
            "read open load parse use review analyze analyse summarize summarise examine inspect "
            "study import process compare fix edit update modify refactor debug proofread "
            "polish run execute test clean check verify validate see view consult attach upload "
            "share count find search look reformat rewrite revise improve correct shorten simplify "
            "annotate visualize visualise plot chart audit reconcile tail cat grep "
            "digest skim follow apply adjust amend fill finish complete continue delete remove "
            "append commit optimize optimise document deploy diff patch lint format sort filter "
            "dedupe highlight comment take paste evaluate assess query"
        ),
        *_past("attach upload share provide receive drop summarize update review check use load"),
        *_words(
            "has have having got given sent here heres input inputs attachment attachments source "
            "sources existing enclosed latest there forgot original"
        ),
        *_phrases(
            "look at|make changes|make edits|make corrections|make sure|make use|dont forget|"
            "work on|working on|take a|is in|are in|its in|built from|made from|created from|"
            "generated from|break down"
        ),
    ],
    Cue.MAKE: [
        *_present(
            "write create generate make produce build draft compose author deliver render design "
            "prepare scaffold return emit draw sketch record"
        ),
        *_phrases("give me|send me|hand me|new file|new script|new document|end up"),
        *_phrases("send a|send an|send email|send emails|drop a|drop me|jot down|give some"),
    ],
    Cue.STORE: [
        *_present("save export store dump print redirect"),
        *_phrases("results go|result goes|output goes|write to|write it|write them|put it"),
        *_phrases("put them|put the|put all|put your|place the|place it|writing to"),
        *_phrases("put everything|put both|put this|put these|put that|put those"),
    ],
    Cue.RESULT: [
        *_words("output outputs outputting deliverable deliverables"),
        *_phrases("result file|output file|output files"),
    ],
    Cue.CONVERT: _present(
        "convert turn transform translate rename copy move split merge combine compile extract "
        "transcribe put place send compress package bundle consolidate transfer change duplicate "
        "organize organise arrange divide separate distribute group collect gather"
    ),
    Cue.PAST: [
        *_past("save export store dump generate create produce draft compose author prepare"),
        *_past("output render convert rename merge"),
        *_words("wrote written made built copied"),
    ],
    Cue.WISH: [
        *_phrases("should have|must have|will have|would have|should contain"),
        *_phrases("be a|be an"),
        *_words("add adding adds need needs want wants like include including needed"),
    ],
    Cue.ASK: [
        *_phrases("which is|which of"),
        *_present("explain describe"),
        *_words("what whats why how difference differences"),
    ],
    Cue.FINAL: _phrases("be called|be named|be titled"),
    Cue.SOURCE: [
        *_words("of from using via per against following inside within over through"),
        *_phrases("based on|according to|formatted like|look like|looks like|similar to|same as"),
        *_phrases("just like|out of|as in"),
    ],
    Cue.ABOUT: _words("for with about regarding concerning on"),
    Cue.TARGET: ["as", "into"],
    Cue.NAMED: _words("name named called titled filename entitled"),
    Cue.PLACE: _words("to at under"),
    Cue.INSIDE: ["in"],
    Cue.NOT: [
        *_words(
            "not dont havent hasnt hadnt never without ignore skip exclude except excluding "
            "cannot cant wont"
        ),
        *_words("ignoring skipping doesnt didnt avoid"),
        *_phrases("instead of|rather than|no need|other than"),
    ],
    Cue.EXAMPLE: _phrases("for example|for instance|such as|something like|files like|e g|eg"),
    Cue.INDEFINITE: _words("a an any some another"),
    Cue.THE: _words("the this these those your our its their his her my"),
    Cue.YOU: ["you", "youve"],
    Cue.SELF: _words("i ive we weve he she they was were been is are already"),
    Cue.JOIN: _words(
        "and then or that which who please also plus by when after before while so can could "
        "should must will would lets help once if where"
    ),
    Cue.CLAUSE: _words("but just only"),
    Cue.OTHER: _phrases("word document|word documents|pdf document|text document|excel document"),
}

_MAKE_ZH = _words("写 做 生成 创建 新建 制作 产出 撰写 起草 编写 建立 绘制 出 产生 构建 设计 整理")
_STORE_ZH = _words("保存 导出 输出 存储 存 另存 放")
_CONVERT_ZH = _words("转换 转 翻译 合并 重命名 改名 拆分 汇总 打包 压缩 归档 复制 移动 拷贝 命名")
_MEASURES = "个份张篇套条页段"
_COUNTING = "两三四五六七八九十几多每这那各哪上下整百千数俩"

_COMPOUNDS = load_table(__package__, "compounds.toml")

_CHINESE = {
    Cue.GIVE: _words(
        "读取 读 打开 查看 看 看看 看一下 看下 分析 检查 审核 审阅 校对 总结 概括 修改 更新 编辑 "
        "修复 完善 润色 "
        "对比 比较 核对 比对 提取 统计 解析 处理 导入 加载 运行 执行 使用 见 参见 详见 附件 附上 "
        "附了 上传 上传了 "
        "已上传 发了 发给你 发你 发过来 传了 给你 给了 这是 我有 有个 有一份 有一个 现有 已有 "
        "原始 输入 素材 资料 "
        "源文件 别忘了 不要忘 不要忘了 别忘 补充 补全 填写 填 改一下 改 调试 优化 重构 测试 预览 "
        "下载 收到 拿到 "
        "标注 筛选 清洗 去重 排序 删除 追加 阅读 浏览 研读 识别 转写 听写 对照 排查 审查 修正 "
        "整理一下"
    ),
    Cue.MAKE: [*_MAKE_ZH, "给我", "发我", "返回", "交付"],
    Cue.STORE: _STORE_ZH,
    Cue.RESULT: ["结果文件", "交付物", "产出物", "产物", "输出文件"],
    Cue.CONVERT: _CONVERT_ZH,
    Cue.PAST: [
        verb + end
        for verb in (*_MAKE_ZH, *_STORE_ZH)
        for end in ("了", "好了", "完了", "的", "好的", "完的", "出来的")
    ],
    Cue.WISH: _words("加 添加 加上 增加 需要 想要 要 提交"),
    Cue.ASK: _words("解释 什么是 区别 什么 为什么 介绍 说明"),
    Cue.SOURCE: _words(
        "从 用 把 将 对 根据 基于 依据 按照 按 参考 参照 依照 以 关于 针对 结合 利用 通过 给"
    ),
    Cue.BESIDE: _words("和 与 跟"),
    Cue.NAMED: _words("名为 名叫 叫做 叫 文件名 文件名是 文件名为 取名 起名"),
    Cue.PLACE: ["到"],
    Cue.INSIDE: ["在"],
    Cue.FINAL: [
        *(verb + to for verb in (*_STORE_ZH, *_CONVERT_ZH, *_MAKE_ZH) for to in "到为成在进入至"),
        *_words(
            "拼成 画成 制成 合成 译成 排成 剪成 切成 拆成 打成 填成 "
            "改名为 改成 写进 写入 记录到 记到 更名为 取名为 起名为 起名叫 变成 填到 发送到 "
            "文件名用 文件名就用 文件名就叫 名字用 名字就叫 命名用"
        ),
    ],
    Cue.NOT: _words(
        "不要 别 勿 请勿 无需 不用 不需要 不必 忽略 跳过 排除 除了 没有 而不是 不是 不能 不会 "
        "不想 并非 不可 禁止"
    ),
    Cue.EXAMPLE: _words("例如 比如 譬如 诸如 类似 如 这类 这种 此类 之类 一类"),
    Cue.INDEFINITE: _words("一个 一份 一张 一篇 一套 个 份 任何 某个 某 任意"),
    Cue.THE: [number + measure for number in _COUNTING for measure in _MEASURES],
    Cue.YOU: ["你", "您"],
    Cue.SELF: ["我", "我们", "他", "她", "咱们", "他们"],
    Cue.JOIN: _words("如果 如何 如下 如图 如此 假如 如有 如上"),
    Cue.DONE: _words("已 已经 早就"),
    Cue.CLAUSE: _words("但 但是 而 然后 再 接着 最后 并 并且 只"),
    Cue.OTHER: _words(_COMPOUNDS["words"]),
}


def _table(cues: dict[Cue, list[str]]) -> dict[str, Cue]:
    # A form listed under two roles has the first of them.
    return {word: cue for cue, words in reversed(cues.items()) for word in words}


MEASURES = frozenset(_MEASURES)
NUMBERS = frozenset(word for word, number in NUMBER_WORDS.items() if 1 <= number <= 12)
# Verbs that are nouns or adjectives after an article: "a clean one-page document".
NOUNS_TOO = frozenset(
    _words(
        "document chart plot audit review update draft design export print dump patch test check "
        "edit comment query study process view count search look share filter diff format sort "
        "clean complete finish correct package bundle compile extract split transfer report "
        "documents charts plots reviews updates drafts designs exports tests checks comments "
        "queries views counts extracts reports"
    )
)

ENGLISH = _table(_ENGLISH)
CHINESE = _table(_CHINESE)
# The length of the longest word that begins with a character.
LONGEST_CHINESE = {word[0]: len(word) for word in sorted(CHINESE, key=len)}
