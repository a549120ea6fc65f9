"""Invoices: rated lines, credits, tax."""

from dataclasses import dataclass

from ratebook.money import ZERO, rounded, shared


@dataclass(frozen=True)
class Invoice:
    account: str
    currency: str
    start: str
    end: str
    lines: list
    taxes: list  # of each line
    credit: object  # the sum of credits that were used
    net: object
    tax: object

    @property
    def total(self):
        return self.net + self.tax


def _usable(account, period, balances):
    """Credits that are good for a period, in the order in which they are used up."""
    good = [
        credit
        for credit in account.credits
        if credit.granted < period.end
        and credit.expires >= period.start
        and balances.get(credit.number, credit.amount) > 0
    ]
    return sorted(good, key=lambda credit: (credit.expires, credit.number))


def use_credits(account, period, gross, balances):
    """Use credits for an amount; `balances` is brought up to date. Returns what was used."""
    used = ZERO
    for credit in _usable(account, period, balances):
        available = balances.get(credit.number, credit.amount)
        taken = min(available, gross - used)
        balances[credit.number] = available - taken
        used += taken
    return used


def invoice(account, period, lines, balances):
    """The invoice of a period; credits lower the net amount, and tax is on what remains."""
    gross = sum((line.amount for line in lines), ZERO)
    credit = use_credits(account, period, gross, balances)
    net = gross - credit
    tax = rounded(net * account.tax, account.currency)
    taxes = shared(tax, [line.amount for line in lines], account.currency)
    return Invoice(
        account=account.name,
        currency=account.currency,
        start=period.start.isoformat(),
        end=period.end.isoformat(),
        lines=lines,
        taxes=taxes,
        credit=credit,
        net=net,
        tax=tax,
    )
