"""Ratebook: from metered usage to invoices."""
