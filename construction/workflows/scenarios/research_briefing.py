"""Research: choosing a supplier from saved pages, and telling news from its copies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from construction.workflows.contracts import Client, Draft, Scenario
from construction.workflows.scenarios.people import (
    SELLERS,
    companies,
    days_later,
    domain_of,
    near_company,
)
from construction.workflows.scenarios.story import (
    Story,
    article,
    attempt,
    every,
    figure,
    report,
    rows,
)
from construction.workflows.scenarios.surroundings import articles, house_rule

FAMILY = "research_briefing"
NOW = "2026-03-03T11:00:00+01:00"
TODAY = NOW[:10]
ACTOR = "research@harrowgate.example"

# A choice

_CRITERIA = {
    "delivery": "Whoever delivers in more than 10 days is out.",
    "warranty": "Whoever gives less than 24 months of warranty is out.",
    "local": "Whoever has no service point in the country is out.",
    "minimum": "Whoever wants a first order of more than 5,000 EUR is out.",
}
_CHOICE_PROMPTS = (
    "We need {thing}. I saved the vendors' product pages; which one is cheapest among those that "
    "meet our buying criteria? If a vendor has several pages, the newest counts. Please bookmark "
    "the page of the winner in the folder 'shortlist' and tell me vendor, price and how many "
    "vendors fell out.",
    "Please compare the vendors of {thing} on the saved pages (newest page per vendor) against "
    "our buying criteria and find the cheapest that qualifies. Bookmark its page in 'shortlist'. "
    "I'd like the vendor's name, the price, and the number of vendors ruled out.",
)
_THINGS = ("label printers", "pallet scales", "reception desks", "floor scrubbers")


def _choice(number: int, seed: int) -> Draft:
    story = Story("vendor_choice", number, seed, list(_CRITERIA), NOW, ACTOR)
    thing, other = story.draw.sample(_THINGS, 2)
    kinds = [story.rule, "plain", *[k for k in _CRITERIA if k != story.rule], "plain", "plain"]
    prices = sorted(story.draw.sample(range(400, 900, 7), len(kinds)))
    pages = {}
    story.room("web", "bookmarks")
    for kind, name, price in zip(
        kinds, companies(story.draw, len(kinds), SELLERS), prices, strict=True
    ):
        # Cheapest is one that the rule excludes; the winner is another that siblings exclude.
        page = _page(story, name, thing, kind, price + 0.5, "2026-02-10")
        pages[name] = (page, price + 0.5, kind)
        story.reads(page)
        if kind == "plain":
            _page(story, name, thing, "plain", prices[0] - 60, "2025-06-01")
    eligible = {n: p for n, p in pages.items() if p[2] != story.rule}
    winner = min(eligible, key=lambda name: eligible[name][1])
    page, lowest, _ = pages[winner]
    twin = _page(story, near_company(winner), other, "plain", prices[0] - 20.5, "2026-02-11")
    story.decoy(page, twin)
    for name in companies(story.draw, 30, SELLERS)[20:]:
        _page(
            story, f"{name} Direct", other, story.draw.pick(tuple(_CRITERIA)), 333.3, "2026-01-20"
        )
    story.makes(
        "web", "bookmarks", "The winner is bookmarked.", saved_page=page.rpartition("/")[2],
        folder="shortlist",
    )  # fmt: skip
    lead = "We buy at the lowest price among those who qualify."
    house_rule(story, "Buying criteria", lead, _CRITERIA, "purchasing")
    articles(story)
    story.text_is("vendor", winner, "its name")
    story.number_is("price", lowest, "EUR, two decimals", unit="EUR", decimals=2)
    story.number_is("ruled_out", len(pages) - len(eligible), "how many vendors")
    params = {"thing": thing}
    prompt = _CHOICE_PROMPTS[number % 2].format(thing=thing)
    return story.draft(prompt, params, faulty=("web", "search_pages"))


def _page(story: Story, name: str, thing: str, kind: str, price: float, day: str) -> str:
    days = story.draw.whole(12, 20) if kind == "delivery" else story.draw.whole(3, 9)
    months = 12 if kind == "warranty" else story.draw.pick((24, 36))
    least = 7500 if kind == "minimum" else story.draw.pick((500, 1000, 2000))
    service = "abroad only" if kind == "local" else "in the country"
    text = (
        f"Price: {price:.2f} EUR a piece. Delivery: {days} days. Warranty: {months} months. "
        f"Service point: {service}. First order from: {least} EUR."
    )
    return story.add(
        "web", "pages", "page", title=f"{name}: {thing}", site=domain_of(name), text=text,
        kind="product",
        url=f"https://{domain_of(name)}/{thing.replace(' ', '-')}-{day[:7]}", published_on=day,
    )  # fmt: skip


def _solve_choice(client: Client, params: Mapping[str, Any]) -> str:
    text = article(client, "Buying criteria")
    newest: dict[str, Mapping[str, Any]] = {}
    for page in every(client, "web", "pages", kind="product"):
        name, _, thing = page["title"].partition(": ")
        known = newest.get(name)
        if thing == params["thing"] and (
            known is None or known["published_on"] < page["published_on"]
        ):
            newest[name] = page
    out, prices = 0, {}
    for name, page in newest.items():
        says = page["text"]
        is_out = (
            figure(says, r"Delivery: (\d+)", 0) > figure(text, r"more than (\d+) days", 1e9)
            or figure(says, r"Warranty: (\d+)", 0) < figure(text, r"less than (\d+) months", 0)
            or ("abroad only" in says and "no service point" in text)
            or figure(says, r"from: (\d+)", 0) > figure(text, r"more than ([\d,]+) EUR", 1e9)
        )
        out += is_out
        if not is_out:
            prices[name] = figure(says, r"Price: ([\d.]+) EUR", 0)
    winner = min(prices, key=lambda name: prices[name])
    attempt(client, "web", "create_bookmark", saved_page=newest[winner]["id"], folder="shortlist")
    return report(vendor=winner, price=prices[winner], ruled_out=out)


# News

_NEWS = {
    "copies": "A story that several feeds bring counts once: star the earliest entry.",
    "agency": "A story that several feeds bring counts once: star the entry of the feed Wire "
    "Service.",
    "latest": "A story that several feeds bring counts once: star the latest entry.",
    "trade": "A story that several feeds bring counts once: star the entry of the feed Trade "
    "Weekly.",
}
_NEWS_PROMPTS = (
    "What was in the news about {name} in February? Please star one entry per story in my feeds, "
    "the way our briefing rules want it, and skip anything that was later withdrawn. Tell me how "
    "many stories there were and the date of the latest starred entry.",
    "Please go through the feeds for February's news about {name}. Each story gets one star, by "
    "our briefing rules, except stories that were withdrawn later. I need the number of stories "
    "and the date of the newest entry you starred.",
)
_STORIES = (
    *("opens a plant in Gdansk", "names a new head of sales", "recalls a batch of filters"),
    *("buys a share of a start-up", "raises its forecast", "closes its office in Bern"),
)
_FEEDS = ("Wire Service", "Trade Weekly", "Morning Post", "Harbour Gazette")


def _news(number: int, seed: int) -> Draft:
    story = Story("news_digest", number, seed, list(_NEWS), NOW, ACTOR)
    name = companies(story.draw, 1)[0]
    twin = near_company(name)
    feeds = {title: _feed(story, title) for title in _FEEDS}
    dates = []
    for at, what in enumerate(story.draw.shuffled(_STORIES)):
        day = days_later("2026-02-03", 4 * at)
        order = [_FEEDS[2], *story.draw.shuffled(_FEEDS[:2]), _FEEDS[3]]
        entries = {
            feed: _entry(story, feeds[feed], f"{name} {what}", days_later(day, after))
            for after, feed in enumerate(order)
        }
        chosen = {"copies": order[0], "agency": "Wire Service", "trade": "Trade Weekly"}
        starred = entries[chosen.get(story.rule, order[-1])]
        if at == 2:
            title = f"Withdrawn: {name} {what}"
            _entry(story, feeds["Wire Service"], title, days_later(day, 6))
            continue
        fields = story.fields(starred)
        dates.append(fields["published_at"][:10])
        story.sets(starred, f"'{what}' is starred once.", is_starred=True)
        if at == 0:
            rest = f"{twin} {what}"
            other = _entry(story, feeds["Trade Weekly"], rest, fields["published_at"][:10])
            story.decoy(starred, other)
    for what in story.draw.sample(_STORIES, 4):
        earlier = story.draw.day("2026-01-05", "2026-01-28")
        _entry(story, feeds["Morning Post"], f"{name} {what}", earlier)
        _entry(story, feeds["Harbour Gazette"], f"{twin} {what}", "2026-02-15")
    house_rule(story, "Briefing rules", "A briefing has every story of the month.", _NEWS)
    articles(story)
    story.number_is("stories", len(dates), "how many")
    story.date_is("latest", max(dates))
    params = {"name": name}
    return story.draft(_NEWS_PROMPTS[number % 2].format(name=name), params,
                       faulty=("rss", "search_entries"))  # fmt: skip


def _feed(story: Story, title: str) -> str:
    """The id of a feed."""
    feed = story.add(
        "rss", "feeds", "feed", title=title, is_active=True, category="business",
        url=f"https://{title.lower().replace(' ', '-')}.example/feed",
    )  # fmt: skip
    return feed.rpartition("/")[2]


def _entry(story: Story, feed: str, title: str, day: str) -> str:
    text = f"{title}. The company gave no further details." + " More to follow." * story.draw.whole(
        0, 2
    )
    if title.startswith("Withdrawn"):
        text = "This story was wrong and has been withdrawn. We regret the error."
    return story.add(
        "rss", "entries", "ent", feed=feed, title=title, text=text, is_starred=False, is_read=False,
        published_at=f"{day}T{story.draw.whole(6, 21):02}:30:00+01:00",
    )  # fmt: skip


def _solve_news(client: Client, params: Mapping[str, Any]) -> str:
    text = article(client, "Briefing rules")
    feeds = {row["id"]: row["title"] for row in rows(client, "rss", "feeds")}
    window = {"published_at_from": "2026-02-01", "published_at_to": "2026-02-28"}
    stories: dict[str, list[Mapping[str, Any]]] = {}
    withdrawn = set()
    for entry in every(client, "rss", "entries", **window):
        title = entry["title"].removeprefix("Withdrawn: ")
        if title.startswith(f"{params['name']} "):
            if title != entry["title"]:
                withdrawn.add(title)
            else:
                stories.setdefault(title, []).append(entry)
    dates = []
    wanted = text.rpartition("of the feed ")[2].rstrip(".") if "of the feed" in text else None
    for title, entries in stories.items():
        if title in withdrawn:
            continue
        entries.sort(key=lambda entry: entry["published_at"], reverse="latest" in text)
        chosen = [e for e in entries if wanted is None or feeds[e["feed"]] == wanted]
        for entry in chosen[:1] if "counts once" in text else chosen:
            attempt(client, "rss", "update_entry", id=entry["id"], is_starred=True)
            dates.append(entry["published_at"][:10])
    return report(stories=len(dates), latest=max(dates, default=""))


SCENARIOS = (
    Scenario(
        "vendor_choice", "Choose a vendor from saved pages by buying criteria", FAMILY,
        ("web", "kb"), _choice, _solve_choice,
    ),
    Scenario(
        "news_digest", "Star each story about a company once", FAMILY,
        ("rss", "kb"), _news, _solve_news,
    ),
)  # fmt: skip
