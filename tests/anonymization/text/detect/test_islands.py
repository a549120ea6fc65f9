"""Names inside code, SQL and Markdown; handles and small letters in chat."""

from __future__ import annotations

import pytest

from anonymization.text.contracts import DetectionConfig
from anonymization.text.detect.engine import TextDetector
from anonymization.text.detect.prose import islands


@pytest.fixture(scope="module")
def detector() -> TextDetector:
    return TextDetector(DetectionConfig.for_tasks())


@pytest.mark.parametrize(
    ("line", "private"),
    [
        ("INSERT INTO staff (n) VALUES ('Beatrix Hollenkamp');", "Beatrix Hollenkamp"),
        ("INSERT INTO staff (p) VALUES ('+49 171 4829306');", "+49 171 4829306"),
        ("limit = 3  # approved by Henrik Aaltonen", "Henrik Aaltonen"),
        ("const limit = 3; // approved by Henrik Aaltonen", "Henrik Aaltonen"),
        ('OWNER = "Marguerite Duvalier"', "Marguerite Duvalier"),
        ('{"first": "Ottoline", "last": "Brackenridge"}', "Brackenridge"),
        ("[Yolanda Petrakis](mailto:y.petrakis@corp-mail.org)", "Yolanda Petrakis"),
        ("| Kwame Asantewaa | 12 | 3 | 4 | 5 |", "Kwame Asantewaa"),
        ("thanks @jonas_wxy, that helped", "jonas_wxy"),
        ("RT @ jonaswxy : so true", "jonaswxy"),
        ("Can you ask marguerite hollenkamp about it", "marguerite hollenkamp"),
        ("Name: Duvalier, Marguerite", "Duvalier, Marguerite"),
    ],
)
def test_names_in_lines_of_code_and_chat(detector: TextDetector, line: str, private: str) -> None:
    assert private in {line[f.start : f.end] for f in detector.find([line])[0]}


@pytest.mark.parametrize(
    "line",
    [
        "from functools import cache  # see the docs",
        'headers = {"Content-Type": "application/json", "Accept": "*/*"}',
        '@dataclass(frozen=True)  # "Frozen Instances" cannot change',
        "@override and @param are kept, and so is npm i @types/node",
        "@pytest.fixture\ndef orders() -> None: ...",
        "Register it with @app.route or mark it with @pytest.mark.slow",
        "F --> G[Git Note refs/notes/trace @ commit SHA]",
        "Stop @ checkout, then build @ release; 3 pieces @ wholesale",
        "SELECT name, sum(total) AS revenue FROM orders WHERE state = 'Open Orders'",
        "| Revenue | 12 | 3 | 4 | 5 |",
        "Mail the summary to support@company.com or ask @channel",
    ],
)
def test_code_stays(detector: TextDetector, line: str) -> None:
    private = {line[f.start : f.end] for f in detector.find([line])[0]}
    assert private <= {"support@company.com"}


def test_islands_are_comments_strings_cells_and_link_texts() -> None:
    line = "x = f(\"Ada Lovelace\", 'id') # written by hand"
    assert [line[start:end] for start, end in islands(line)] == ["Ada Lovelace", "written by hand"]
    assert list(islands("a = b[0](c) | d")) == []
