"""Which hard rules follow from deliverables and request."""

from __future__ import annotations

from construction.judging.baseline.grade import _hard_rules
from data.contracts import Deliverable


def test_names_that_the_agent_chose_are_no_rule() -> None:
    produced = Deliverable(file_type="md", name_hints=("notes.md",), source="produced")
    assert "named.md" not in {rule.rule_id for rule in _hard_rules([produced], "")}


def test_where_the_material_holds_a_traceback_a_result_may_quote_it() -> None:
    markdown = [Deliverable(file_type="md")]
    log = "08:00 started\nTraceback (most recent call last):\n  File 'a.py', line 3\nKeyError: 'id'"
    for material, is_ruled in (
        ("Sum the log", True),
        (log, False),
        ("what is a Traceback?", False),
    ):
        kinds = {rule.kind for rule in _hard_rules(markdown, material)}
        assert ("no_traceback" in kinds) is is_ruled


def test_an_unknown_type_has_only_rules_on_what_can_be_seen() -> None:
    ids = [rule.rule_id for rule in _hard_rules([Deliverable(file_type="py")], "")]
    assert ids == ["file_type.py", "count.py", "opens.py", "non_empty", "no_traceback"]
    ids = [rule.rule_id for rule in _hard_rules([Deliverable(file_type="dwg")], "")]
    assert ids == ["file_type.dwg", "count.dwg", "non_empty"]
