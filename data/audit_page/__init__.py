"""The audit page: every rejection of a run, and its funnel under other limits."""

from data.audit_page.columns import Shown, build_columns, item_ids
from data.audit_page.page import as_csv, as_json, audit_page, header_policy
from data.audit_page.reading import Books, read_books
from data.audit_page.whatif import recompute

__all__ = [
    "Books",
    "Shown",
    "as_csv",
    "as_json",
    "audit_page",
    "build_columns",
    "header_policy",
    "item_ids",
    "read_books",
    "recompute",
]
