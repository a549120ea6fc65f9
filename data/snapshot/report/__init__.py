"""The audit report: one self-contained HTML page, and the funnel as a picture."""
