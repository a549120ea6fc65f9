"""The audit page: every rejection of a run, and its funnel under other limits."""

from data.audit_page.checks import OBSERVED, REASON, Bound, Check, GateChecks, measure
from data.audit_page.columns import Shown, build_columns, item_ids
from data.audit_page.downloads import as_csv, as_json
from data.audit_page.page import audit_page, header_policy
from data.audit_page.reading import Books, read_books
from data.audit_page.whatif import recompute

__all__ = [
    "OBSERVED",
    "REASON",
    "Books",
    "Bound",
    "Check",
    "GateChecks",
    "Shown",
    "as_csv",
    "as_json",
    "audit_page",
    "build_columns",
    "header_policy",
    "item_ids",
    "measure",
    "read_books",
    "recompute",
]
