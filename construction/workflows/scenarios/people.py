"""Invented people and companies, and near-namesakes that are easily taken for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from construction.workflows.scenarios.drawing import Drawing

_FIRST = (
    *("Amara", "Anselm", "Beatriz", "Bohdan", "Carla", "Chidi", "Dagny", "Devika", "Elif", "Emeka"),
    *("Fiona", "Gaspard", "Hanneke", "Hiroko", "Ines", "Ivo", "Jolanta", "Kaito", "Katya", "Lars"),
    *(
        "Leila",
        "Mateus",
        "Mirela",
        "Nadia",
        "Niamh",
        "Oskar",
        "Paloma",
        "Quentin",
        "Rahel",
        "Rohan",
    ),
    *(
        "Sanna",
        "Stefan",
        "Tamsin",
        "Tomasz",
        "Ulrike",
        "Viktor",
        "Wanjiru",
        "Xenia",
        "Yusuf",
        "Zofia",
    ),
)
_LAST = (
    *("Achterberg", "Adeyemi", "Baumann", "Bergqvist", "Calloway", "Cardoso", "Dimitrov", "Dvorak"),
    *(
        "Eriksen",
        "Espinoza",
        "Ferreira",
        "Fitzgerald",
        "Gallagher",
        "Grimaldi",
        "Hartmann",
        "Hoshino",
    ),
    *(
        "Ibrahim",
        "Iversen",
        "Jankowski",
        "Jorgensen",
        "Kavanagh",
        "Kowalczyk",
        "Lefebvre",
        "Lindqvist",
    ),
    *(
        "Marchetti",
        "Moreau",
        "Nakagawa",
        "Novotny",
        "Okafor",
        "Ostrowski",
        "Pellegrini",
        "Petersen",
    ),
    *(
        "Quintero",
        "Rasmussen",
        "Rousseau",
        "Sandoval",
        "Schreiber",
        "Takahashi",
        "Thornbury",
        "Ueda",
    ),
    *(
        "Vandenberg",
        "Vasquez",
        "Whitcombe",
        "Wieczorek",
        "Yamashita",
        "Yilmaz",
        "Zielinski",
        "Zimmer",
    ),
)
# Spellings that differ by a letter, as they stand beside each other in real address books.
_NEAR_LAST = {
    "Bergqvist": "Bergquist",
    "Jorgensen": "Jørgensen",
    "Petersen": "Pedersen",
    "Lindqvist": "Lindquist",
    "Hartmann": "Hartman",
    "Schreiber": "Schreiner",
    "Vasquez": "Vazquez",
    "Zielinski": "Zielińska",
    "Eriksen": "Ericsson",
    "Moreau": "Morel",
    "Dvorak": "Dvořák",
    "Kowalczyk": "Kowalski",
    "Cardoso": "Cardozo",
    "Baumann": "Bauman",
}
_STEMS = (
    *("Alderbrook", "Bluefern", "Castellan", "Drumlin", "Eastmarch", "Fennimore", "Greywater"),
    *("Halcyon", "Ironbridge", "Juniper Hill", "Kestrel", "Larkfield", "Meridian", "Northgate"),
    *("Oakhaven", "Pinecrest", "Quayside", "Redstone", "Silverline", "Thistledown", "Umberland"),
    *("Valemont", "Westerby", "Yarrow", "Zephyr", "Ambergate", "Briarwood", "Copperfield"),
    *("Dovecote", "Elmsworth", "Foxglove", "Glenmore", "Hawthorne", "Inverleith", "Kingsmere"),
)
_TRADES = (
    *("Logistics", "Foods", "Engineering", "Textiles", "Printing", "Dental", "Interiors"),
    *("Catering", "Software", "Packaging", "Garden Supply", "Marine", "Optics", "Recycling"),
)
SELLERS = ("Trading", "Supply", "Equipment", "Wholesale")  # of whatever a firm buys
_NEAR_TRADES = {
    "Trading": "Traders",
    "Supply": "Supplies",
    "Equipment": "Equippers",
    "Wholesale": "Wholesalers",
    "Logistics": "Logistic Services",
    "Foods": "Fine Foods",
    "Engineering": "Engineers",
    "Textiles": "Textile Care",
    "Printing": "Print Works",
    "Dental": "Dentists",
    "Interiors": "Interior Design",
    "Catering": "Caterers",
    "Software": "Softworks",
    "Packaging": "Packing",
    "Garden Supply": "Garden Centre",
    "Marine": "Marina",
    "Optics": "Optical",
    "Recycling": "Recyclers",
}


@dataclass(frozen=True, slots=True)
class Person:
    name: str
    email: str


def people(drawing: Drawing, count: int, domain: str = "harrowgate.example") -> list[Person]:
    """Different people, no two with the same first or last name (at most 30)."""
    plain = [name for name in _LAST if name not in _NEAR_LAST]  # the others have namesakes
    first, last = drawing.sample(_FIRST, count), drawing.sample(plain, count)
    return [person(f"{a} {b}", domain) for a, b in zip(first, last, strict=True)]


def person(name: str, domain: str = "harrowgate.example") -> Person:
    plain = name.lower().translate(str.maketrans("øńřáł ", "onral."))
    return Person(name, f"{plain}@{domain}")


def namesakes(drawing: Drawing, domain: str = "harrowgate.example") -> tuple[Person, Person]:
    """Two people whose names differ by a letter or two."""
    last = drawing.pick(sorted(_NEAR_LAST))
    first = drawing.pick(_FIRST)
    right = person(f"{first} {last}", domain)
    other = person(f"{first} {_NEAR_LAST[last]}", domain)
    return right, Person(other.name, other.email.replace("@", "2@", other.email == right.email))


def companies(drawing: Drawing, count: int, trades: Sequence[str] = _TRADES) -> list[str]:
    """Different companies, no two with the same first word (at most 35)."""
    stems = drawing.sample(_STEMS, count)
    return [f"{stem} {drawing.pick(trades)}" for stem in stems]


def near_company(name: str) -> str:
    """Another company whose name is easily taken for this one."""
    trade = next(trade for trade in _TRADES + SELLERS if name.endswith(f" {trade}"))
    return f"{name.removesuffix(trade)}{_NEAR_TRADES[trade]}"


def domain_of(company: str) -> str:
    """The domain of a company's mail, under a top-level domain that nobody can register."""
    return f"{company.lower().replace(' ', '-')}.example"
