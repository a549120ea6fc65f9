"""The machines of a firm that its texts name: those of its mail, and those of several services."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from anonymization.text.contracts import EntityType
from anonymization.text.detect.wording import NO_MAILBOX, private_site
from anonymization.text.masking.pieces import Piece
from data.text.lexicon import trie_pattern

SITE = re.compile(
    r"(?<![\w.@+-])(?:[a-z0-9-]{1,63}\.){1,4}(?:com|net|org|info|tv|me|eu|cn|jp|de|fr|uk|nl|ch)"
    r"(?![\w(-]|\.\w)"
)
_OF_THE_WEB = frozenset(
    {
        "www",
        "docs",
        "doc",
        "blog",
        "blogs",
        "api",
        "apis",
        "support",
        "download",
        "downloads",
        "cdn",
    }
    | {"static", "help", "developer", "developers", "forum", "community", "news", "en", "m", "raw"}
)
_FEWEST_SERVICES = 3
_SHARED_ENDS = frozenset({"co", "com", "net", "org", "or", "ne", "ac", "go", "gov", "edu"})


def own_hosts(pieces: Sequence[Piece]) -> set[tuple[EntityType, str]]:
    """The domains, with their hosts, under which settings name several services.

    A public site is known, or has few names besides those that each site has.
    """
    hosts = {host for piece in pieces if piece.fixed for host in SITE.findall(piece.value)}
    services: dict[str, set[str]] = {}
    for host in hosts:
        domain = _domain(host)
        names = host.removesuffix(domain).strip(".").split(".")
        services.setdefault(domain, set()).update(filter(None, names))
    own = {
        domain
        for domain, names in services.items()
        if len(names - _OF_THE_WEB) >= _FEWEST_SERVICES
        and private_site(domain)
        and not domain.startswith("example.")
    }
    named = {host for host in hosts if _domain(host) in own}
    return {(EntityType.ACCOUNT, host) for host in named | own}


_HOME = re.compile(r"(?<![\w.])/(?:home|Users|export/home)/([a-z][a-z0-9_-]{3,31})(?![\w.-])")
_LOGIN = re.compile(r"[A-Za-z]{1,12}\d{3,6}")


def logins_of_mail(
    values: Iterable[tuple[EntityType, str]], pieces: Sequence[Piece]
) -> set[tuple[EntityType, str]]:
    """The cells that are the login of an address, `qlm4711` beside qlm4711@firm.org, and homes:
    /home/torvik beside torvik@host."""
    logins = {
        value.partition("@")[0].casefold() for kind, value in values if kind is EntityType.EMAIL
    }
    cells = {piece.value.strip() for piece in pieces} if logins else set()
    homes = {home for piece in pieces if logins for home in _HOME.findall(piece.value)}
    owned = {cell for cell in cells if _LOGIN.fullmatch(cell)} | homes
    return {(EntityType.ACCOUNT, own) for own in owned if own.casefold() in logins}


def mails_of_domains(
    values: Iterable[tuple[EntityType, str]], pieces: Sequence[Piece]
) -> set[tuple[EntityType, str]]:
    """The addresses in the texts whose domain another one shows to be somebody's: `admin@` beside
    people's. One domain has one name in all texts."""
    domains = {
        value.rpartition("@")[2].lower() for kind, value in values if kind is EntityType.EMAIL
    }
    own = sorted(d for d in domains if "." in d and private_site(d))
    if not own:
        return set()
    mail = re.compile(
        rf"(?i)(?<![\w.+%@/-])(?!(?:{NO_MAILBOX.pattern})@)[a-z][\w.+-]{{0,63}}@"
        rf"(?:{trie_pattern(own)})(?![\w-]|\.\w)"
    )
    return {(EntityType.EMAIL, hit) for piece in pieces for hit in mail.findall(piece.value)}


_KEY = re.compile(r"(?<![\w.@/-])([A-Za-z][\w-]{1,62})[\"']?[ \t]{0,16}(?:=>|[:=](?![=/]))")


def labels_that_are_keys(
    values: Iterable[tuple[EntityType, str]], pieces: Iterable[Piece]
) -> frozenset[str]:
    """The labels of machines, in small letters, that texts also have as keys, as zones and
    inventories do: `"web": {"target": "app.harbour.org"}, "app": …`. A key stays, and so does the
    label that refers to it."""
    values = list(values)
    hosts = {value.rpartition("@")[2].casefold() for _, value in values if "." in value}
    labels = {label for host in hosts for label in host.split(".")[:-2]}
    keys = {key.casefold() for piece in pieces if labels for key in _KEY.findall(piece.text)}
    return frozenset((labels & keys) - {value.casefold() for _, value in values})


_END = re.compile(r"[\"'](\.(\d{1,3})\.\d{1,3})[\"']")


def ends_of_addresses(
    values: Iterable[tuple[EntityType, str]], pieces: Sequence[Piece]
) -> set[tuple[EntityType, str]]:
    """The ends of addresses that programs compare with the whole: `if ".34.7" in address`."""
    networks: dict[str, set[str]] = {}  # by their third number
    addresses = set()
    for kind, value in values:
        if kind is EntityType.IP_ADDRESS and value.count(".") == _POINTS:
            network, third, _ = value.rsplit(".", 2)
            networks.setdefault(third, set()).add(network)
            addresses.add(value)
    ends = {hit for piece in pieces if addresses for hit in _END.findall(piece.value)}
    return {
        (EntityType.IP_ADDRESS, end)
        for end, third in ends
        if len(networks.get(third, ())) == 1 and any(each.endswith(end) for each in addresses)
    }


_POINTS = 3  # of an address


def _domain(host: str) -> str:
    """The domain that somebody has registered: `harbour.co.jp` of `git.harbour.co.jp`."""
    labels = host.split(".")
    is_shared = len(labels) > 2 and labels[-2] in _SHARED_ENDS
    return ".".join(labels[-3 if is_shared else -2 :])


def hosts_of_mail(
    values: Iterable[tuple[EntityType, str]], pieces: Sequence[Piece]
) -> set[tuple[EntityType, str]]:
    """The machines in the texts whose domain somebody's e-mail address shows; so do the addresses
    that nobody reads, `noreply@…`."""
    domains = {
        value.rpartition("@")[2].lower() for kind, value in values if kind is EntityType.EMAIL
    }
    own = sorted(d for d in domains if "." in d and private_site(d))
    if not own:
        return set()
    ends = trie_pattern(own)
    host = re.compile(
        rf"(?i)(?:(?<![\w.@+-])|(?<![\w.+-])(?:{NO_MAILBOX.pattern})@)(?:\$\{{?\w{{1,40}}\}}?\.)?"
        rf"((?:[a-z0-9-]{{1,63}}\.){{0,4}}(?:{ends}))(?![\w-]|\.\w)"
    )
    return {(EntityType.ACCOUNT, hit) for piece in pieces for hit in host.findall(piece.value)}
