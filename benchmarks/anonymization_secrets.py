"""Secrets found in the rule cases of a public scanner, in prose, and what the leak scan costs.

The cases are halved by the SHA-256 of the rule's name (even: development). Full: the whole
secret is covered. Macro: the mean over rules. Two labels: as given, and trimmed of the quotes and
of the `name: ` that some labels carry along. Prose: each distinct secret of a rule in sentences
of our own, with a word for what it is (cue) and without (neutral).

    python -m benchmarks.anonymization_secrets      writes the key "secrets" of
        benchmarks/results/anonymization.json, and benchmarks/results/anonymization_secrets.md
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from anonymization.leaks.contracts import LeakConfig, PrivateValue
from anonymization.leaks.leak_patterns import LeakPatterns
from anonymization.leaks.scan import scan_release
from anonymization.text.secrets.find_secrets import find_secrets
from benchmarks.anonymization_text_own import own_figures
from benchmarks.report import RESULTS, machine, table
from data.atomic import write_bytes
from data.canonical import pretty_json

MATERIAL = Path(
    os.environ.get("BENCHMINT_MATERIAL", Path(__file__).parents[2] / "shared" / "material")
)
SENTENCES = {
    "English, cue": ("my token is {} please", "the API key for staging: {}."),
    "English, neutral": (
        "Please use {} when you log in tomorrow.",
        "The value we got from the vendor was {}, can you check it?",
        "hey, {} is what I set up last week for the demo",
    ),
    "Chinese, cue": ("我的令牌是{}，请帮我登录。", "密钥：{}。"),
    "Chinese, neutral": ("请用{}登录一下测试环境", "昨天发给你的是{}，麻烦确认一下能不能用"),
}
# Recognizers that judge by words and chance; all others by the form that a provider documents.
BY_WORDS = frozenset(
    f"secret.{name}"
    for name in ("named", "bare", "bare-password", "kubernetes", "curl-user", "url-password")
) | {"secret.authorization"}
VALUES = 10_000
CORPUS_BYTES = 50_000_000

Case = dict[str, Any]


def cases() -> dict[str, list[Case]]:
    """The cases by rule."""
    by_rule: defaultdict[str, list[Case]] = defaultdict(list)
    with gzip.open(MATERIAL / "pii" / "gitleaks_cases_half.jsonl.gz", "rt") as lines:
        for line in lines:
            case = json.loads(line)
            by_rule[case["rule"]].append(case)
    return dict(sorted(by_rule.items()))


def half(rule: str) -> str:
    """Which half a rule belongs to."""
    even = int(hashlib.sha256(rule.encode()).hexdigest(), 16) % 2 == 0
    return "development" if even else "held out"


def trimmed(secret: str) -> str:
    """A label without the characters that are not the secret's own."""
    head, colon, rest = secret.partition(": ")
    value = rest if colon and head.replace(".", "").replace("-", "").isalnum() else secret
    return value.removeprefix("|").strip().strip("\"'`<\\,;)")


def covers(text: str, secret: str) -> bool:
    """Is one occurrence of the secret wholly inside a finding?"""
    actual = find_secrets(text)
    start = text.find(secret)
    while start >= 0:
        if any(one.start <= start and start + len(secret) <= one.end for one in actual):
            return True
        start = text.find(secret, start + 1)
    return False


def macro(rules: Iterable[Sequence[bool]]) -> float:
    """Mean over rules of the share found."""
    shares = [sum(hits) / len(hits) for hits in rules if hits]
    return round(sum(shares) / len(shares), 4)


def recall(by_rule: dict[str, list[Case]], label: Callable[[str], str]) -> float:
    """Macro recall of whole secrets."""
    return macro(
        [
            covers(case["text"], label(case["secrets"][0]))
            for case in rows
            if case["kind"] == "tp" and case["secrets"]
        ]
        for rows in by_rule.values()
    )


