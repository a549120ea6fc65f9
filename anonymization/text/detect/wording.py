"""Word lists, and tests of words: could this be a person's name, a job, a private site? And which
words explain themselves: everyday words, words of programs, and parts made of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache

from anonymization.text.secrets.evidence import is_placeholder
from data.text.lexicon import load_table


def _text(table: str, key: str) -> str:
    return str(load_table(__package__, "data", table)[key]).strip()


@cache
def words(table: str, key: str) -> frozenset[str]:
    """A list: separated by `|` where entries hold spaces, else by white space."""
    listed = _text(table, key)
    return frozenset(listed.split("|") if "|" in listed else listed.split())


@cache
def listed(table: str, group: str, key: str) -> frozenset[str]:
    """A list of a group of a table, separated by `|`."""
    entries = load_table(__package__, "data", table)[group][key].split("|")
    return frozenset(filter(None, entries))


@cache
def characters(table: str, key: str) -> frozenset[str]:
    """A list of single characters."""
    return frozenset(_text(table, key))


_DOUBLE = words("names.toml", "chinese_double")
_SINGLE = characters("names.toml", "chinese") - {"\n"}
_NOT_NAMES = words("names.toml", "chinese_not_names")
CHINESE_ROLES = words("names.toml", "chinese_roles")
_JOBS = words("words.toml", "job_heads")
_NO_HANDLES = words("words.toml", "no_handles")
_HOST_ENDS = frozenset(
    {
        "com",
        "net",
        "org",
        "info",
        "io",
        "ai",
        "dev",
        "app",
        "cn",
        "de",
        "eu",
        "fr",
        "jp",
        "uk",
        "us",
    }
)
_FILE_ENDS = frozenset({"html", "htm", "js", "mjs", "css", "php", "aspx", "jsp", "json", "xml"})
_KNOWN_SERVICES = words("words.toml", "services")  # each has its domain called as itself
_PUBLIC = words("words.toml", "public_hosts")
NAMED_AFTER_PEOPLE = words("words.toml", "named_after_people")
GIVEN_NAMES = words("names.toml", "given")
COMMON = (
    words("words.toml", "common") | words("words.toml", "products") | words("words.toml", "trade")
)


def chinese_name(value: str) -> bool:
    """Is it a family name and one or two more characters, or two and two for a double one?"""
    if value[:2] in _NOT_NAMES or value in _NOT_NAMES:
        return False
    if value[:2] in _DOUBLE:
        return 3 <= len(value) <= 4
    return 2 <= len(value) <= 3 and value[0] in _SINGLE


_OFFICE = re.compile(
    "(?:[部处處科室局组組队隊会會社院所店课課係师師士员員长長者]|中心|小组|公司|主任|主管)\\Z"
)
_NO_HANDLES = words("words.toml", "no_handles")


def is_office_in_han(value: str) -> bool:
    """Do Han characters say an office, a post or a trade, and no name: 客服部, 护士长, 管理员?"""
    if value in _NO_HANDLES:
        return True
    is_ended = len(value) >= _SHORTEST_OFFICE and _OFFICE.search(value) is not None
    return is_ended and not chinese_name(value)


_SHORTEST_OFFICE = 3


def not_common(value: str) -> bool:
    """Is no word of it an everyday word, a product or a month?"""
    return not any(
        word.strip(".,").title() in COMMON or word in COMMON
        for word in value.split()
        if len(word.strip(".,")) > 1  # `A.` is an initial, not an article
    )


def not_shouted(value: str) -> bool:
    """Is it not all capitals, and does it hold no everyday word?"""
    return not value.isupper() and not_common(value)


def job(value: str) -> bool:
    """Does it end in an occupation?"""
    return value.rsplit(" ", 1)[-1].lower() in _JOBS


def private_site(value: str) -> bool:
    """Is it an address on none of the widely known sites?"""
    host = value.split("://")[-1].split("/")[0].split(":")[0].lower().removeprefix("www.")
    labels = host.split(".")
    if len(labels) > 1 and labels[-1] in _HOST_ENDS and labels[-2] in _KNOWN_SERVICES:
        return False
    return not any(".".join(labels[start:]) in _PUBLIC for start in range(len(labels) - 1))


NO_LOGIN = re.compile(  # names of files, of things that a program made, and of constants
    r"\A[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z|\A[A-Z0-9]+(?:_[A-Z0-9]+){2,}_?\Z"
    r"|(?i:\A(?:some|any|your)[-_]?(?:user(?:name)?|host(?:name)?|login|account)\Z"
    r"|\.(?:git|mdc?|py|js|tsx?|jsx|json|ya?ml|toml|txt|sh|sql|html?|css|cfg|ini|csv|xlsx?|docx?|pdf"
    r"|log|zip|t?gz|tar|jar|war|dll|exe|msi|ps1|bat|java|php|rb|go|rs|cpp|cs|conf|xml|png|jpe?g)\Z)"
)
_DECORATING = words("words.toml", "decorating")
_DIRECTIVES = words("words.toml", "template_directives")
SERVICE_LOGINS = words("words.toml", "service_logins")
_OF_SERVICES = words("words.toml", "of_services")


def own_handle(value: str) -> bool:
    """Is it the handle of somebody, with a letter, and no word of programs, no host and no file?"""
    name = value.strip("_. ").lower()
    end = name.rpartition(".")[2] if "." in name else ""
    is_host = end in _HOST_ENDS or end in _FILE_ENDS
    is_decorator = "." in name and name.partition(".")[0] in _DECORATING
    is_known = name in _NO_HANDLES or name in _DIRECTIVES or is_service_login(name) or is_decorator
    is_pointer = _POINTER.fullmatch(name) is not None
    return not (is_known or is_host or is_pointer) and any(map(str.isalpha, name))


def is_service_login(name: str) -> bool:
    """Is it the account of a program or of administrators (`svc_backup`, `deploy-bot`)?

    Its words are those of programs, and one of them says that it is such an account.
    """
    whole = name.lower().rstrip("0123456789")
    cuts = range(1, len(whole))
    is_joined = any({whole[:cut], whole[cut:]} <= _OF_SERVICES for cut in cuts)  # `appuser`
    if name in SERVICE_LOGINS or whole in _OF_SERVICES or is_joined:
        return True
    parts = [part.rstrip("0123456789") for part in re.split(r"[-_.$]", whole)]
    is_marked = not _OF_SERVICES.isdisjoint(parts)
    return is_marked and all(p in _OF_SERVICES or is_known(p, frozenset()) for p in parts if p)


_KNOWN_FIRMS = frozenset(name.replace("_", " ") for name in words("words.toml", "known_firms"))
_FIRM_TAIL = re.compile(
    r"(?:股份)?(?:有限)?(?:公司|集团)\Z|株式会社"
    r"|(?i:[ ,.]+(?:inc|corp|ltd|co|plc|group|lines?)\b\.?)+\Z"
)


def is_known_firm(value: str) -> bool:
    """Is it a firm that everybody knows, and whose name tells nothing of anyone?"""
    return _FIRM_TAIL.sub("", value).strip().casefold() in _KNOWN_FIRMS


_POINTER = re.compile(r"0x[0-9a-f]{2,16}")  # an address in memory: `stack @0x7fef9fb9b6d`


_NO_FRIENDS = characters("names.toml", "not_friends")
_TURNED_SECOND = words("names.toml", "given") | words("names.toml", "ambiguous")


def old_friend(value: str) -> bool:
    """Is it 老 and a family name, rather than a word that begins with 老?"""
    return value[1:] in _SINGLE and value[1:] not in _NO_FRIENDS


def turned_name(value: str) -> bool:
    """Is it `Family, Given` with a known given name, and no everyday word?"""
    given = value.partition(", ")[2].split(" ")[0]
    return given in _TURNED_SECOND and not_common(value)


_REFERS = ("$", "{", "<", "%", "/", "http", "os.", "process.", "env.", "www.")


def like_password(value: str) -> bool:
    """Does it mix letters with digits, or hold a sign inside, and refer to nothing?"""
    plain = value.rstrip(".:!?*_")  # the end of a sentence, or of its emphasis
    letters = sum(map(str.isalpha, plain))
    is_mixed = any(map(str.isdigit, plain)) or any(char in "@#$%^&*!+~" for char in plain[1:])
    return (
        max(plain, default="") < "\u0250"  # no letter beyond the Latin ones
        and len(plain) >= 6
        and letters >= 2
        and is_mixed
        and not plain.lstrip("\"'").startswith(_REFERS)
    )


_ROLES = words("japanese.toml", "honoured_roles")
_NO_SHOPS = re.compile(
    r"[的了是在和与我你他她它们这那有个]|需求|反馈|投诉|满意|信息|数据|服务|管理|经理"
)
_NO_TITLED = re.compile(
    r"[的了是在和与各到了我你他她它们这那有个产品项部门销售客户技术财务人事区运营市场大副总]"
)

# What stands before the sign in the address of a machine, or in the form of an address.
NO_MAILBOX = re.compile(
    r"git|no-?reply|donotreply|mailer-daemon"
    r"|(?:(?:your|the|my|student|employee|user|customer|client|member|first|last|full|family|given)"
    r"[._-]?)?(?:name|firstname|lastname|username)(?:[._-](?:last|family|sur)_?name)?"
    r"|(?:first|f|given)[._-](?:last|family)"
)


def honoured(value: str) -> bool:
    """Is it a name rather than a role: 早蕨, not 利用者 or 取引先?"""
    return value not in _ROLES and not value.endswith(tuple(_ROLES))


def shop_name(value: str) -> bool:
    """Can it be the name of a firm or shop, without an everyday word in it?"""
    return _NO_SHOPS.search(value) is None


def titled_chinese(value: str) -> bool:
    """Can it be a name before a title, though its family name is not listed?"""
    return _NO_TITLED.search(value) is None and value not in _NOT_NAMES


_GIVEN = words("names.toml", "given")
_NO_FAMILY = words("words.toml", "not_family_names")


def given_and_family(value: str) -> bool:
    """Is it a login made of a known given name and another word?"""
    given, _, family = value.partition(".")
    return given.title() in _GIVEN and family not in _NO_FAMILY


def not_localhost(value: str) -> bool:
    """Is it the name of some machine of somebody?"""
    return value.lower() not in _NO_HANDLES and value != "localhost"


_COMMON_HOSTS = tuple(sorted(words("words.toml", "common_hosts")))
_OBJECTS = words("words.toml", "program_objects")


def own_host(value: str) -> bool:
    """A machine in a network of somebody, not one that every installation has."""
    name = value.lower()
    return not name.endswith(_COMMON_HOSTS) and name.split(".")[0] not in _OBJECTS


_LEGAL_FORM = re.compile(
    r"(?:集团)?(?:股份|有限责任|有限)?(?:有限)?公司|集团公司|分公司|控股集团|(?:律师|会计师|税务师)事务所|专业合作社"
)
_TOWNS = words("places.toml", "chinese")
_WORD_OF_PATH = re.compile(r"[A-Z]?[a-z]{3,}")


def own_company(value: str) -> bool:
    """Is it more than a legal form, or a branch in a well-known town?"""
    return _LEGAL_FORM.sub("", value) not in _TOWNS | {""}


def drawn_token(value: str) -> bool:
    """Was a part of an address drawn, rather than put together from words?"""
    return 2 * sum(map(len, _WORD_OF_PATH.findall(value))) < len(value)


def own_folder(value: str) -> bool:
    """Is it a folder of somebody, and no file?"""
    return (
        re.search(r"\.(?:sql|txt|gz|zip|tar|sh|py|js|csv|log|json|ya?ml|conf|bak)$", value) is None
    )


def own_credentials(value: str) -> bool:
    """Are user and password in an address more than the words that stand for them?"""
    return (
        re.fullmatch(r"<?(?:DB_?)?(?i:user(?:name)?)>?:<?(?:DB_?)?(?i:pass(?:w(?:or)?d)?)>?", value)
        is None
    )


def own_password(value: str) -> bool:
    """Is it a password itself, not a reference to one (`${ROOT_PASSWORD}`) or a stand-in?"""
    return not is_placeholder(value)


CHECKS: Mapping[str, Callable[[str], bool]] = {
    check.__name__: check
    for check in (
        *(own_company, own_folder, drawn_token, own_credentials, chinese_name, not_common),
        *(not_shouted, job, private_site, own_handle, like_password, old_friend),
        *(turned_name, honoured, own_host, given_and_family, not_localhost, shop_name),
        *(titled_chinese, own_password),
    )
}


_ENDINGS = (("s", ""), ("es", ""), ("ies", "y"), ("ing", ""), ("ing", "e"), ("ed", ""), ("ed", "e"),
            ("er", ""), ("ly", ""), ("ness", ""))  # fmt: skip


def in_dictionary(word: str, listed: frozenset[str]) -> bool:
    """Is the word listed, or the word of which it is an inflected form?"""
    word = word.lower()
    if word in listed:
        return True
    return any(
        word.endswith(ending) and word[: -len(ending)] + whole in listed
        for ending, whole in _ENDINGS
    )


_KNOWN = "known_words.toml"
_EVERYDAY = words(_KNOWN, "everyday") | words(_KNOWN, "legal")
_PROGRAMS = words(_KNOWN, "programs") | words(_KNOWN, "more_programs")
_NAMES_TOO = words(_KNOWN, "names_too") - words("words.toml", "small_words_too")


def _split(names: frozenset[str]) -> frozenset[str]:
    return frozenset(part.lower() for name in names for part in re.split(r"[\s.-]", name))


_PUBLIC_PLACES = _split(
    words("places.toml", "countries")
    | words("places.toml", "towns")
    | words("places.toml", "people")
)
_LISTED = _PUBLIC_PLACES | _split(
    COMMON
    | words("words.toml", "function_words")
    | words("words.toml", "organisation_heads")
    | words("words.toml", "institutions")
    | words("words.toml", "job_heads")
    | words("words.toml", "no_handles")
    | words("words.toml", "service_logins")
    | words("words.toml", "public_hosts")
)
_GIVEN_PARTS = _split(words("names.toml", "given") | words("names.toml", "pinyin"))
_PREFIXES = ("un", "re", "non", "pre", "sub", "over", "under", "mis", "multi", "inter", "micro",
             "anti", "auto", "super", "semi", "meta", "cyber", "bio", "geo", "de", "dis",
             "co", "counter", "cross", "post", "hyper", "macro", "mini", "out", "up")  # fmt: skip
_STEM_ENDINGS = (("est", ""), ("est", "e"), ("iest", "y"), ("ier", "y"), ("ily", "y"), ("able", ""),
            ("able", "e"), ("ability", ""), ("ability", "e"), ("ization", ""), ("isation", ""),
            ("ization", "e"), ("ize", ""), ("ized", ""), ("izing", ""), ("ise", ""), ("less", ""),
            ("ful", ""), ("ish", ""), ("ness", ""), ("ors", "e"), ("er", "e"), ("ers", "e"),
            ("ers", ""), ("ings", ""), ("ings", "e"), ("ibility", "ible"),
            ("ability", "able"), ("ally", "al"), ("ality", "al"), ("ivity", "ive"))  # fmt: skip
_LABELS = (
    frozenset(
        part
        for table in load_table(__package__, "data", "declared.toml").values()
        for labels in table.values()
        for part in re.split(r"[|\s]+", labels)
    )
    | words("languages.toml", "de")
    | words("languages.toml", "fr")
    | words(_KNOWN, "labels")
)
_SHORT, _INITIALISM, _STEM = 2, 4, 4  # letters of no name, of an initialism, of a word with parts


@lru_cache(maxsize=200_000)
def is_known(word: str, dictionary: frozenset[str]) -> bool:
    """Is a word of letters an everyday word, a word of programs or an initialism?

    So is a name that is an everyday word too (`rose`): the detector finds names among words.
    """
    if len(word) <= _SHORT or (word.isupper() and len(word) <= _INITIALISM and word.isascii()):
        return True
    small = word.lower()
    if small in _NAMES_TOO:
        return False
    if _is_listed(small, dictionary):
        return True
    stems = (small[: -len(end)] + whole for end, whole in _STEM_ENDINGS if small.endswith(end))
    if any(len(stem) >= _STEM and _is_listed(stem, dictionary) for stem in stems):
        return True
    rests = (small[len(lead) :] for lead in _PREFIXES if small.startswith(lead))
    return any(len(rest) >= _STEM and _is_listed(rest, dictionary) for rest in rests)


def is_program_word(word: str) -> bool:
    """Is it a word of programs and formats, and no name of anybody?"""
    return word.lower() in _PROGRAMS or word.lower() in _PUBLIC_PLACES


def is_ordinary_login(login: str, dictionary: frozenset[str]) -> bool:
    """Is a login only a word in small letters (`backup`), and not what people are called?

    Without a dictionary only the lists here decide: a login that is no word stays private.
    """
    is_word = login.isascii() and login.isalpha() and login.islower()
    return is_word and login not in _GIVEN_PARTS and is_known(login, dictionary)


def _is_listed(small: str, dictionary: frozenset[str]) -> bool:
    doubled = small[:-3] if small.endswith("ing") else small[:-2] if small.endswith("ed") else ""
    return (
        small in _LISTED
        or small in _EVERYDAY
        or small in _PROGRAMS
        or small in _LABELS
        or in_dictionary(small, dictionary)
        or (len(doubled) > _STEM and doubled[-1:] == doubled[-2:-1] and doubled[:-1] in dictionary)
    )


# Words of the dictionary that people choose as names: that `heron` is in the dictionary does not
# explain it, unless a word near it says that the bird is meant.
_BEFORE_CHOSEN, _BEHIND_CHOSEN = 160, 80  # characters in which a head explains a word
_INITIALS = 3  # letters
_SMALL_LETTERS = re.compile(r"[a-z]{2,}")
_ARTICLE = re.compile(r"(?:\b(?:[Aa]n?|[Ee]very|[Ee]ach|per|of)|\d) $")


@cache
def _chosen() -> Mapping[str, frozenset[str]]:
    """Each word with the words that explain it."""
    chosen: dict[str, frozenset[str]] = {}
    for group in load_table(__package__, "data", "chosen.toml").values():
        for word in group["words"].split():
            chosen[word] = chosen.get(word, frozenset()) | frozenset(group["heads"].split())
    return chosen


def is_chosen(word: str) -> bool:
    """Is it a word that people choose as a name, and seldom mean as such at work?

    In capitals a short one is rather an initialism.
    """
    return word.lower() in _chosen() and not (word.isupper() and len(word) <= _INITIALS)


def is_meant(text: str, start: int, end: int) -> bool:
    """Is a chosen word meant as the thing: behind an article, or near a word for its kind?"""
    word = text[start:end]
    if word.islower() and _ARTICLE.search(text, max(0, start - 6), start):
        return True
    near = f"{text[max(0, start - _BEFORE_CHOSEN) : start]} {text[end : end + _BEHIND_CHOSEN]}"
    return not _chosen()[word.lower()].isdisjoint(_SMALL_LETTERS.findall(near.lower()))


_SHORTEST_PARTICIPLE = 7  # letters; Reed and Creed are families


def is_participle(word: str, dictionary: frozenset[str]) -> bool:
    """Is it a word as `defined` or `predefined`, which no family is called?"""
    is_ended = word.endswith("ed") and len(word) >= _SHORTEST_PARTICIPLE
    return is_ended and any(in_dictionary(word[lead:], dictionary) for lead in (0, 2, 3))
