"""The seam to the sentence encoder."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from construction.signals import embedding
from construction.signals.embedding import cosine, encode_multilingual, unit


def test_languages_meet_and_order_makes_no_difference() -> None:
    texts = ["Send an e-mail to a customer.", "给客户发送电子邮件。", "Deploy a website."]
    straight = encode_multilingual(texts)
    assert straight[0] @ straight[1] > 0.5 > straight[0] @ straight[2]
    turned = encode_multilingual(texts[::-1])
    assert (straight == turned[::-1]).all()
    assert encode_multilingual([]).shape == (0, 512)


def test_the_model_sees_each_text_once_and_sorted(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[str]] = []

    class Model:
        def encode(self, texts: Sequence[str]) -> object:
            seen.append(list(texts))
            return np.array([[len(text), 1.0] for text in texts], dtype=np.float32)

    monkeypatch.setattr(embedding, "_model", Model)
    vectors = encode_multilingual(["test-bb", "test-a", "test-bb"])
    assert seen == [["test-a", "test-bb"]]
    assert (vectors[0] == vectors[2]).all()
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1.0, 1.0, 1.0])


def test_cosine_is_rounded_and_zero_rows_stay_zero() -> None:
    rows = unit(np.array([[3.0, 4.0], [0.0, 0.0]]))
    assert rows.tolist() == [[0.6, 0.8], [0.0, 0.0]]
    assert cosine(rows, unit(np.array([[1.0, 1.0]]))).tolist() == [[0.989949494], [0.0]]