def prose(by_rule: dict[str, list[Case]], sentences: Sequence[str]) -> float:
    """Macro recall of bare secrets in sentences."""
    return macro(
        [
            covers(sentence.format(secret), secret)
            for secret in sorted(
                {trimmed(s) for case in rows if case["kind"] == "tp" for s in case["secrets"]}
            )
            for sentence in sentences
        ]
        for rows in by_rule.values()
    )


def negatives(by_rule: dict[str, list[Case]], secrets: Sequence[str]) -> dict[str, float]:
    """How many negatives are flagged; of those, how many hold another rule's positive, and how
    many more a token of a form that its provider documents."""
    texts = [case["text"] for rows in by_rule.values() for case in rows if case["kind"] != "tp"]
    flagged = [text for text in texts if find_secrets(text)]
    remaining = [text for text in flagged if not any(secret in text for secret in secrets)]
    forms = sum(
        any(one.recognizer not in BY_WORDS for one in find_secrets(text)) for text in remaining
    )
    return {
        "negatives": len(texts),
        "flagged": len(flagged),
        "holding another positive": len(flagged) - len(remaining),
        "else of a documented form": forms,
        "share flagged": round(len(flagged) / len(texts), 4),
        "share flagged besides these two": round((len(remaining) - forms) / len(texts), 4),
    }


def figures() -> dict[str, Any]:
    """All figures about secrets, per half and for all rules."""
    by_rule = cases()
    secrets = sorted(
        {s for rows in by_rule.values() for c in rows if c["kind"] == "tp" for s in c["secrets"]}
    )
    result: dict[str, Any] = {}
    for part in ("development", "held out", "all"):
        rules = {rule: rows for rule, rows in by_rule.items() if part in ("all", half(rule))}
        result[part] = {
            "rules": len(rules),
            "full macro recall, labels as given": recall(rules, str),
            "full macro recall, labels trimmed": recall(rules, trimmed),
            **negatives(rules, secrets),
            **{f"prose, {name}": prose(rules, said) for name, said in SENTENCES.items()},
        }
    return result


def session_strings() -> Iterator[str]:
    """Every string of the session material."""
    for path in sorted((MATERIAL / "sessions").rglob("*.json*")):
        for line in path.read_text("utf-8", "replace").splitlines():
            try:
                stack = [json.loads(line)]
            except ValueError:
                continue
            while stack:
                item = stack.pop()
                if isinstance(item, str):
                    yield item
                elif isinstance(item, dict):
                    stack += item.values()
                elif isinstance(item, list):
                    stack += item


def session_figures() -> dict[str, Any]:
    """Findings in the session material, which holds no known secret, and characters a second."""
    texts = list(session_strings())
    begin = time.process_time()
    actual = sum(len(find_secrets(text)) for text in texts)
    seconds = time.process_time() - begin
    chars = sum(map(len, texts))
    return {
        "strings": len(texts),
        "characters": chars,
        "findings": actual,
        "characters per CPU second": round(chars / seconds),
    }


def leak_figures() -> dict[str, Any]:
    """Bytes a second of the leak scan over generated JSON lines, with 10,000 private values."""
    rng = np.random.default_rng(7)
    letters = np.array(list("etaoinshrdlucmfw"))
    words = ["".join(rng.choice(letters, rng.integers(2, 10))) for _ in range(8_000)]
    pick = rng.integers(0, len(words), VALUES * 3)
    values = [f"{words[a]}.{words[b]}@{words[c]}.example" for a, b, c in pick.reshape(-1, 3)]
    kinds = ("EMAIL", "PERSON", "identifier", "tripwire")
    private = [PrivateValue(value, kinds[n % 4]) for n, value in enumerate(values)]
    begin = time.process_time()
    patterns = LeakPatterns(private, b"k" * 32, LeakConfig())
    built = time.process_time() - begin
    with tempfile.TemporaryDirectory() as folder:
        size = _corpus(Path(folder) / "tasks.jsonl", words, rng)
        begin = time.process_time()
        leaks = scan_release(Path(folder), patterns, LeakConfig())
        seconds = time.process_time() - begin
    return {
        "values": VALUES,
        "bytes": size,
        "leaks": len(leaks),
        "seconds to compile": round(built, 2),
        "MB per CPU second": round(size / 1e6 / seconds, 1),
    }


