"""The generators of workspace repair, one module for each: `REPAIR` is its record."""
