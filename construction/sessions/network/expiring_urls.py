"""Detects URLs that act when opened: unsubscribe, reset, confirm, verify, sign-in links.

Probing such a URL could change something for the person in whose log it appears, or use up the
link. It is never requested and is reported as unverified.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, unquote

from construction.mentions.urls import parse_url


def _lexicon(words: str) -> frozenset[str]:
    return frozenset(words.split())


# A path segment acts if all its words are in these lists and one of them is an action.
_ALWAYS = _lexicon(
    "unsubscribe unsub optout unsubscription oneclick magiclink passwordless deactivate "
    "confirm reset 退订 取消订阅 重置密码 确认订阅 验证邮箱"
)
# These act only on an object ("verify-email") or with a token.
_WITH_OBJECT = _lexicon(
    "verify verification validate activate activation confirmation recover recovery forgot "
    "accept approve decline reject revoke cancel delete change set new otp magic "
    "验证 激活 确认 重置"
)
_OBJECTS = _lexicon(
    "email mail e address account user password passwd pwd pass subscription subscriptions "
    "newsletter list lists registration signup invite invitation link login signin device phone "
    "number identity membership mailing order booking appointment 邮箱 密码 账号 账户 订阅"
)
_FILLERS = _lexicon("me my your now the by via with to of from request click one opt out")
_PAIRS = (frozenset({"opt", "out"}), frozenset({"one", "click"}), frozenset({"magic", "link"}))
# A sign-in page is harmless; with a token in the URL it opens somebody's session.
_SIGN_IN = _lexicon(
    "login signin auth sso session sessions invite invites invitation join callback "
    "authenticate token tokens"
)
_TOKEN_KEYS = _lexicon("token code key otp ticket hash sig signature t k jwt nonce secret")
_TOKEN_OF = _ALWAYS | _WITH_OBJECT | {"invite", "login"}
_ACTION_KEYS = _lexicon("action do act cmd op mode task type event method")
_READING = _lexicon(
    "doc docs documentation blog blogs wiki article articles help kb guide guides learn news "
    "tutorial tutorials reference manual questions question posts post topics faq support "
    "issues pull blob tree"
)
_READING_HOSTS = _lexicon("doc docs wiki help learn developer developers kb")
_PAGE_TYPES = _lexicon("html htm php asp aspx jsp do cgi action")

_WORDS = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_TOKEN = re.compile(r"(?=[^0-9]*[0-9])[A-Za-z0-9_.=~-]{16,}")


def acts_when_opened(url: str) -> bool:
    """True if opening `url` would act (unsubscribe, reset, confirm, verify, sign in, accept).

    False for a file such as `reset.css`, an article about resetting or a page of documentation,
    unless the URL carries a token. Also false for a URL that cannot be parsed.
    """
    parsed = parse_url(url)
    if parsed is None:
        return False
    path, _, query = parsed.target.partition("?")
    segments = [unquote(segment) for segment in path.split("/") if segment]
    pairs = parse_qsl(query, keep_blank_values=True)
    token = any(_is_token_key(key) and value for key, value in pairs)
    if any(_query_acts(key, value) for key, value in pairs):
        return True
    about = parsed.host.split(".")[0] in _READING_HOSTS
    for index, segment in enumerate(segments):
        carried = token or any(_TOKEN.fullmatch(later) for later in segments[index + 1 :])
        if _segment_acts(segment, carried, about):
            return True
        about = about or segment.lower() in _READING
    return False


def _segment_acts(segment: str, token: bool, about: bool) -> bool:
    name, dot, extension = segment.rpartition(".")
    if dot and extension.lower() not in _PAGE_TYPES:
        return False
    words = _words(name if dot else segment)
    if not words:
        return False
    known = words <= _ALWAYS | _WITH_OBJECT | _OBJECTS | _FILLERS | _SIGN_IN
    if not known or (about and not token):
        return False
    if words & _ALWAYS or any(words >= pair for pair in _PAIRS):
        return True
    if words & _WITH_OBJECT:
        return token or bool(words & _OBJECTS)
    return token and bool(words & _SIGN_IN)


def _query_acts(key: str, value: str) -> bool:
    """True for parameters that act: `?unsubscribe=1`, `?action=confirm`, `?reset_token=…`."""
    words = _words(key)
    if words & _TOKEN_KEYS and words & _TOKEN_OF:
        return bool(value)
    if key.lower() in _ACTION_KEYS:
        return _segment_acts(value, token=False, about=False)
    return bool(words & {"unsubscribe", "optout", "oneclick"})


def _is_token_key(key: str) -> bool:
    return bool(_words(key) & _TOKEN_KEYS)


def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORDS.findall(_CAMEL.sub("-", text)))
