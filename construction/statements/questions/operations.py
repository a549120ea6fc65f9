"""The operations of a question's reference steps. Exported solvers take these names along."""

TOOLS = ("discover_companies", "discover_company_series", "get_company_fundamentals")
PRESENT = "present"  # the last step: the value in the unit, scale and rounding asked for
