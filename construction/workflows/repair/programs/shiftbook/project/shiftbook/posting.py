"""A posting: what the weeks come to by now, less what was posted for them before."""

from collections import defaultdict

from shiftbook import ledger, premiums
from shiftbook.punches import read_corrections, read_punches, received
from shiftbook.shifts import shifts, work
from shiftbook.stretches import paired
from shiftbook.weeks import weeks
from shiftbook.zones import ZERO


def by_person(punches, people, log=None):
    made = defaultdict(list)
    for punch in punches:
        if punch.person in people:
            made[punch.person].append(punch)
        elif log:
            log.warning(f"unknown person {punch.person} at {punch.at:%Y-%m-%d %H:%M}")
    return dict(sorted(made.items()))


def _shifts(settings, person, punches, log):
    stretches, lonely = paired(punches, person.site.zone, settings.open_after)
    for punch in lonely:
        log.warning(f"{person.name}: {punch.kind} open since {punch.at:%Y-%m-%d %H:%M}")
    return shifts(stretches, settings.same_shift, settings.break_from)


def _computed(settings, people, punches, log):
    """The time of all shifts by week, person and kind."""
    totals = defaultdict(lambda: ZERO)
    for name, own in by_person(punches, people, log).items():
        site = people[name].site
        for shift in _shifts(settings, people[name], own, log):
            key = (shift.week, name)
            totals[*key, "work"] += work(shift, settings.breaks, settings.quarter)
            totals[*key, "night"] += premiums.night(shift, site, settings.night)
            totals[*key, "holiday"] += premiums.holiday(shift, site)
    return totals


def _rows(week, first, computed, before):
    for key in sorted({*computed, *before}):
        difference = computed[key] - before[key]
        if first <= key[0] <= week and difference:
            yield ledger.Row(week, *key, difference)


def close(settings, people, last, log):
    """Post all weeks up to `last` that are not posted yet."""
    punches = read_punches(settings.data, log)
    corrections = read_corrections(settings.data)
    done = _posted_until(settings)
    for week in weeks(settings.first_week, last):
        if done is not None and week <= done:
            continue
        moment = week.due(settings.due)
        log.at(moment)
        standing = received(punches, corrections, moment)
        computed = _computed(settings, people, standing, log)
        before = ledger.posted(ledger.read(settings.ledger))
        rows = list(_rows(week, settings.first_week, computed, before))
        for row in rows:
            if row.week != week:
                log.info(f"{row.person}: difference for {row.week}, {row.kind}, {row.time}")
        ledger.add(settings.ledger, rows)
        _marker(settings).write_text(f"{week}\n", "utf-8")
        log.info(f"{week} posted, {len(rows)} rows")


def _marker(settings):
    return settings.var / "posted_until"


def _posted_until(settings):
    path = _marker(settings)
    return type(settings.first_week).parsed(path.read_text("utf-8").strip()) if path.exists() else None
