"""Feeds and sums."""

from collections import Counter

from presswork.moments import MINUTE, written
from presswork.submissions import newest


def _standing(state, revisions):
    """The newest revisions of articles that are published and not retracted."""
    if state.until is None:
        return []
    latest = newest(revisions, state.until)
    return [each for name, each in latest.items() if name in state.published and not each.retracts]


def feed(state, revisions, settings):
    """The newest articles of each section."""
    standing = sorted(_standing(state, revisions), key=lambda each: each.article)
    standing.sort(key=lambda each: state.published[each.article].at, reverse=True)
    for section in sorted(settings.zones):
        own = [each for each in standing if each.section == section]
        for each in own[: settings.newest]:
            at = written(state.published[each.article].at)
            yield f"{section},{at},{each.article},{state.published[each.article].slug},{each.title}"


def _archive(state, revisions, settings):
    """How many articles each section published in each month."""
    months = Counter()
    for each in _standing(state, revisions):
        shown = settings.zones[each.section].shown(state.published[each.article].at)
        months[each.section, f"{shown:%Y-%m}"] += 1
    return months


def tally(state, revisions, settings, sendings):
    """Sums: of channels what was sent and how long it took, of sections the archive."""
    kinds, minutes = Counter(), Counter()
    for each in sendings:
        kinds[each.channel, each.kind] += 1
        minutes[each.channel] += (each.moment - state.published[each.article].at) // MINUTE
    for (channel, kind), number in sorted(kinds.items()):
        yield f"channel {channel},{kind},sent,{number}"
    for channel, total in sorted(minutes.items()):
        yield f"channel {channel},all kinds,minutes after publication,{total}"
    for (section, month), number in sorted(_archive(state, revisions, settings).items()):
        yield f"section {section},{month},published,{number}"