def _corpus(path: Path, words: Sequence[str], rng: np.random.Generator) -> int:
    with path.open("w", encoding="utf-8") as out:
        while out.tell() < CORPUS_BYTES:
            said = " ".join(words[n] for n in rng.integers(0, len(words), 80))
            chinese = "".join(map(chr, rng.integers(0x4E00, 0x9000, 40)))
            row = {"prompt": f'{said}\n"{chinese}"', "url": "https://a.example/x?q=1"}
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
    return path.stat().st_size


def page(result: dict[str, Any]) -> str:
    """The figures as Markdown."""
    parts = ("development", "held out", "all")
    rows = [[name, *(str(result[part][name]) for part in parts)] for name in result["all"]]
    text = "## Secrets and leak scan\n\n" + (__doc__ or "").strip() + "\n\n" + NOTE + "\n\n"
    text += table(["figure", *parts], rows)
    for name in ("own texts", "sessions", "leak scan"):
        text += f"\n### {name}\n\n" + table(
            ["figure", "value"], [[key, str(value)] for key, value in result[name].items()]
        )
    on = machine()
    return text + f"\nMachine: {on['cpus']} CPUs ({on['architecture']}), Python {on['python']}.\n"


NOTE = """The held-out half is no longer blind. While only its totals had been looked at, it gave
a macro recall of .944 (50 of 55 rules whole) and flagged 18 of 73 negatives; then the
rules that failed were read and repaired (settings of NuGet, Kubernetes secrets, short
alphanumeric keys, long JWTs). Only rules that are not in this material are an
independent test.

Negatives of one rule often hold what another rule rightly reports: the negatives of the two
Cloudflare rules are each other's positives. Such texts count as flagged here. Fifteen negatives
of the Google rule and two of NuGet are keys and sample passwords that are said to be published by
their owners. No list of them is kept: it could only have been made from this very set.

Some labels carry more than the secret (the closing quote, `password: `), and a mask that covered
them would break the file: hence the second row. A UUID counts as a secret only beside a word of
handing over (use, sent, paste, log in), never beside a word for an identifier, and a hash not
where it is called one.

The bar of .05 for negatives is not reached as they are labelled. Nothing is excluded: no list, no
text that holds another rule's positive. What was tried: weak prefixes inside longer names,
examples, words with a year behind them, names of models, halves of pairs. What is left are texts
that hold another rule's positive, well-formed Google and Mailchimp keys, and values that a
setting calls a key or a token; a list of these values would pass the bar and prove nothing. The
scanner that the cases come from flags .087 of them with its whole rule set, and with all
exclusions that its rule file names: [the comparison](anonymization_secrets_peer.md). Why no rule
can reach it: [negatives](anonymization_secrets_negatives.md). The row "besides
these two" and "own texts" (benchmarks/anonymization_text_own.py) tell what is flagged wrongly.

Neutral prose: a token of ten to thirteen characters of three kinds, a chosen password with a sign
in it, and a UUID count where somebody hands them over; a value that SOPS has encrypted does not.
UUIDs were judged by the look of their digits; a sample UUID of two of the rules was missed, and
so were 24 of 5,000 that we drew at random. Now the form suffices. This took neutral prose over
its bar (.966 before); without these two rules it is the same (.979). The half called held out is
no longer held out for these: the negatives of both halves, and the values of its rules that are
missed, were read. Left of `neutral` are sample values (`TestSourcePassword`), labels that carry a
colon or an ampersand along, and words of letters alone."""


def main() -> None:
    """Measure everything, merge it into the JSON file, and write the page."""
    result = figures() | {"own texts": own_figures()}
    result |= {"sessions": session_figures(), "leak scan": leak_figures()}
    path = RESULTS / "anonymization.json"
    known: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    write_bytes(path, pretty_json(known | {"secrets": result}))
    write_bytes(RESULTS / "anonymization_secrets.md", page(result).encode())


if __name__ == "__main__":
    main()
