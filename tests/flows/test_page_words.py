"""The pages of a release and of a board say in words what their codes mean."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from data.reasons import Words, own_labels, words_of
from flows.label_words import all_labels
from tests.demo import Demo
from tests.page_text import bare_codes


def test_a_code_is_bare_unless_it_is_shown_as_code() -> None:
    shown = "<p>{}</p><pre>answer.missing</pre><script>'hr_admin'</script>"
    assert bare_codes(shown.format("No answer. <code>answer.missing</code>")) == set()
    for code in ("answer.missing", "hr_admin", "check.write.1", "length.too_short"):
        assert bare_codes(shown.format(f"It is {code}, we think.")) == {code.removesuffix(".1")}


@pytest.mark.parametrize("labels", [own_labels(), all_labels()], ids=["own", "all"])
def test_every_label_has_words(labels: Mapping[str, Mapping[str, Words]]) -> None:
    for kind, own in labels.items():
        for code, words in own.items():
            assert words.code == code and "_" not in words.name, (kind, code)
            assert words.meaning.endswith(".") or words.name != code, (kind, code)


def test_a_label_of_a_users_own_is_called_by_its_code() -> None:
    words = Words("bee keeping", "", "bee_keeping")
    assert words_of(all_labels(), "family", "bee_keeping") == words
    assert words_of(all_labels(), "role", "hr_admin").name == "HR and administration"


def test_no_code_stands_alone_on_the_pages_of_the_demo(demo: Demo) -> None:
    pages = sorted((demo.out / "snapshots").rglob("*.html"))
    assert len(pages) > 80  # tasks of both halves, instances, reports
    bare = {path.name: bare_codes(path.read_text()) for path in pages}
    assert {name: codes for name, codes in bare.items() if codes} == {}
