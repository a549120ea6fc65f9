"""Code stays code: what a program reads by its place is not touched, strings and comments are."""

from __future__ import annotations

import ast
import sqlite3
import tomllib
from typing import Any

import pytest
import yaml

from anonymization.documents.text_forms import text_edits, text_pieces
from anonymization.masking_recipe import MaskingLevel, at_level
from anonymization.text.contracts import DetectionConfig, EntityType, Mode
from anonymization.text.detect.engine import TextDetector
from anonymization.text.masking.code_text import fenced_spans, fixed_spans, lexer_of
from anonymization.text.masking.masker import Masker
from anonymization.text.masking.pieces import Piece
from anonymization.text.vault import applied


@pytest.fixture(scope="module")
def detector() -> TextDetector:
    return TextDetector(at_level(DetectionConfig.for_tasks(), MaskingLevel.STRICT))


def masked(text: str, name: str, detector: TextDetector, *known: Piece) -> str:
    masker = Masker(detector, bytes(32), Mode.SURROGATE, "s")
    masker.learn([*text_pieces(text, name), *known])
    return applied(text, text_edits(text, name, masker.edits))[0]


_PYTHON = '''"""Fares of the ferry, kept by Marguerite Oduya."""
import bisect
from collections import Counter as Rose

OWNER = "Marguerite Oduya"  # ask Marguerite Oduya
TOKEN = "ghp_kT7rQ2mZ9xW4vB8nC5dF3gH6jL1pS0yU2aEi"


def harbour(frame, key):
    return frame.loc[OWNER].setdefault(key, divmod(7, 2)), bisect.bisect_left([1], 1), Rose()
'''


def test_a_program_runs_as_before_and_its_people_and_secrets_are_gone(
    detector: TextDetector,
) -> None:
    text = masked(_PYTHON, "fares.py", detector)
    assert "Marguerite" not in text and "ghp_kT7rQ2mZ9x" not in text
    names = [n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)]
    assert names == [n.id for n in ast.walk(ast.parse(_PYTHON)) if isinstance(n, ast.Name)]
    space: dict[str, Any] = {}
    exec(compile(text, "fares.py", "exec"), space)
    assert callable(space["harbour"])


_SQL = """-- for Marguerite Oduya
CREATE TABLE berth (
    berth_id INTEGER NOT NULL PRIMARY KEY,
    "Harbour Name" VARCHAR(12),
    depth NUMERIC(10, 2) CHECK (depth > 0)
);
INSERT INTO berth VALUES (1, 'Marguerite Oduya', 3.5);
"""


def test_a_schema_keeps_its_constraints(detector: TextDetector) -> None:
    text = masked(_SQL, "berths.sql", detector)
    assert "Marguerite" not in text
    schemas = []
    for script in (_SQL, text):
        database = sqlite3.connect(":memory:")
        database.executescript(script)
        schemas.append(database.execute("SELECT sql FROM sqlite_schema").fetchall())
        database.close()
    assert schemas[0] == schemas[1]


def test_settings_keep_keys_images_and_types(detector: TextDetector) -> None:
    stack = (
        "services:\n  Marsh Cache:\n    image: valkey:8.0-alpine\n    ports: ['6379:6379']\n"
        "    environment:\n      OWNER: Marguerite Oduya\n      LOG_LEVEL: DEBUG\n"
        "      RETRIES: 3\n"
    )
    read = yaml.safe_load(masked(stack, "stack.yaml", detector))
    before = yaml.safe_load(stack)
    service, was = read["services"]["Marsh Cache"], before["services"]["Marsh Cache"]
    assert service["environment"].pop("OWNER") != was["environment"].pop("OWNER")
    assert service == was
    settings = '[Summer.Hill]\nretries = 4\nratio = 0.5\nmodel = "llama-guard-3"\n'
    assert tomllib.loads(masked(settings, "app.toml", detector)) == tomllib.loads(settings)


def test_a_known_word_is_not_carried_into_code_but_a_full_name_is(detector: TextDetector) -> None:
    code = "class Oduya:\n    marguerite_oduya = 1\n    Service = 2\n"
    known = (
        Piece("Marguerite Oduya", kind=EntityType.PERSON),
        Piece("Service", kind=EntityType.PERSON),
    )
    text = masked(code, "model.py", detector, *known)
    assert "Service = 2" in text and "class Oduya" in text
    assert "marguerite_oduya" not in text
    ast.parse(text)


def test_a_fence_that_names_its_language_is_code(detector: TextDetector) -> None:
    note = "Run this:\n```python\nimport Summer\nSummer.ask('Marguerite Oduya')\n```\nThanks.\n"
    text = masked(note, "note.md", detector)
    assert "import Summer\nSummer.ask('" in text and "Marguerite" not in text
    assert fenced_spans("```\nimport os\n```\n") == ()


@pytest.mark.parametrize(
    ("name", "alias"),
    [("a/b.py", "python"), ("Dockerfile", "docker"), ("x.TSX", "typescript"), ("notes.md", "")],
)
def test_the_lexer_is_told_by_the_name(name: str, alias: str) -> None:
    assert lexer_of(name) == alias


