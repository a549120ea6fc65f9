"""Tests that a text of one piece repeated is read in linear time at the level `strict`."""

import time

import pytest

from anonymization.text.detect.capitals import find_capitals
from anonymization.text.detect.positions import find_positions, find_reserved
from anonymization.text.detect.prose import MachineLines
from anonymization.text.detect.strict import find_unexplained
from anonymization.text.normal_form import Origins

_KNOWN = frozenset({"small", "word"})


def test_blank_lines_below_a_sentence() -> None:
    def seconds(size: int) -> float:
        begin = time.process_time()
        list(find_positions("It is done." + "\n" * size + "and more"))
        return time.process_time() - begin + 1e-3

    assert seconds(40_000) / seconds(5_000) < 24  # linear 8, quadratic 64


_SPOKEN = ("she has asthma and 4000 pay ", "they met Amber Reed and ")


@pytest.mark.parametrize("piece", _SPOKEN)
def test_a_long_line_of_prose(piece: str) -> None:
    def seconds(size: int) -> float:
        text, spent = piece * (size // len(piece)), []
        for _ in range(3):
            begin = time.process_time()
            list(find_capitals(text, MachineLines(text)))
            spent.append(time.process_time() - begin)
        return min(spent)

    seconds(1_000)  # the patterns are made at first use
    assert seconds(80_000) / seconds(10_000) < 20  # linear 8, quadratic 64


@pytest.mark.parametrize("piece", ["QUJD", "aB", "Co. ", "&a=", "[a](", "a:b:c:", "\n", "ACGT"])
def test_a_repeated_piece(piece: str) -> None:
    def seconds(size: int) -> float:
        spent = []
        text = piece * (size // len(piece))
        for _ in range(3):
            begin = time.process_time()
            list(find_reserved(text, _KNOWN))
            find_unexplained(text, [], _KNOWN)
            list(find_positions(text))
            list(find_capitals(text, MachineLines(text)))
            spent.append(time.process_time() - begin)
        return min(spent) + 1e-3

    assert seconds(8_000) / seconds(2_000) < 10  # linear 4, quadratic 16


def test_values_over_two_blocks_do_not_read_them_again(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    whole = Origins._origins_of

    def counted(origins: Origins, block: int) -> list[int]:
        read.append(block)
        return whole(origins, block)

    monkeypatch.setattr(Origins, "_origins_of", counted)
    origins = Origins("张" * 2_000)
    for offset in range(0, 3_000, 3):
        assert origins.at(offset) == offset // 3
        assert origins.at(offset + 2_400) == offset // 3 + 800
    assert len(read) == len(set(read))
