"""The audit page: every rejection of a run, and its funnel under other limits."""

from data.audit_page.columns import Books, Shown, build_columns, item_ids, opaque_names, read_books
from data.audit_page.page import (
    SIGNATURES,
    PrivateHalf,
    Refused,
    as_csv,
    as_json,
    audit_page,
    header_policy,
    write_page,
)

__all__ = [
    "SIGNATURES",
    "Books",
    "PrivateHalf",
    "Refused",
    "Shown",
    "as_csv",
    "as_json",
    "audit_page",
    "build_columns",
    "header_policy",
    "item_ids",
    "opaque_names",
    "read_books",
    "write_page",
]
