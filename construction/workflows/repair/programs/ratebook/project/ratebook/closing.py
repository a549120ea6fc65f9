"""Closing: every period that is over becomes an invoice, once."""

import csv

from ratebook.accounts import read_accounts
from ratebook.events import read_events
from ratebook.invoices import invoice
from ratebook.money import quantity
from ratebook.periods import periods
from ratebook.placing import placed
from ratebook.rating import rate
from ratebook.state import Carry, read_state, write_state

HEADER = ["account", "start", "end", "item", "quantity", "amount", "tax"]


def _rows(bill):
    for line, tax in zip(bill.lines, bill.taxes, strict=True):
        start = [bill.account, bill.start, bill.end]
        yield [*start, line.item, quantity(line.quantity), str(line.amount), str(tax)]
    ends = [("credit", -bill.credit), ("total", bill.total)]
    for item, amount in ends:
        if amount or item == "total":
            tax = str(bill.tax) if item == "total" else ""
            yield [bill.account, bill.start, bill.end, item, "", str(amount), tax]


def _close_account(account, events, until, carry, settings, log):
    """The invoices of the periods of an account that were not closed before."""
    known = list(periods(account.opened, account.cycle_day, until - settings.grace))
    usages = placed(account, events, known, settings)
    for period, used in zip(known, usages, strict=True):
        if period.end.isoformat() <= carry.closed_until:
            continue
        rated = rate(account, period, used, settings.plans, carry.rolled)
        bill = invoice(account, period, rated.lines, carry.credits)
        carry.rolled = rated.rolled
        carry.closed_until = period.end.isoformat()
        late = sum(usage.is_late for usage in used)
        log.info(f"{account.name} {bill.start}..{bill.end}: {len(used)} events, {bill.total}")
        if late:
            log.info(f"{account.name}: {late} late events taken into {bill.start}")
        yield bill


def close(settings, until, log):
    """Close what is over, with its days of grace, on the day `until`; writes invoices and state. Returns the invoices."""
    state = read_state(settings.var / "state.json")
    events = read_events(settings.data / "events", log)
    bills = []
    for account in read_accounts(settings.data):
        if account.zone not in settings.zones:
            log.error(f"{account.name}: unknown zone {account.zone}, not closed")
            continue
        carry = state.setdefault(account.name, Carry())
        own = events.get(account.name, [])
        bills += _close_account(account, own, until, carry, settings, log)
    path = settings.var / "out" / f"invoices-{until.isoformat()}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADER)
        for bill in bills:
            writer.writerows(_rows(bill))
    write_state(settings.var / "state.json", state)
    log.info(f"closed {len(bills)} periods until {until.isoformat()}")
    return bills
