"""Software: what a release fixed, and how urgent bugs are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from construction.workflows.contracts import Client, Draft, Scenario
from construction.workflows.scenarios.people import days_later, people
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

FAMILY = "software_engineering"
NOW = "2026-10-06T13:00:00+02:00"
TODAY = NOW[:10]
ACTOR = "release.manager@harrowgate.example"
_BUGS = (
    *(
        "Search forgets filters",
        "Wrong total in cart",
        "Export loses accents",
        "Login loops on tablets",
    ),
    *("Dates one day off", "Print view is empty", "Slow start on Mondays", "Crash when offline"),
    *("Map shows old shops", "Mail sent twice", "Sorting ignores case", "Pictures upside down"),
    *("Undo skips a step", "Rounding of discounts", "Menu hides behind banner", "Copy drops links"),
)

# Release notes

_NOTES = {
    "internal": "Fixes with the tag 'internal' are not mentioned.",
    "security": "Fixes with the tag 'security' are not mentioned; they are announced apart.",
    "minor": "Fixes of priority low are not mentioned.",
    "own": "Bugs that our own people reported (harrowgate.example) are not mentioned.",
}
_NOTE_PROMPTS = (
    "Please write the release notes of {product} {version}: save a document 'Release {version}' "
    "listing the titles of the bugs fixed in it, one per line, by our rules for release notes. "
    "The team posted in the channel which fixes were taken out again; leave those out. How many "
    "are listed, and how many fixes of the version are not?",
    "{product} {version} is going out. I need a document 'Release {version}' with the titles of "
    "the fixed bugs line by line, following the release note rules and without what was reverted "
    "(see the channel). Tell me how many fixes it lists and how many it leaves out.",
)


def _notes(number: int, seed: int) -> Draft:
    story = Story("release_notes", number, seed, list(_NOTES), NOW, ACTOR)
    product = story.draw.pick(("Till", "Webshop", "Roster"))
    version = f"{story.draw.whole(3, 8)}.{story.draw.whole(1, 9)}"
    titles = story.draw.shuffled(_BUGS)
    story.room("documents", "documents")
    kinds = ["plain", "plain", "plain", "reverted", *_NOTES, "open", "other", "other"]
    listed: list[str] = []
    out: list[str] = []
    reverted = ""
    for kind in kinds:
        title = titles.pop()
        _fixed(story, title, product, version, kind)
        if kind in ("open", "other"):
            continue
        reverted = title if kind == "reverted" else reverted
        (out if kind in ("reverted", story.rule) else listed).append(title)
    for _ in range(3):
        _fixed(story, titles.pop(), f"{product} Lite", version, "plain")
    _talk(story, product, version, reverted, listed[0])
    pattern = "".join(f"(?=[\\s\\S]*{title})" for title in listed)
    pattern += "".join(f"(?![\\s\\S]*{title})" for title in out)
    story.makes(
        "documents", "documents", "The notes are stored.", title=f"Release {version}",
        body={"matches": f"^{pattern}"},
    )  # fmt: skip
    lead = "Release notes list every bug that was resolved in the version."
    house_rule(story, "Release notes", lead, _NOTES, "engineering")
    articles(story)
    story.number_is("listed", len(listed), "how many fixes")
    story.number_is("not_listed", len(out), "how many fixes of the version")
    params = {"product": product, "version": version}
    prompt = _NOTE_PROMPTS[number % 2].format(**params)
    return story.draft(prompt, params, faulty=("helpdesk", "search_tickets"))


def _fixed(story: Story, title: str, product: str, version: str, kind: str) -> None:
    asker = (
        "qa@harrowgate.example"
        if kind == "own"
        else f"user{story.draw.whole(10, 99)}@client.example"
    )
    day = story.draw.day("2026-09-07", "2026-09-28")
    done = {} if kind == "open" else {"resolved_at": f"{day}T16:00:00+02:00", "resolution": "Fixed"}
    story.add(
        "helpdesk", "tickets", "tkt", title=title, description="Steps are attached.",
        product=product,
        version="2.0" if kind == "other" else version, category="bug", requester=asker,
        tags=[kind] if kind in ("internal", "security") else ["public"],
        priority="low" if kind == "minor" else story.draw.pick(("normal", "high")),
        opened_at="2026-09-01T09:00:00+02:00", status="open" if kind == "open" else "resolved",
        **done,
    )  # fmt: skip


def _talk(story: Story, product: str, version: str, reverted: str, other: str) -> None:
    team = people(story.draw, 4)
    channel = story.add(
        "chat", "channels", "chan", name=product.lower(), topic="Builds and releases"
    )
    room = channel.rpartition("/")[2]
    lines = [
        f"Reverted from {version}: {reverted}. It broke the import.",
        f"Taken up for {version}: {other}",
        "Build is green again.",
        f"Reverted from 2.0: {other}. Fixed later.",
        "Who has the test phone?",
    ]
    for at, text in enumerate(lines):
        post = story.add(
            "chat", "messages", "chat", channel=room, author=team[at % 4].email, text=text,
            author_name=team[at % 4].name, sent_at=f"{days_later(TODAY, -at - 1)}T11:00:00+02:00",
        )  # fmt: skip
        if at == 0:
            story.overrides(post)


def _solve_notes(client: Client, params: Mapping[str, Any]) -> str:
    text = article(client, "Release notes")
    lead = f"Reverted from {params['version']}: "
    posts = every(client, "chat", "messages", query="Reverted")
    reverted = {p["text"].removeprefix(lead).partition(".")[0] for p in posts if lead in p["text"]}
    listed, out = [], 0
    bugs = every(client, "helpdesk", "tickets", category="bug", version=params["version"])
    for bug in [b for b in bugs if b["product"] == params["product"] and b["status"] == "resolved"]:
        is_out = (
            bug["title"] in reverted
            or any(f"'{tag}'" in text for tag in bug["tags"])
            or (bug["priority"] == "low" and "priority low" in text)
            or (bug["requester"].endswith("@harrowgate.example") and "our own people" in text)
        )
        out += is_out
        listed += [] if is_out else [bug["title"]]
    title = f"Release {params['version']}"
    attempt(client, "documents", "create_document", title=title, body="\n".join(listed))
    return report(listed=len(listed), not_listed=out)


# Urgency

_URGENCY = {
    "rollout": "Bugs in a feature that at least 50 per cent of users have are urgent, the others "
    "high.",
    "enabled": "Bugs in a feature that is switched on are urgent, the others low.",
    "expiring": "Bugs in a feature whose switch expires within 30 days are low, the others urgent.",
    "trial": "Bugs in a feature on trial, as its switch says, are normal, the others urgent.",
}
_URGENCY_PROMPTS = (
    "New bugs have come in for features behind switches. Please give each untriaged bug (tag "
    "'new') its priority by our triage rules; the switches in production count. How many are "
    "urgent now, and how many bugs did you triage?",
    "Please triage the bugs tagged 'new': set the priority as the triage rules say. How a feature "
    "is switched is in the configuration (production only). Give me the number triaged and the "
    "number of urgent ones.",
)
_FEATURES = ("fast-checkout", "gift-cards", "dark-mode", "voice-search", "wish-list", "map-view")


def _urgency(number: int, seed: int) -> Draft:
    story = Story("bug_triage", number, seed, list(_URGENCY), NOW, ACTOR)
    titles = story.draw.shuffled(_BUGS)
    urgent = count = 0
    features = story.draw.shuffled(_FEATURES)
    for at, feature in enumerate(features):
        share = story.draw.whole(*((55, 100) if at % 2 else (5, 40)))
        is_on, soon, on_trial = at % 3 != 0, at < 2, at in (2, 4)
        _switch(story, feature, "production", share, is_on, soon, on_trial)
        _switch(story, feature, "staging", 100 if share < 50 else 5, not is_on, not soon, at == 3)
        for channel in ("phone", "web") if at < 3 else ("web",):
            bug = _bug(story, titles.pop(), feature, channel, ["new"])
            story.reads(bug)
            priority = {
                "rollout": "urgent" if share >= 50 else "high",
                "enabled": "urgent" if is_on else "low",
                "expiring": "low" if soon else "urgent",
                "trial": "normal" if on_trial else "urgent",
            }[story.rule]
            count, urgent = count + 1, urgent + (priority == "urgent")
            story.sets(bug, f"A bug of {feature} is {priority}.", priority=priority)
    for feature in features[:4]:
        _bug(story, titles.pop(), feature, "phone", ["triaged"])
    house_rule(
        story, "Triage of bugs", "Triage gives a new bug its priority.", _URGENCY, "engineering"
    )
    articles(story)
    story.number_is("triaged", count, "how many bugs")
    story.number_is("urgent", urgent, "how many bugs")
    return story.draft(_URGENCY_PROMPTS[number % 2], {}, faulty=("config", "search_flags"))


def _switch(
    story: Story,
    feature: str,
    environment: str,
    share: int,
    is_on: bool,
    soon: bool,
    on_trial: bool,
) -> None:
    story.add(
        "config", "flags", "flag", name=feature, environment=environment, is_enabled=is_on,
        rollout_percent=share, owner=ACTOR,
        description=f"Turns on {feature}" + (", on trial" if on_trial else ""),
        expires_on=days_later(TODAY, story.draw.whole(*((5, 25) if soon else (60, 200)))),
    )  # fmt: skip


def _bug(story: Story, title: str, feature: str, channel: str, tags: list[str]) -> str:
    # No bug starts with a priority that a rule gives, so that every bug has to be changed.
    return story.add(
        "helpdesk", "tickets", "tkt", title=title, description=f"Seen in {feature}.",
        category="bug",
        product=feature, channel=channel, tags=tags, status="open", requester="user@client.example",
        opened_at=f"{days_later(TODAY, -story.draw.whole(1, 9))}T10:00:00+02:00",
    )  # fmt: skip


def _solve_urgency(client: Client, params: Mapping[str, Any]) -> str:
    text = article(client, "Triage of bugs")
    flags = {f["name"]: f for f in every(client, "config", "flags", environment="production")}
    urgent = count = 0
    for row in rows(client, "helpdesk", "tickets", tags="new"):
        bug = attempt(client, "helpdesk", "get_ticket", id=row["id"])
        flag = flags[bug["product"]]
        if "per cent of users" in text:
            share = figure(text, r"at least (\d+) per cent", 0)
            priority = "urgent" if flag["rollout_percent"] >= share else "high"
        elif "switched on" in text:
            priority = "urgent" if flag["is_enabled"] else "low"
        elif "expires within" in text:
            days = int(figure(text, r"within (\d+) days", 0))
            priority = "low" if flag["expires_on"] <= days_later(TODAY, days) else "urgent"
        elif "on trial" in text:
            priority = "normal" if "on trial" in flag["description"] else "urgent"
        else:
            priority = "high"
        attempt(client, "helpdesk", "update_ticket", id=bug["id"], priority=priority)
        count, urgent = count + 1, urgent + (priority == "urgent")
    return report(triaged=count, urgent=urgent)


SCENARIOS = (
    Scenario(
        "release_notes", "List what a release fixed", FAMILY,
        ("helpdesk", "chat", "kb"), _notes, _solve_notes,
    ),
    Scenario(
        "bug_triage", "Give new bugs their priority", FAMILY,
        ("helpdesk", "config", "kb"), _urgency, _solve_urgency,
    ),
)  # fmt: skip
