"""Errors cross process boundaries whole."""

from __future__ import annotations

import pickle

import pytest

from data.errors import (
    EXTRA_MODULES,
    InputError,
    MissingPackageError,
    StageError,
    guarded,
    require_extra,
)


def test_an_input_error_survives_the_way_from_a_worker() -> None:
    error = InputError("a.csv", "nothing", "a table", "Check it.", 3)
    back = pickle.loads(pickle.dumps(error))
    assert str(back) == str(error) == "a.csv:3: found nothing; expected a table. Check it."
    assert (back.path, back.line) == ("a.csv", 3)


def test_a_missing_package_of_an_extra_is_one_clear_line() -> None:
    with pytest.raises(MissingPackageError) as raised, guarded("mask"):
        raise ModuleNotFoundError("No module named 'spacy.lang'", name="spacy.lang")
    assert str(raised.value).startswith("spacy: found no such package; it belongs to the extra")
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)


def test_a_missing_module_of_no_extra_is_a_bug() -> None:
    with pytest.raises(StageError, match="stage mask: ModuleNotFoundError at"), guarded("mask"):
        raise ModuleNotFoundError("No module named 'gone'", name="gone")


def test_an_extra_is_required_before_anything_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    require_extra("masking")
    monkeypatch.setitem(EXTRA_MODULES, "masking", ("no_such_module",))
    with pytest.raises(MissingPackageError, match="no_such_module"):
        require_extra("masking")
