"""Documents: when contracts have to be given notice, and new prices in letters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from construction.workflows.contracts import Client, Draft, Scenario
from construction.workflows.scenarios.people import SELLERS, companies, days_later, near_company
from construction.workflows.scenarios.story import (
    Story,
    article,
    attempt,
    every,
    figure,
    get,
    report,
    rows,
)
from construction.workflows.scenarios.surroundings import articles, house_rule

FAMILY = "document_work"
NOW = "2026-01-12T14:30:00+01:00"
# Contracts are looked at in summer time, and all deadlines fall into it: one offset is right.
NOTICE_NOW = "2026-04-13T09:30:00+02:00"
ACTOR = "contracts@harrowgate.example"

# Notice

_NOTICE = {
    "early": "Our deadline is 20 days before the last day for giving notice.",
    "shared": "Our deadline is the last day for giving notice itself.",
    "rent": "Our deadline is 10 days before the last day for giving notice, for leases 60 days "
    "before.",
    "large": "Our deadline is 10 days before the last day for giving notice, for contracts of "
    "more than 20,000 EUR a year 45 days before.",
}
_FOLDERS = ("/contracts/facility", "/contracts/it", "/contracts/fleet")
_NOTICE_PROMPTS = (
    "Which of our contracts in the folder {folder} end this year and aren't cancelled yet? For "
    "each, put a deadline into the calendar called 'Notice: <contract title>', all in one hour "
    "from 9:00 on the day that our contract rules give. Amendments count. What's the first "
    "deadline, and how many are there?",
    "Please enter the notice deadlines of the contracts in {folder} that run out this year (skip "
    "those we've already cancelled, and watch for amendments). Calendar entry 'Notice: <contract "
    "title>', 9 to 10, on the day by our contract rules. I need the number and the first "
    "deadline.",
)


def _notice(number: int, seed: int) -> Draft:
    story = Story("contract_notice", number, seed, list(_NOTICE), NOTICE_NOW, ACTOR)
    folder, other = story.draw.sample(_FOLDERS, 2)
    story.room("calendar", "events")
    kinds = ["plain", "plain", "amended", "rent", "large", "cancelled", "later"]
    deadlines = []
    for at, (kind, name) in enumerate(zip(kinds, companies(story.draw, 7), strict=True)):
        contract, ends, months = _contract(story, name, folder, kind)
        if kind == "amended":
            ends, months = "2026-11-30", 3
            story.reads(_amendment(story, name, folder, contract, ends, months))
        if kind == "cancelled":
            story.reads(_cancellation(story, name, folder, contract))
        if kind in ("cancelled", "later"):
            continue
        story.reads(contract)
        if at == 0:
            _contract(story, near_company(name), other, "plain")
        days = {"early": 20, "shared": 0}.get(story.rule, 10)
        if kind == story.rule:
            days = {"rent": 60, "large": 45}[kind]
        deadline = days_later(ends, -30 * months - days)
        deadlines.append(deadline)
        title = f"Notice: {story.fields(contract)['title']}"
        story.makes(
            "calendar", "events", f"The deadline of {name} is entered.", title=title,
            start=f"{deadline}T09:00:00+02:00", end=f"{deadline}T10:00:00+02:00",
        )  # fmt: skip
    for name in companies(story.draw, 26)[20:]:
        _contract(story, f"{name} Holding", other, story.draw.pick(("plain", "large")))
    lead = (
        "Notice periods are counted back from the last day of the contract, a month as 30 days. "
        "The latest amendment replaces what the contract says."
    )
    house_rule(story, "Contract rules", lead, _NOTICE, "contracts")
    articles(story)
    story.number_is("deadlines", len(deadlines), "how many")
    story.date_is("first", min(deadlines))
    prompt = _NOTICE_PROMPTS[number % 2].format(folder=folder)
    return story.draft(prompt, {"folder": folder}, faulty=("documents", "search_documents"))


def _contract(story: Story, name: str, folder: str, kind: str) -> tuple[str, str, int]:
    """The contract, its last day and its months of notice."""
    what = "Lease" if kind == "rent" else story.draw.pick(("Cleaning", "Maintenance", "Supply"))
    ends = story.draw.day("2026-09-15", "2026-11-20")
    ends = f"2027{ends[4:]}" if kind == "later" else ends
    months = story.draw.pick((1, 2, 3))
    fee = story.draw.whole(22, 60) * 1000 if kind == "large" else story.draw.whole(3, 15) * 1000
    text = (
        f"{what} contract with {name}. Fee: {fee} EUR a year. The contract ends on {ends}. Notice: "
        f"{months} months before the end; otherwise it is renewed by a year."
    )
    contract = story.add(
        "documents", "documents", "doc", title=f"{what} contract {name}", folder=folder,
        kind="contract",
        body=text, owner=ACTOR, status="final", updated_at="2024-06-03T10:00:00+02:00",
    )  # fmt: skip
    return contract, ends, months


def _amendment(story: Story, name: str, folder: str, contract: str, ends: str, months: int) -> str:
    return story.add(
        "documents", "documents", "doc", title=f"Amendment 1 ({name})", folder=folder,
        kind="letter",
        body=f"The contract ends on {ends}. Notice: {months} months before the end.", owner=ACTOR,
        related_to=contract.rpartition("/")[2], status="final",
    )  # fmt: skip


def _cancellation(story: Story, name: str, folder: str, contract: str) -> str:
    return story.add(
        "documents", "documents", "doc", title=f"Letter to {name}", folder=folder, kind="letter",
        body="We herewith give notice. Please confirm that the contract is cancelled.", owner=ACTOR,
        related_to=contract.rpartition("/")[2], status="final",
    )  # fmt: skip


def _solve_notice(client: Client, params: Mapping[str, Any]) -> str:
    text = article(client, "Contract rules")
    spare = 0 if "deadline" in text else 1  # nobody waits for the last day without being told to
    papers = every(client, "documents", "documents", folder=params["folder"])
    deadlines = []
    for contract in [p for p in papers if p["kind"] == "contract"]:
        letters = [p for p in papers if p.get("related_to") == contract["id"]]
        if any("give notice" in p["body"] for p in letters):
            continue
        amended = next((p["body"] for p in letters if "ends on" in p["body"]), contract["body"])
        ends = amended.partition("ends on ")[2][:10]
        if not ends.startswith("2026"):
            continue
        months = int(figure(amended, r"Notice: (\d+) months", 0))
        days = int(figure(text, r"deadline is (\d+) days", 0))
        fee = figure(contract["body"], r"Fee: (\d+)", 0)
        if "for leases" in text and contract["title"].startswith("Lease"):
            days = int(figure(text, r"leases (\d+) days", 0))
        if fee > figure(text, r"more than ([\d,]+) EUR", 1e9):
            days = int(figure(text, r"a year (\d+) days", 0))
        deadline = days_later(ends, -30 * months - days - spare)
        attempt(
            client, "calendar", "create_event", title=f"Notice: {contract['title']}",
            start=f"{deadline}T09:00:00", end=f"{deadline}T10:00:00",
        )  # fmt: skip
        deadlines.append(deadline)
    return report(deadlines=len(deadlines), first=min(deadlines, default=""))


# New prices

_RISES = {
    "cap": "A new price that is more than 15 per cent above the old one is not entered.",
    "valid": "A new price that is valid only after the end of this month is not entered yet.",
    "hold": "Prices of suppliers on hold are not entered.",
    "currency": "Prices that are not in EUR are not entered; they are negotiated first.",
}
_OBVIOUS = ("valid", "currency")  # nobody enters such a price as today's cost in EUR
_RISE_PROMPTS = (
    "Our suppliers' price letters are in {folder}. Please enter the new unit costs for the items "
    "concerned, as far as our price rules allow; if a supplier wrote twice, the newer letter "
    "counts. How many items did you change, and which supplier's price rose most in EUR among "
    "those?",
    "New price letters came in, see {folder}. Update the unit cost of each item named, following "
    "our price rules (newest letter per supplier). Tell me how many you entered and for which "
    "supplier you entered the largest rise in EUR.",
)
_PARTS = (
    "Gasket",
    "Bearing",
    "Drive belt",
    "Valve",
    "Pump head",
    "Roller",
    "Sensor",
    "Fuse box",
    "Hose",
)


def _rises(number: int, seed: int) -> Draft:
    story = Story("price_letters", number, seed, list(_RISES), NOW, ACTOR)
    folder = story.draw.pick(("/letters/prices", "/purchasing/prices", "/post/january"))
    rises = {}
    kinds = ["plain", "plain", "twice", *_RISES]
    for at, (named, name) in enumerate(zip(kinds, companies(story.draw, 7, SELLERS), strict=True)):
        kind = "plain" if named in _OBVIOUS and named != story.rule else named
        old = story.draw.cents(40, 90)
        new = round(old * (1.25 if kind == "cap" else 1.04 + at / 100), 2)
        item, _ = _item(story, name, _PARTS[at], old, kind)
        sku = story.fields(item)["sku"]
        if kind == "twice":
            _letter(story, name, folder, sku, old + 1, "2025-12-01", "plain")
        story.reads(_letter(story, name, folder, sku, new, "2026-01-07", kind))
        if at == 0:
            _item(story, near_company(name), _PARTS[7], old, "plain")
        if kind != story.rule:
            rises[name] = round(new - old, 2)
            story.sets(item, f"{_PARTS[at]} has its new cost.", unit_cost=new)
    for name in companies(story.draw, 26, SELLERS)[20:]:
        item, _ = _item(story, f"{name} Works", _PARTS[8], 20.5, "plain")
        sku = story.fields(item)["sku"]
        _letter(story, f"{name} Works", "/archive/2024", sku, 22.5, "2024-02-01", "plain")
    house_rule(story, "Price rules", "New prices are entered as unit cost, without tax.", _RISES,
               "purchasing")  # fmt: skip
    articles(story)
    most = max(rises, key=lambda name: rises[name])
    story.number_is("changed", len(rises), "how many items")
    story.text_is("largest_rise", most, "the supplier's name")
    params = {"folder": folder}
    prompt = _RISE_PROMPTS[number % 2].format(folder=folder)
    return story.draft(prompt, params, faulty=("inventory", "search_items"))


def _item(story: Story, supplier: str, part: str, cost: float, kind: str) -> tuple[str, str]:
    record = story.add(
        "inventory", "suppliers", "sup", name=supplier, country="Denmark",
        status="on_hold" if kind == "hold" else "approved",
    )  # fmt: skip
    item = story.add(
        "inventory", "items", "item", sku=story.draw.identifier("E", 4), name=part,
        warehouse="Main",
        quantity=story.draw.whole(2, 90), unit_cost=cost, currency="EUR", status="active",
        supplier=record.rpartition("/")[2],
    )  # fmt: skip
    return item, record


def _letter(
    story: Story, name: str, folder: str, sku: str, price: float, day: str, kind: str
) -> str:
    valid = "2026-03-01" if kind == "valid" else days_later(day, 14)
    currency = "DKK" if kind == "currency" else "EUR"
    text = (
        f"Dear customer, the price of your item {sku} will be {price:.2f} {currency}, valid from "
        f"{valid}. We count on your understanding. {name}"
    )
    return story.add(
        "documents", "documents", "doc", title=f"Letter of {name}, {day}", folder=folder, body=text,
        kind="letter", owner=ACTOR, updated_at=f"{day}T09:00:00+01:00", status="draft",
    )  # fmt: skip


def _solve_rises(client: Client, params: Mapping[str, Any]) -> str:
    text = article(client, "Price rules")
    letters: dict[str, Mapping[str, Any]] = {}
    papers = every(client, "documents", "documents", folder=params["folder"], kind="letter")
    for paper in sorted(papers, key=lambda p: p["updated_at"]):
        letters[paper["title"].removeprefix("Letter of ").rpartition(",")[0]] = paper
    rises = {}
    for name, paper in letters.items():
        says = paper["body"]
        sku = says.partition("your item ")[2].split()[0]
        [row] = rows(client, "inventory", "items", sku=sku)
        item = get(client, "inventory", "items", row["id"])
        price = figure(says, r"will be ([\d.]+)", 0)
        share = figure(text, r"more than (\d+) per cent", 1e9)
        supplier = get(client, "inventory", "suppliers", item["supplier"])
        is_out = (
            price > item["unit_cost"] * (1 + share / 100)
            or (
                says.partition("valid from ")[2][:10] > "2026-01-31" and "end of this month" in text
            )
            or (supplier["status"] == "on_hold" and "on hold" in text)
            or (" EUR, valid" not in says and "not in EUR" in text)
        )
        if not is_out:
            attempt(client, "inventory", "update_item", id=item["id"], unit_cost=price)
            rises[name] = price - item["unit_cost"]
    return report(changed=len(rises), largest_rise=max(rises, key=lambda name: rises[name]))


SCENARIOS = (
    Scenario(
        "contract_notice", "Enter the days by which contracts have to be given notice", FAMILY,
        ("documents", "kb"), _notice, _solve_notice,
    ),
    Scenario(
        "price_letters", "Enter new prices from suppliers' letters", FAMILY,
        ("documents", "inventory", "kb"), _rises, _solve_rises,
    ),
)  # fmt: skip
