"""The output of the questions lane, after FinRetrieval's data set: questions apart from answers."""

from __future__ import annotations

from data.schemas_statements import ANSWERS, QUESTIONS

__all__ = ["ANSWERS", "QUESTIONS", "TABLES"]

TABLES = (QUESTIONS, ANSWERS)
