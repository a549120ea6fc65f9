"""Pictures of inputs: which go with a prompt, what they hold, and what the model is told."""

from __future__ import annotations

import io
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from construction.judging.calls.contracts import LlmConfig, Question
from construction.judging.calls.requests import key
from construction.judging.contracts import Case
from construction.judging.evidence.opened import _scaled
from construction.judging.evidence.views import PIXELS, Evidence, ImageRef, Pictures, look
from construction.judging.model.asking import _question
from construction.judging.model.grade import grade_stage
from construction.judging.model.prompt import LookedAt, looked_at
from construction.judging.model.screen import screen_stage
from construction.judging.model.write import write_stage
from tests.construction.judging.cases import case
from tests.construction.judging.model.fakes import CONFIG

FILES = {"meter.png": "navy", "plan.gif": "olive", "notes.txt": "", "torn.png": ""}


def picture(colour: str, kind: str = "PNG", size: tuple[int, int] = (3_000, 400)) -> bytes:
    buffer = io.BytesIO()
    made = Image.new("RGB", size, colour)
    made.info["comment"] = b"taken at home"
    exif = Image.Exif()
    exif[0x010E] = "taken at home"
    made.save(buffer, kind, **({"exif": exif} if kind != "GIF" else {}))
    return buffer.getvalue()


def content_of(name: str) -> bytes:
    if name == "torn.png":
        return picture("red")[:90]
    return picture(FILES[name], name[-3:].upper()) if FILES[name] else b"Reading at noon."


def given(folder: Path) -> tuple[Case, Pictures]:
    """A case with these files, and what makes their pictures."""
    paths = {}
    for name in FILES:
        paths[name] = folder / sha256(content_of(name)).hexdigest()
        paths[name].write_bytes(content_of(name))
    made = case("What does the meter say? Put it into reading.md", files=list(FILES))
    fixtures = tuple(
        item.model_copy(update={"sha256": paths[item.path].name})
        for item in made.candidate.fixtures
    )
    evidence = Evidence(said=made.evidence.said, files=look(paths))
    candidate = made.candidate.model_copy(update={"fixtures": fixtures})
    own = made.model_copy(update={"candidate": candidate, "evidence": evidence})
    return own, Pictures({path.name: path for path in paths.values()})


def stages(pictures: Pictures | None) -> list[Any]:
    otherwise: Any = None
    makers = (screen_stage, write_stage, grade_stage)
    return [make(CONFIG, otherwise, pictures) for make in makers]


def test_each_stage_sends_the_pictures_of_inputs_small_and_anew(tmp_path: Path) -> None:
    item, pictures = given(tmp_path)
    for stage in stages(pictures):
        sent: Question = _question(stage, item)
        assert '"1: meter.png, picture"' in sent.user
        assert '"2: plan.gif, picture"' in sent.user
        assert [image.media_type for image in sent.images] == ["image/jpeg"] * 2
        for image in sent.images:
            with Image.open(io.BytesIO(image.content)) as shown:
                assert shown.size == (PIXELS, 160)
            assert b"taken at home" not in image.content


def test_who_sees_no_pictures_is_told_which(tmp_path: Path) -> None:
    item, _ = given(tmp_path)
    for stage in stages(None):
        sent = _question(stage, item)
        assert sent.images == ()
        assert "2 of 2 pictures are not shown: meter.png, plan.gif" in sent.user


def test_a_picture_that_does_not_open_is_not_sent_and_that_is_said(tmp_path: Path) -> None:
    item, pictures = given(tmp_path)
    broken = item.evidence.files[3].model_copy(update={"pictures": ("picture",)})
    evidence = item.evidence.model_copy(update={"files": (broken,)})
    sent = _question(stages(pictures)[0], item.model_copy(update={"evidence": evidence}))
    assert sent.images == ()
    assert "left out: 1 pictures that do not open" in sent.user


