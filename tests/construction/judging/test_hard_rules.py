"""Which hard rules follow from deliverables and request."""

from __future__ import annotations

from construction.judging.hard_rules import hard_rules
from data.contracts import Deliverable


def test_names_that_the_agent_chose_are_no_rule() -> None:
    produced = Deliverable(file_type="md", name_hints=("notes.md",), source="produced")
    assert "named.md" not in {rule.rule_id for rule in hard_rules([produced], "")}


def test_a_request_about_errors_or_templates_has_no_rule_against_them() -> None:
    markdown = [Deliverable(file_type="md")]
    kinds = {rule.kind for rule in hard_rules(markdown, "Explain this traceback")}
    assert "no_traceback" not in kinds
    assert "no_placeholder" in kinds
    kinds = {rule.kind for rule in hard_rules(markdown, "写一个合同模板")}
    assert "no_placeholder" not in kinds
    assert "no_traceback" in kinds
    kinds = {rule.kind for rule in hard_rules(markdown, "Draft a reply to Ann")}
    assert "no_placeholder" not in kinds


def test_code_has_no_placeholder_rule_and_an_unknown_type_only_what_can_be_seen() -> None:
    ids = [rule.rule_id for rule in hard_rules([Deliverable(file_type="py")], "")]
    assert ids == ["file_type.py", "count.py", "opens.py", "non_empty", "no_traceback"]
    ids = [rule.rule_id for rule in hard_rules([Deliverable(file_type="dwg")], "")]
    assert ids == ["file_type.dwg", "count.dwg", "non_empty"]
