"""Hierarchical names of series, rebuilt from row order, closing totals and standard trees."""