def test_the_same_file_gives_the_same_key_and_another_picture_another(tmp_path: Path) -> None:
    item, pictures = given(tmp_path)
    stage = stages(pictures)[0]
    first = _question(stage, item)
    assert key(first, LlmConfig()) == key(_question(stage, item), LlmConfig())
    path = tmp_path / item.candidate.fixtures[0].sha256
    path.write_bytes(picture("white"))
    anew = Pictures({item.sha256: tmp_path / item.sha256 for item in item.candidate.fixtures})
    other = _question(stages(anew)[0], item)
    assert other.user == first.user
    assert key(other, LlmConfig()) != key(first, LlmConfig())
    blind = LlmConfig(sees_images=False)
    assert key(other, blind) == key(first, blind)


def test_a_page_without_text_is_shown_and_one_with_text_is_read(tmp_path: Path) -> None:
    pages = [Image.new("RGB", (400, 300), colour) for colour in ("white", "teal")]
    buffer = io.BytesIO()
    pages[0].save(buffer, "PDF", save_all=True, append_images=pages[1:])
    (tmp_path / "s").write_bytes(buffer.getvalue())
    (view,) = look({"scan.pdf": tmp_path / "s"})
    assert view.pictures == ("page 1", "page 2")
    made = case("Read scan.pdf", files=["scan.pdf"]).candidate.fixtures[0]
    fixture = made.model_copy(update={"sha256": "s"})
    references = [ImageRef(path="scan.pdf", picture=page) for page in view.pictures]
    shown = Pictures({"s": tmp_path / "s"}).of([fixture], references)
    with Image.open(io.BytesIO(shown[1][1].content)) as page:
        assert page.size == (PIXELS, 900)
        assert page.convert("L").point(lambda shade: shade < 140).getbbox() == (0, 0, PIXELS, 900)


def test_pages_that_find_no_room_are_there_unseen(tmp_path: Path) -> None:
    pages = [Image.new("RGB", (40, 30), "teal") for _ in range(12)]
    buffer = io.BytesIO()
    pages[0].save(buffer, "PDF", save_all=True, append_images=pages[1:])
    (tmp_path / "s").write_bytes(buffer.getvalue())
    item = case("Read scan.pdf", files=["scan.pdf"])
    fixture = item.candidate.fixtures[0].model_copy(update={"sha256": "s"})
    candidate = item.candidate.model_copy(update={"fixtures": (fixture,)})
    seen = Evidence(said=item.evidence.said, files=look({"scan.pdf": tmp_path / "s"}))
    item = item.model_copy(update={"candidate": candidate, "evidence": seen})
    pictures = Pictures({"s": tmp_path / "s"})
    note = "12 pages; 12 of them hold no text and can only be looked at: page "
    note += ", ".join(map(str, range(1, 13)))
    few = CONFIG.model_copy(update={"evidence_tokens": 3_000})
    assert looked_at(item, few, pictures) == LookedAt(frozenset({"scan.pdf"}), {"scan.pdf": note})
    assert looked_at(item, CONFIG, None) == LookedAt(frozenset(), {"scan.pdf": note})
    many = CONFIG.model_copy(update={"evidence_tokens": 20_000})
    assert looked_at(item, many, pictures) == LookedAt(frozenset({"scan.pdf"}), {})


def test_what_lies_on_its_side_stands_and_what_is_clear_lies_on_paper() -> None:
    buffer = io.BytesIO()
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by a quarter
    Image.new("RGB", (40, 20), "red").save(buffer, "JPEG", exif=exif)
    with Image.open(io.BytesIO(_scaled("picture", buffer.getvalue(), PIXELS, 10_000))) as shown:
        assert shown.size == (20, 40)
    buffer = io.BytesIO()
    Image.new("RGBA", (9, 9), (0, 0, 0, 0)).save(buffer, "PNG")
    with Image.open(io.BytesIO(_scaled("picture", buffer.getvalue(), PIXELS, 10_000))) as shown:
        assert shown.convert("L").getextrema() == (255, 255)
    with pytest.raises(Exception):  # noqa: B017 (of the child alone)
        _scaled("picture", buffer.getvalue(), PIXELS, 80)
