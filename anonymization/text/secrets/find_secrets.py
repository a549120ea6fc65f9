"""Secrets in text: by form, by the name of what they are assigned to, and drawn at random.

Named are assignments, settings, flags, headers and `the password is …`. Unnamed are random
characters in the middle of a text; a UUID is a secret only in a sentence in which someone hands it
over, else it is an identifier.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from anonymization.text.contracts import EntityType, Finding
from anonymization.text.secrets.by_form import (
    find_armoured,
    find_infixed,
    find_kubernetes,
    find_prefixed,
)
from anonymization.text.secrets.evidence import (
    NAMES,
    PASSWORDS,
    claims_a_family,
    entropy,
    hands_over,
    has_inner_numbers,
    has_name_before,
    has_uuid,
    is_example,
    is_gibberish,
    is_hexadecimal,
    is_mixed,
    is_placeholder,
    is_public_name,
    is_random,
    is_scattered,
    is_uuid,
    is_wild,
    line_after,
    line_before,
    names_a_hash,
    repeats_label,
)
from anonymization.text.secrets.of_commands import find_of_commands
from data.text.folding import lower_in_place
from data.text.lexicon import load_table
from data.text.scripts import HAN

_WORDS = load_table(__package__, "words.toml")
_NAMED_SCORE = 0.85
_LEFT = re.compile(r"[a-z0-9_.\-]{0,40}\Z")
_RIGHT = re.compile(r"[a-z0-9_.\-]{0,40}")
# What may occur between a name and its value, in lower-case text. Every gap is bounded.
_LINK = re.compile(
    r"""(?P<close>\\{0,3}["'`\])}]{0,3})
    (?:
      [ \t]{0,8}(?::?[ ]?(?:string|str|\[\]byte)[ ]{0,2})?
        (?:[:=?.|+!]{0,3}[:=]>?|[-=]>|[：＝])\s{0,20}(?:os\.environ\.setdefault\()?
      | ,\s{0,8}(?=\\{0,3}["'])
      | \s{1,4}value\s?=\s?(?=["'])
      | [^<>\n]{0,60}>\s{0,20}
      | \\{0,3},?\s{1,20}(?:-[ ]?)?\\{0,3}["']?value\\{0,3}["']?\s?[:=]\s?
      | \s{1,4}(?:[a-z]{1,12}\s){0,4}(?:is|was|are|to|as|with|be|:|=)[:\s]{1,4}
      | \s{1,4}(?:[a-z]{1,12}\s){0,3}[a-z]{1,12}[:：]\s{1,4}
      | \s{0,4}(?:[是为為：:]|就是|改成|设为){1,2}[\s:：]{0,3}
      | (?P<space>[ \t]{1,4})
    )
    (?P<scheme>\\{0,3}["']?(?:bearer|basic|token|apikey|api-token|api-key|sso-key|bot)\s{1,4})?
    (?P<open>\\{0,3}(?:[brful]?["'`]{1,3}|<!\[cdata\[|[“「『])?)""",
    re.VERBOSE,
)
_QUOTED = re.compile(r"[^\s\"'`\\<>”」』]{4,400}")
_UNQUOTED = re.compile(r"[^\s\"'`\\<>,;(){}\[\]|&，。；、！？（）【】《》“”]{4,400}")
# After a space `&` joins no parameters.
_SPOKEN = re.compile(_UNQUOTED.pattern.replace("|&", "|"))
_TRAILING = ".:!?*…"
_COMPUTED = re.compile(r"[$#]\{[^}]*\(")
_ENDED = re.compile(r"[，。；、,;]")  # a mark ends the clause, so that `!` before it is the value's
_CODE_AFTER = re.compile(r"[(\[{]|\s{0,3}(?:\(|=>|\?\s)")
_PATH = re.compile(r"(?:[a-z]{1,10}:/)?/|\.{1,2}/|~/|[a-z]:\\")
_FILE = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,4}$")
_DATE = re.compile(r"[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}|[0-9]{1,3}(?:\.[0-9]{1,4}){2,3}")
# Words with a number behind them, joined: `prod-db-2`, `service.account1`.
_IDENTIFIER = re.compile(
    r"(?:[A-Za-z]+[0-9]{0,4}|[0-9]{1,4})(?:[-_./:](?:[A-Za-z]+[0-9]{0,4}|[0-9]{1,4}))*"
)
_MORE_WORDS = re.compile(r" [A-Za-z]|\(")  # what a type or a sentence goes on with
_SYMBOLS = frozenset("!@#$%^&*~?+")
_LONG_NUMBER = 14
_SHORT_TOKEN, _SHORT_PASSWORD = 8, 6


def _find_named(text: str, folded: str) -> Iterator[Finding]:
    """Values of names such as `password`, `api_key`, `--token`, `密码`."""
    done = 0
    for hit in NAMES.finditer(folded):
        if hit.start() < done:
            continue
        span = _value(text, folded, hit)
        if span:
            done = span[1]
            yield Finding(*span, EntityType.SECRET, "secret.named", _NAMED_SCORE)


def _value(text: str, folded: str, hit: re.Match[str]) -> tuple[int, int] | None:
    name, end = _whole_name(folded, hit)
    if is_public_name(name):
        return None
    link = _LINK.match(folded, end)
    if link is None or (link["space"] and not _takes_a_space(name)):
        return None
    start = link.end()
    spoken = _SPOKEN if text[start - 1 : start].isspace() else _UNQUOTED
    match = (_QUOTED if link["open"] else spoken).match(text, start)
    if match is None:
        return None
    value = match.group()
    if not link["open"] and not _ENDED.match(text, match.end()):
        value = value.rstrip(_TRAILING)
    stop = start + len(value)
    if not link["open"] and (_CODE_AFTER.match(text, stop) or _TAG.fullmatch(value)):
        return None
    algorithm = _HASH.match(text, start, stop)
    start = algorithm.end() if algorithm else start
    cookie = _COOKIE.match(text, start, stop) if link["open"] else None
    if cookie and NAMES.search(cookie["name"].lower()):  # its name is what a program reads
        start, stop = cookie.span("v")
        value = cookie["v"]
    return (start, stop) if _is_secret(name, value, text[stop : stop + 3]) else None


def _whole_name(folded: str, hit: re.Match[str]) -> tuple[str, int]:
    """The identifier around a hit, and its end."""
    prefix = _LEFT.search(folded[max(0, hit.start() - 40) : hit.start()])
    suffix = _RIGHT.match(folded, hit.end())
    before = prefix.group() if prefix else ""
    after = suffix.group().rstrip(".-") if suffix else ""
    return before + hit.group() + after, hit.end() + len(after)


def _takes_a_space(name: str) -> bool:
    """Is the name a flag (`--token x`), an npm setting or `Bearer x`?"""
    return name.startswith(("-", "_auth")) or name in ("bearer", "password", "token")


# A user and a password in two lines of settings, whatever the password is.
_OF_SETTINGS = re.compile(
    r"(?im)^[ \t]{0,40}(?:[\w.-]{1,60}[._-])?(?:user(?:[_-]?name)?|name|login|account)"
    r"(?P<mark>: |[ \t]?=[ \t]?)[^\s\"'`$<>{}(),;]{2,64}[ \t]*\r?\n"
    r"[ \t]{0,40}(?:[\w.-]{1,60}[._-])?pass(?:word|wd)?(?P=mark)"
    r"(?P<v>[A-Za-z0-9][^\s\"'`$<>{}(),;]{3,63})(?=[ \t]*\r?$)"
)
_NO_PASSWORDS = frozenset(_WORDS["no_passwords"])


def _find_of_settings(text: str) -> Iterator[Finding]:
    for match in _OF_SETTINGS.finditer(text):
        value = match["v"]
        if not is_placeholder(value) and value.lower() not in _NO_PASSWORDS:
            yield Finding(*match.span("v"), EntityType.SECRET, "secret.named", _NAMED_SCORE)


_OF_MAIL = ("address", "addr", "mail", "from")


def _is_secret(name: str, value: str, rest: str) -> bool:
    if _COMPUTED.search(value) or _DIGEST.search(value):
        return False  # a template that a program fills in, perhaps with drawn characters; an image
    if is_placeholder(value) or _PATH.match(value.lower()) or _DATE.match(value):
        return False
    if name.endswith(_OF_MAIL) and "@" in value:
        return False  # where a letter about a password comes from
    if repeats_label(name, value):
        return False
    if any(word in name for word in PASSWORDS):
        in_han = not name.isascii() and not _MORE_WORDS.match(rest)
        return _is_password(value, in_han) or "cleartext" in name
    if claims_a_family(value):
        return False
    if len(value) < _SHORT_TOKEN or _FILE.search(value):
        return False
    if _IDENTIFIER.fullmatch(value) and not is_hexadecimal(value):
        return value.isdigit() and len(value) >= _LONG_NUMBER
    if value.isdigit():
        return len(value) >= _LONG_NUMBER
    return is_uuid(value) or is_hexadecimal(value) or _is_likely(value)


def _is_likely(value: str) -> bool:
    """Is it random enough for a value with a name?"""
    return is_random(value) or (is_mixed(value) and is_gibberish(value))


def _is_password(value: str, in_han: bool) -> bool:
    """Is it like a password? After a Chinese name (密码) a Western word is enough."""
    if len(value) < _SHORT_PASSWORD:
        return False
    if value.isdigit() or is_mixed(value) or is_wild(value):
        return True
    if in_han and value.isascii() and value.isalpha():
        return True
    letters = any(map(str.isalpha, value))
    return letters and value.isascii() and any(char in _SYMBOLS for char in value[1:])


_WITH_NAME, _WITHOUT_NAME = 0.75, 0.6
# A run of the characters of base64 and its URL-safe kin; `=` closes it or stands between two of
# them. Letters such as `ü` make it part of a word.
_CHAR = r"[A-Za-z0-9_+/.~\-]"
_RUN = re.compile(
    rf"(?<![A-Za-zÀ-ɏ0-9_+/.~%\\@#&=\-])(?:{_CHAR}|=(?={_CHAR})){{14,}}={{0,2}}(?![À-ɏ])"
    rf"|(?<==){_CHAR}{{14,}}={{0,2}}(?![À-ɏ])"
)
# A password of all four kinds of characters, or a user and one: `svc:aB3…!`.
_MARKS = "!@#$%^&*?~"
_SPOKEN_MARKS = "!?*~"  # at the end they close a sentence
_PASSWORD = re.compile(
    r"(?<![A-Za-zÀ-ɏ0-9_+/.~%\\@#&=:\-])(?:[A-Za-z][A-Za-z0-9_.\-]{0,23}:|:)?"
    rf"(?P<own>[A-Za-z0-9][A-Za-z0-9_.+-]{{0,37}}[{_MARKS}][A-Za-z0-9{_MARKS}_+&-]{{0,30}})"
    r"(?![A-Za-zÀ-ɏ0-9_/=(\[{<>\\|\-])"
)
_DIGEST = re.compile(r"@sha256:[0-9a-f]{64}\Z")
_SIGNED = re.compile(r"[;\s]bh?=[a-z0-9+/=\s]*$")
_LONGEST_SIGNATURE = 600  # characters
_PORT = re.compile(r"\d{2,5}/")
_HOST_BEFORE = re.compile(r"://[^\s/@]{1,72}:$")
_LONGEST_HOST = 80  # characters
_POINTER = re.compile(r"0[xX][0-9a-fA-F]{4,16}")
_TAG = re.compile(r"[a-z]{1,2}=[a-z0-9-]{1,16}")  # of a signature in a mail's head: `a=rsa-sha1`
# A cookie as a whole: `session-token=8d1c…;`.
_COOKIE = re.compile(r"(?P<name>[A-Za-z_][\w.-]{2,40})=(?P<v>[^=;,]{6,400});?")
_HASH = re.compile(r"(?:SHA(?:1|256|384|512)|MD5):(?=[0-9A-Za-z+/:]{16})")  # says how it is made
# A short token of all three kinds of characters; only where somebody hands it over.
_SHORT_RUN = re.compile(
    r"(?<![A-Za-zÀ-ɏ0-9_+/.~%\\@#&=:\-])[A-Za-z0-9]{10,13}(?![A-Za-zÀ-ɏ0-9_+/~%\\@#&=(\[{<\-]|\.\w)"
)
_MIN_PASSWORD = 9
_MAX_LENGTH, _MIN_ENTROPY, _MIN_NUMBER_ENTROPY = 200, 2.8, 2.4
_MIN_NUMBER = 16
_SEPARATORS = re.compile(r"[-_.~]")
_MIN_PART, _MIN_CORE = 8, 11  # characters between separators; names of models have fewer
_MIN_DOTTED, _MOST_DOTS = 10, 2
_OPEN_IDS: tuple[str, ...] = tuple(_WORDS["open_ids"])
_WORD = re.compile(rf"(?<![\w./\\=(\[{{<-])[A-Za-z]{{1,15}}(?![\w/\\=(\[{{>-])|[{HAN}]{{2}}")
_MIN_WORDS = 3
# Parts of a value that SOPS has encrypted: it opens nothing without its key.
_SEALED = re.compile(r"enc\[aes256_gcm,(?:[a-z]{2,4}:[^,\]]{0,4000},){0,3}[a-z]{2,4}:$")
_SEALED_REACH = 4_400


# Before a fingerprint, which anybody may know.
_HASHED = re.compile(r"(?<![a-z])(?:sha-?\d{1,3}|md5|fingerprints?|thumbprint)[ \t:=]{1,4}\Z")


def _find_bare(text: str, folded: str) -> Iterator[Finding]:
    """Runs that look drawn at random, unless the text around calls them a hash or an id."""
    for hit in _RUN.finditer(text):
        start, end = _own_span(hit)
        run = text[start:end]
        if len(run) > _MAX_LENGTH or not _may_be_secret(run) or is_placeholder(run):
            continue
        if _PORT.match(run) and _HOST_BEFORE.search(text, max(0, start - _LONGEST_HOST), start):
            continue  # the port and the path of a URL
        if _POINTER.fullmatch(run) or text.startswith("::", end):
            continue  # an address in memory, a class before its member
        if _is_half(text, start, end) or _is_of_log(text, start, end):
            continue
        if has_uuid(run) and is_example(folded, start):
            continue
        if _is_of_mail(folded, start) or _HASHED.search(folded, max(0, start - 24), start):
            continue
        if _SEALED.search(folded, max(0, start - _SEALED_REACH), start):
            continue
        if has_name_before(folded, start):
            yield Finding(start, end, EntityType.SECRET, "secret.bare", _WITH_NAME)
        elif _stands_alone(run, folded, start, end):
            yield Finding(start, end, EntityType.SECRET, "secret.bare", _WITHOUT_NAME)
    for hit in _SHORT_RUN.finditer(text):
        if _is_short_token(hit.group()) and _is_handed(folded, *hit.span()):
            yield Finding(*hit.span(), EntityType.SECRET, "secret.bare", _WITHOUT_NAME)
    for hit in _PASSWORD.finditer(text):
        is_password = _is_spoken_password(hit["own"]) or (
            _is_chosen(hit["own"]) and hands_over(folded, *hit.span())
        )
        if is_password and _is_in_sentence(folded, *hit.span()):
            yield Finding(*hit.span(), EntityType.SECRET, "secret.bare-password", _WITHOUT_NAME)


def _is_of_mail(folded: str, start: int) -> bool:
    """Is it of the signature or the digest in a letter's head, which anybody may check?"""
    field = _SIGNED.search(folded, max(0, start - _LONGEST_SIGNATURE), start)
    return field is not None and "a=rsa-sha" in folded


def _own_span(hit: re.Match[str]) -> tuple[int, int]:
    """The run without final punctuation, and without the name of a setting (`name=…`)."""
    run = hit.group()
    end = hit.end() - (run[-1] in ".~-")
    start = hit.start()
    head, equals, _ = run.rstrip("=").partition("=")
    if equals and not (is_mixed(head) and is_random(head)):
        start += len(head) + 1
    return start, end


def _may_be_secret(run: str) -> bool:
    if run.isdigit():
        return len(run) >= _MIN_NUMBER
    if is_uuid(run):  # hexadecimal groups of drawn digits need not look random
        return True
    if len(run) < _MIN_CORE or run.startswith(_OPEN_IDS):
        return False
    if ("/" in run or "+" in run) and not _is_base64(run):
        return False
    if ("." in run and not _is_dotted(run)) or claims_a_family(run):
        return False
    if is_scattered(run):
        return True
    if max(map(len, _SEPARATORS.split(run))) < _MIN_PART or not is_mixed(run):
        return False
    whole = _SEPARATORS.search(run) is None
    return is_random(run) or (whole and is_gibberish(run) and has_inner_numbers(run))


def _is_base64(run: str) -> bool:
    """Is it base64 with slashes, and not a path? All of it, or every part of it, looks random."""
    if "-" in run or "_" in run or run.startswith("/"):
        return False
    return is_scattered(run) or all(len(part) < 5 or is_random(part) for part in run.split("/"))


def _is_dotted(run: str) -> bool:
    """Has it two or three random parts, like a signed token, and unlike the path of a module?"""
    parts = run.split(".")
    return len(parts) <= _MOST_DOTS + 1 and all(
        len(part) >= _MIN_DOTTED and is_random(part) for part in parts
    )


def _stands_alone(run: str, folded: str, start: int, end: int) -> bool:
    """Is it in a sentence that calls it neither a hash nor an id?"""
    if has_uuid(run) and not hands_over(folded, start, end):
        return False
    core = max(map(len, _SEPARATORS.split(run)))
    return (
        entropy(run) >= (_MIN_NUMBER_ENTROPY if run.isdigit() else _MIN_ENTROPY)
        and (core >= _MIN_CORE or has_uuid(run) or is_scattered(run))
        and _is_in_sentence(folded, start, end)
    )


def _is_in_sentence(folded: str, start: int, end: int) -> bool:
    """Is it among words that mention neither hashes nor identifiers?"""
    around = line_before(folded, start) + " " + line_after(folded, end)
    return len(_WORD.findall(around)) >= _MIN_WORDS and not names_a_hash(folded, start, end)


def _is_spoken_password(value: str) -> bool:
    kinds = (str.islower, str.isupper, str.isdigit)
    return (
        len(value) >= _MIN_PASSWORD
        and all(any(map(kind, value)) for kind in kinds)
        and is_random(value)
        and not is_placeholder(value)
    )


def _is_chosen(value: str) -> bool:
    """Is it a password that somebody chose: letters, digits and marks, and no word with a mark?"""
    return (
        len(value) >= _MIN_PASSWORD
        and is_mixed(value)
        and any(char in _MARKS for char in value[1:-1])
        and value[-1] not in _SPOKEN_MARKS
        and not is_placeholder(value)
    )


def _is_short_token(value: str) -> bool:
    kinds = (str.islower, str.isupper, str.isdigit)
    return (
        all(any(map(kind, value)) for kind in kinds)
        and has_inner_numbers(value)
        and is_random(value)
        and not is_placeholder(value)
    )


def _is_handed(folded: str, start: int, end: int) -> bool:
    return hands_over(folded, start, end) and _is_in_sentence(folded, start, end)


def _is_half(text: str, start: int, end: int) -> bool:
    """Is it one half of `123456:token`, which the families judge as a whole?"""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    return (before[:1].isdigit() and before[1:] == ":") or (
        text[end - 1].isdigit() and after[:1] == ":" and after[1:].isalnum()
    )


def _is_of_log(text: str, start: int, end: int) -> bool:
    """Is it the place in a queue, behind the program that logs: `sendmail[487]: …:`?"""
    return text[max(0, start - 3) : start] == "]: " and text[end : end + 2] == ": "


def find_secrets(text: str) -> list[Finding]:
    """The secrets in `text`, sorted, without overlap; the time is linear in its length.

    Findings that overlap, or are separated only by a colon (a user and a password), become one
    that covers them all and takes the recognizer of the one with the highest score. A token with
    colour codes inside is found with them. One that is put together of several strings, or is
    broken at the end of a line, is found in its parts, if a rule knows the form of the whole.
    """
    if _COLOUR.search(text):
        plain, starts = _without(list(_COLOUR.finditer(text)), text, 0, len(text))
        return [
            replace(f, start=starts[f.start], end=starts[f.end - 1] + 1)
            for f in _plain_secrets(plain)
        ]
    findings = _plain_secrets(text)
    return _merged(text, [*findings, *_joined_secrets(text, findings)])


# Between two strings that are put together, and at the end of a line inside a token.
_JOINT = re.compile(
    r"(?<=[A-Za-z0-9_/+=-])(?:(?P<quote>[\"'`])(?: ?[+.&] ?|[ \t]{0,4})(?:\\?\r?\n[ \t]{0,40})?"
    r"(?:[+.&] ?)?(?P=quote)|(?<=[A-Za-z0-9_-]{8})(?:\\|=)?\r?\n[ \t>|]{0,16}"
    r"(?=[A-Za-z0-9_/+=-]{0,60}[0-9A-Z]))"
    r"(?=[A-Za-z0-9_/+=-]{3})"
)
_LAST_WORD = re.compile(r"[A-Za-z0-9_.-]{12,140}\Z")
_KEY_BEGINNING = re.compile(
    r"(?=[^0-9]{0,40}[0-9])(?:[A-Za-z]{2,12}[0-9]{0,2}[_-]|AKIA|ASIA|AIza|eyJ|SG\.|ya29)"
)
_REACH = 300  # characters on either side of a joint


def _joined_secrets(text: str, findings: Sequence[Finding]) -> Iterator[Finding]:
    """The parts of secrets across joints: each part a finding of its own.

    What is found as a whole at the end of a line does not go on in the next.
    """
    ends = {finding.end for finding in findings}
    joints = [
        joint
        for joint in _JOINT.finditer(text)
        if joint["quote"] or (joint.start() not in ends and _begins_a_key(text, joint.start()))
    ]
    begins = [joint.start() for joint in joints]
    done = 0
    for joint in joints:
        start, end = max(done, joint.start() - _REACH), min(len(text), joint.end() + _REACH)
        if joint.start() < start:
            continue
        within = [
            inner
            for inner in joints[bisect_left(begins, start) : bisect_left(begins, end)]
            if inner.end() <= end
        ]
        plain, starts = _without(within, text, start, end)
        folded = lower_in_place(plain)
        for whole in [
            *find_prefixed(plain, folded),
            *find_infixed(plain, folded),
            *_find_bare(plain, folded),
        ]:
            yield from _parts(whole, starts)
            done = max(done, starts[whole.end - 1] + 1)


def _begins_a_key(text: str, end: int) -> bool:
    """Does the last word of a line look like the beginning of a key: a prefix, then digits?"""
    word = _LAST_WORD.search(text, max(0, end - _REACH // 2), end)
    return word is not None and _KEY_BEGINNING.match(word.group()) is not None


def _parts(whole: Finding, starts: Sequence[int]) -> Iterator[Finding]:
    """A finding in the joined text as findings in the text; none if it crosses no joint."""
    first = whole.start
    cuts = [n for n in range(whole.start + 1, whole.end) if starts[n] != starts[n - 1] + 1]
    for last in [*cuts, whole.end] if cuts else ():
        yield replace(whole, start=starts[first], end=starts[last - 1] + 1)
        first = last


_COLOUR = re.compile(r"(?:\x1b|\\x1b|\\u001b|\\033)\[[0-9;:]{0,20}m")


def _without(
    marks: Sequence[re.Match[str]], text: str, at: int, last: int
) -> tuple[str, list[int]]:
    """`text[at:last]` without some marks (codes that colour a terminal, say), and where each
    character was."""
    parts: list[str] = []
    starts: list[int] = []
    for code in [*marks, None]:
        end = code.start() if code else last
        parts.append(text[at:end])
        starts += range(at, end)
        at = code.end() if code else end
    return "".join(parts), starts


def _plain_secrets(text: str) -> list[Finding]:
    folded = lower_in_place(text)
    findings = [
        *find_armoured(text, folded),
        *find_prefixed(text, folded),
        *find_infixed(text, folded),
        *find_kubernetes(text, folded),
        *_find_named(text, folded),
        *find_of_commands(text),
        *_find_of_settings(text),
        *_find_bare(text, folded),
    ]
    return _merged(text, findings)


def _merged(text: str, findings: Iterable[Finding]) -> list[Finding]:
    merged: list[Finding] = []
    for finding in sorted(findings):
        last = merged[-1] if merged else None
        if last is None or not _touch(text, last, finding):
            merged.append(finding)
            continue
        surest = max(last, finding, key=lambda finding: (finding.score, -finding.start))
        end = max(last.end, finding.end)
        merged[-1] = Finding(last.start, end, surest.type, surest.recognizer, surest.score)
    return merged


def _touch(text: str, first: Finding, then: Finding) -> bool:
    return then.start < first.end or text[first.end : then.start] == ":"