def test_broken_code_and_other_line_ends_are_read() -> None:
    for text in ("def (:\r\n  x = 'a", "SELECT \x00 FROM 'x", "\ufeffimport os\r\n", ""):
        for alias in ("python", "sql", "bash", "yaml"):
            spans = fixed_spans(alias, text)
            assert all(0 <= start < end <= len(text) for start, end in spans)
            assert list(spans) == sorted(spans)


_SHELL = """#!/bin/sh
# on call: Marguerite Oduya
node=`hostname -s`
ip link | grep eth0 | cut -d: -f2
echo "$hostname | sha1sum | cut -c1-8"
scp dump.gz oduya@db4.harrow-ferries.co.uk:/srv
"""


def test_commands_and_their_arguments_stay(detector: TextDetector) -> None:
    before, after = _SHELL.splitlines(), masked(_SHELL, "dump.sh", detector).splitlines()
    assert after[2:5] == before[2:5]
    assert "Oduya" not in after[1] and "harrow-ferries" not in after[5]
    assert after[5].startswith("scp dump.gz ") and after[5].endswith(":/srv")


@pytest.mark.parametrize(
    ("name", "text", "stays"),
    [
        ("sums.sql", "SELECT SUM(CASE WHEN paid = 0 THEN 1 ELSE 0 END) FROM fares;\n", "whole"),
        ("roles.py", 'is_manager = "裁量労働者" in grade\n', "whole"),
        ("roles.ts", "if (grade === '見習船員') { pay(1) }\n", "whole"),
        ("app.py", 'LINE = "Harbour team\\nhttps://pier.example.org"\n', "\\nhttps://"),
    ],
)
def test_what_code_compares_and_counts_stays(
    detector: TextDetector, name: str, text: str, stays: str
) -> None:
    assert (text if stays == "whole" else stays) in masked(text, name, detector)


def test_a_service_that_a_url_calls_is_still_the_one_declared(detector: TextDetector) -> None:
    text = (
        "# errors.harrow-ferries.co.uk, owner: Marguerite Oduya (m.oduya@harrow-ferries.co.uk)\n"
        "upstream beacon {\n    server 10.4.7.9:9000;\n}\nserver {\n    location / {\n"
        "        proxy_pass http://beacon/static/;\n    }\n}\n"
    )
    result = masked(text, "site.conf", detector)
    assert "upstream beacon {" in result and "proxy_pass http://beacon/static/;" in result
    assert not any(word in result for word in ("harrow", "Oduya"))
    assert result.splitlines()[0].startswith("# errors.")


def test_a_line_break_of_a_calendar_is_no_part_of_an_account(detector: TextDetector) -> None:
    text = "BEGIN:VEVENT\nDESCRIPTION:Talk\\nPIER\\nhttps://pier.eventbrite.co.uk\nEND:VEVENT\n"
    assert masked(text, "talks.ics", detector) == text


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("# test db: fares-02.harrow.local / fare_rw / Rope#5512knot\n", "Rope#5512knot"),
        ("PW = os.environ.get('FERRY_PW', 'Tide!pool-2031')\n", "Tide!pool-2031"),
        ("# wiki admin login is still moduya / lantern-pier-42\n", "lantern-pier-42"),
    ],
)
def test_passwords_in_notes_and_defaults_go(detector: TextDetector, text: str, secret: str) -> None:
    assert secret not in masked(text, "notes.py", detector)


@pytest.mark.parametrize(
    "line",
    [
        r"""curl -s $URL | sed "s/\",\"fullName\":\"/ /g" | sort""",
        """sed -e 's|"userName":"|user=|g' -e 's/"surname": "/ /2' people.json""",
        """perl -pe 's#customer: "#customer="#gi' orders.txt""",
        """gawk -F, '{ print "contact: " $2, "name: " Owner }' people.csv""",
        """jq -r '.[] | "owner: \\(.Owner)"' people.json""",
    ],
)
def test_an_expression_that_a_command_runs_has_no_labels(detector: TextDetector, line: str) -> None:
    assert masked(f"#!/bin/sh\n{line}\n", "list.sh", detector) == f"#!/bin/sh\n{line}\n"


def test_people_in_an_expression_go_and_its_flags_stay(detector: TextDetector) -> None:
    text = "sed -i 's/Marguerite Oduya/the owner/g; s|moduya@harrow.example|X|2' fares.txt\n"
    result = masked(text, "set.sh", detector, Piece("Author: Marguerite Oduya"))
    assert "Oduya" not in result and "moduya" not in result
    assert result.startswith("sed -i 's/") and result.endswith("|X|2' fares.txt\n")
    assert "/the owner/g; s|" in result


@pytest.mark.parametrize(
    "text",
    [
        'S:"Sftp Tab Local Directory"=\nS:"Keymap Filename"=\nD:"Newline Mode"=00000000\n',
        '"Proxy Username Prompt"=dword:00000001\n"Harbour Bell Volume"=dword:00000003\n',
        'S:"MAC List"=hmac-sha1,umac-64@openssh.com,hmac-sha2-256-etm@openssh.com\n',
        "KexAlgorithms = curve25519-sha256@libssh.org,sntrup761x25519-sha512@openssh.com\n",
    ],
)
def test_names_of_options_and_algorithms_stay(detector: TextDetector, text: str) -> None:
    assert masked(text, "session.ini", detector) == text
