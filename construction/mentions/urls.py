"""URLs in the text of a session: finding, parsing and normalising them.

The text may be hostile: every function takes time linear in its input. None accesses the network.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import quote, unquote

import idna

from data.text.lexicon import pattern_of
from data.text.scripts import BOPOMOFO, CJK

# Letters of scripts written without spaces, where prose directly follows a URL; and the full-width
# forms of ASCII.
_CJK = CJK + BOPOMOFO
_WIDE = "\uff00-\uff65\uffe0-\uffef"
# "http" starts a new URL unless a delimiter before it makes it part of the current one.
_LETTER = rf"[^\W{_CJK}{_WIDE}hH]|[hH](?!ttps?://)|(?<=[/=:?&#+@%])[hH]"
# A run of CJK letters belongs to a path only if more path follows: "/下载/a.pdf", "/报告.pdf".
_CJK_INSIDE = rf"(?<=[/=_.-])[{_CJK}]++(?=[/&=_#?%-]|\.[A-Za-z0-9])"
_PLAIN = rf"(?:{_LETTER}|{_CJK_INSIDE}|[-._~:/?#@!$&*+,;=%]|'(?=[A-Za-z0-9]))"
# Brackets only in pairs, with one level of nesting; atomic groups keep matching linear.
_PAIR = rf"\((?>{_PLAIN}*)\)|\[(?>{_PLAIN}*)\]"
_BALANCED = rf"(?:{_PLAIN}|\((?>(?:{_PLAIN}|{_PAIR})*)\)|\[(?>{_PLAIN}*)\])"

# Literal patterns are more than ten times as fast as one pattern for all URL starts.
_SCHEME_END = pattern_of("://")
_WWW_ENDS = (pattern_of(r"ww\."), pattern_of(r"WW\."))
_NO_WWW_AFTER = frozenset("@/._-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_USER = pattern_of(r"(?>(?:[A-Za-z0-9\-._~!$&'()*+,;=:%]{0,256}+@){0,8})")
_HOST = pattern_of(rf"\[[0-9A-Fa-f:.]{{2,64}}+(?:%[\w.]{{1,32}}+)?\]|[\w.%{_CJK}-]{{1,260}}+")
_REST = pattern_of(rf"(?::[0-9]{{1,5}}(?![0-9]))?(?:[/?#](?>{_BALANCED}*))?")
_CJK_RUN = pattern_of(rf"[{_CJK}]+")
_CJK_AT = pattern_of(rf"[{_CJK}]")
_ENTITY = pattern_of(r"&(?:lt|gt|quot|#39|#x27|apos|nbsp);?")
_TRAILING = ".,;:!?'*_~&"

_PARTS = pattern_of(r"(https?)://([^/?#\\]*)([^#]*)", re.IGNORECASE)
_HOST_PORT = pattern_of(r"(\[[^\[\]]*\]|[^:\[\]]*)(?::([0-9]{0,5}))?")
_ASCII_LABEL = pattern_of(r"[a-z0-9_-]{1,63}")
_NUMBER = pattern_of(r"0[xX][0-9A-Fa-f]*|[0-9]+")
_ESCAPE = pattern_of(r"%[0-9A-Fa-f]{2}")
_SAFE = "/?%:@!$&'()*+,;=~[]|"
_DEFAULT_PORTS = {"http": 80, "https": 443}
_MAX_URL = 8192
_MAX_HOST = 253


@dataclass(frozen=True, slots=True)
class _UrlMention:
    """A URL as a client would request it, and its range [start, end) in the text."""

    url: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class WebUrl:
    """A parsed URL; `host` is ASCII (IPv6 without brackets), `target` is path and query."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def text(self) -> str:
        """The URL without credentials, fragment and default port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _DEFAULT_PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.target}"


def find_urls(text: str) -> tuple[_UrlMention, ...]:
    """Every http(s) URL in `text`, and every `www.` name as http, in order and with repeats.

    Full-width or CJK punctuation and CJK letters end a URL; but an internationalised host may
    contain CJK letters, and so may a path where more path follows them. Trailing punctuation is
    excluded, brackets belong to a URL only in pairs, `&amp;` is read as `&`.
    """
    if "://" not in text and "ww." not in text and "WW." not in text:
        return ()
    mentions: list[_UrlMention] = []
    position = 0
    for start, host_at, named in _openings(text):
        if start < position:
            continue
        end = _end_of_url(text, host_at, named)
        if end is None:
            continue
        position = end
        url = text[start:end].replace("&amp;", "&")
        if len(url) <= _MAX_URL:
            mentions.append(_UrlMention(url if named else f"http://{url}", start, end))
    return tuple(mentions)


def _openings(text: str) -> list[tuple[int, int, bool]]:
    """(start of the URL, start of its authority, whether a scheme is written) of possible URLs."""
    openings: list[tuple[int, int, bool]] = []
    for match in _SCHEME_END.finditer(text):
        at = match.start()
        for scheme in ("https", "http"):
            if text[max(0, at - len(scheme)) : at].lower() == scheme:
                openings.append((at - len(scheme), match.end(), True))
    for pattern in _WWW_ENDS:
        for match in pattern.finditer(text):
            at = match.start() - 1
            if at >= 0 and text[at] in "wW" and (at == 0 or text[at - 1] not in _NO_WWW_AFTER):
                openings.append((at, at, False))
    return sorted(openings)


def _end_of_url(text: str, start: int, named: bool) -> int | None:
    """The end of the URL whose authority begins at `start`; None if there is no host."""
    user = _USER.match(text, start) if named else None
    host = _HOST.match(text, user.end() if user else start)
    if host is None:
        return None
    length = _host_length(host.group())
    end = host.start() + length
    if length == 0 or text.startswith("://", end):
        return None
    if not named and text.count(".", host.start(), end) < 2:
        return None
    if length < len(host.group()):
        return end
    rest = _REST.match(text, end)
    if rest is None or rest.end() == rest.start():
        return end
    entity = _ENTITY.search(text, rest.start(), rest.end())
    return end + len(text[end : entity.start() if entity else rest.end()].rstrip(_TRAILING))


def _host_length(run: str) -> int:
    """The length of the host at the start of a run of host characters; 0 if there is no host.

    A CJK label belongs to the host if the host starts with one, if the host would have no dot
    without it, or if another label follows. CJK letters after ASCII ones are prose:
    "example.com这个".
    """
    if run.startswith("["):
        return len(run)
    length, dots, native = 0, 0, bool(_CJK_AT.match(run))
    labels = run.split(".")
    for index, label in enumerate(labels):
        cjk = _CJK_RUN.search(label)
        if cjk and cjk.start() and not native:
            kept = label[: cjk.start()].rstrip("-_")
            return length + (1 if index else 0) + len(kept) if kept else length
        more = index + 1 < len(labels) and labels[index + 1] != ""
        if cjk and not native and dots >= (3 if labels[0].lower() == "www" else 2) and not more:
            return length
        if not label:
            break
        length += len(label) + (1 if index else 0)
        dots += 1
    if native and dots < 2:
        return 0
    return len(run[:length].rstrip("-_"))


def parse_url(url: str) -> WebUrl | None:
    """Parse a URL as browsers do; None if no client could request it.

    Credentials and fragment are dropped, `\\` is read as `/`, the host is mapped by UTS #46 and
    encoded as ASCII, IPv4 addresses in any notation (octal, hex, short, one number, full-width
    digits) become dotted quads, and the path is percent-encoded UTF-8.
    """
    match = _PARTS.match(url.strip())
    if match is None or len(url) > _MAX_URL:
        return None
    scheme = match[1].lower()
    parts = _HOST_PORT.fullmatch(match[2].rpartition("@")[2])
    host = _ascii_host(parts[1]) if parts else None
    port = int(parts[2]) if parts and parts[2] else _DEFAULT_PORTS[scheme]
    if host is None or port > 65535:
        return None
    target = quote(match[3].replace("\\", "/"), safe=_SAFE, encoding="utf-8", errors="replace")
    target = _ESCAPE.sub(lambda escape: escape.group().upper(), target)
    parsed = WebUrl(scheme, host, port, target if target.startswith("/") else f"/{target}")
    return parsed if len(parsed.text) <= _MAX_URL else None


def normalise(url: str) -> str:
    """The form in which URLs are compared; a URL that cannot be parsed is only stripped."""
    parsed = parse_url(url)
    return parsed.text if parsed else url.strip()


def _ascii_host(raw: str) -> str | None:
    if raw.startswith("["):
        return _ipv6(raw[1:-1])
    text = unquote(raw)
    if len(text) > _MAX_HOST:
        return None
    try:
        mapped = idna.uts46_remap(text, std3_rules=False)
    except idna.IDNAError:
        return None
    labels = mapped.removesuffix(".").split(".")
    if _NUMBER.fullmatch(labels[-1]):
        return _ipv4(labels)
    encoded = [_ascii_label(label) for label in labels]
    host = ".".join(label for label in encoded if label is not None)
    return host if None not in encoded and len(host) <= _MAX_HOST else None


def _ascii_label(label: str) -> str | None:
    if not label.isascii():
        try:
            return idna.alabel(label).decode("ascii")
        except idna.IDNAError:
            return None
    return label if _ASCII_LABEL.fullmatch(label) else None


def _ipv6(text: str) -> str | None:
    try:
        address = ipaddress.IPv6Address(text)
    except ValueError:
        return None
    return None if address.scope_id else address.compressed


def _ipv4(parts: list[str]) -> str | None:
    """The dotted quad of one to four numbers, the last filling the rest (WHATWG URL, 3.5)."""
    if len(parts) > 4 or not all(_NUMBER.fullmatch(part) for part in parts):
        return None
    numbers = [_number(part) for part in parts]
    last = numbers.pop()
    if last is None or any(n is None or n > 255 for n in numbers):
        return None
    if last >= 256 ** (4 - len(numbers)):
        return None
    value = last + sum((n or 0) * 256 ** (3 - index) for index, n in enumerate(numbers))
    return str(ipaddress.IPv4Address(value))


def _number(text: str) -> int | None:
    """A number as inet_aton reads it: 0x is hexadecimal, a leading 0 octal; None if invalid."""
    digits, base = text, 10
    if text[:2] in ("0x", "0X"):
        digits, base = text[2:] or "0", 16
    elif len(text) > 1 and text.startswith("0"):
        base = 8
    try:
        return int(digits, base)
    except ValueError:
        return None
