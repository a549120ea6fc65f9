"""Names as heads show them: of channels, and of people before a colon."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files

CHANNELS = frozenset(
    "slack discord telegram feishu lark wechat wecom weixin whatsapp signal imessage teams"  # noqa: SIM905
    " msteams dingtalk line matrix mattermost googlechat zalo qq email e-mail mail gmail outlook"
    " sms im webchat tui cli zoom irc 飞书 微信 企业微信 企微 钉钉 邮件 邮箱"
    " 电邮 短信 工单 群聊 私聊 飞书群 微信群 钉钉群 qq群".split()
)

_ZH: dict[str, str] = tomllib.loads(
    files("construction.sessions.wrappers").joinpath("names_zh.toml").read_text("utf-8")
)
_SURNAME = "|".join((*_ZH["compound_surnames"].split(), f"[{''.join(_ZH['surnames'].split())}]"))
_TITLE = "|".join(_ZH["titles"].split())
_HAN_NAME = re.compile(
    rf"(?:{_SURNAME})(?:[\u4e00-\u9fff]{{1,2}}(?:{_TITLE})?|{_TITLE})"
    r"|[小老阿][\u4e00-\u9fff]|[\u4e00-\u9fff]{1,8}·[\u4e00-\u9fff]{1,8}"
)
_HAN_LABELS = frozenset(_ZH["labels"].split())
_USER_ID = re.compile(r"(?:ou|on|U|W)_?[0-9a-f]{6,64}|U[0-9A-Z]{8,12}")
_LATIN_NAME = re.compile(r"[A-Z][\w.'-]{0,24}(?: [A-Z][\w.'-]{0,24}){0,2}")
# Words that often stand before a colon and are no names.
_LABELS = frozenset(
    "note notes update updates question questions summary task tasks todo goal goals"  # noqa: SIM905
    " context background reminder important warning urgent action actions fyi status result results"
    " input output example examples problem issue issues request requirement requirements title"
    " subject deadline format scope step steps plan report reports answer agenda topic attached"
    " attachment attachments files file link links source sources edit ps eta asap hint correction"
    " clarification decision proposal recap overview objective instructions details data error"
    " errors traceback exception https http please also first second third then finally"
    " next one two three yes no ok okay hi hello thanks team all everyone agent assistant"
    " from to cc bcc date sent re fw fwd time".split()
)


def is_name(text: str) -> bool:
    """If the words before a colon look like a person's name or id rather than a label."""
    if _USER_ID.fullmatch(text):
        return True
    if _LATIN_NAME.fullmatch(text):
        return text.split()[0].lower() not in _LABELS
    return text not in _HAN_LABELS and _HAN_NAME.fullmatch(text) is not None
