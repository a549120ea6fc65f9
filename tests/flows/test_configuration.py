"""Files that are no configuration, and keys that nobody knows: one line that helps."""

from __future__ import annotations

import os
import re
from pathlib import Path

import orjson
import pytest

from construction.judging.settings import ModelStage
from data.configuration import FORMS
from data.errors import ConfigError
from flows.recipe import Recipe, load_settings


def written(folder: Path, text: str, encoding: str = "utf-8") -> Path:
    path = folder / "benchmint.toml"
    path.write_text(text, encoding=encoding)
    return path


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("[relase]\n", "relase: unknown key; did you mean release?"),
        ("[selection]\nmax_task = 3\n", "selection.max_task: unknown key; did you mean max_tasks?"),
        ("[selection]\nzzz = 3\n", "selection.zzz: unknown key$"),
        ("[selection.lane_shares.questions]\nlo = 0\n", "questions.lo: unknown key$"),
        ("[sessions.length]\nmin_user_chars = -5\n", "min_user_chars: expected at least 0"),
        ("[sessions.recovery]\nlong_pause_seconds = nan\n", "long_pause_seconds: expected"),
        (f"a = {'[' * 5000}{']' * 5000}\n", "is nested too deeply"),
        ("name 3\n", "is not TOML"),
    ],
)
def test_what_is_wrong_is_named(text: str, result: str, tmp_path: Path) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ConfigError, match=result) as error:
        load_settings(path, environment={})
    assert str(error.value).startswith(f"{path}: ")


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    path = written(tmp_path, '[release]\nname = "mine"\n', "utf-8-sig")
    assert load_settings(path, environment={}).release.name == "mine"


def test_settings_of_a_model_can_be_left_out_in_a_file_and_in_the_environment(
    tmp_path: Path,
) -> None:
    path = written(tmp_path, '[judging.model]\nname = "m"\ntemperature = "none"\n')
    environment = {
        "BENCHMINT_JUDGING__MODEL__SEED": "none",
        "BENCHMINT_JUDGING__MODEL__MAX_TOKENS": "4000",
        "BENCHMINT_JUDGING__MODEL__MODELS__GRADE": "n",
        "BENCHMINT_RUNTIME__LLM__API": "responses",
    }
    settings = load_settings(path, environment=environment)
    model = settings.judging.model
    assert (model.temperature, model.seed, model.max_tokens) == (None, None, 4000)
    assert (model.judge_of(ModelStage.GRADE), model.judge) == ("model:n", "model:m")
    assert settings.runtime.llm.api == "responses"
    with pytest.raises(ConfigError, match="temperature: expected"):
        load_settings(path, environment={"BENCHMINT_JUDGING__MODEL__TEMPERATURE": "3"})


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    with pytest.raises(ConfigError, match="is not a regular file"):
        load_settings(tmp_path / "pipe.toml", environment={})


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('name = "My Benchmark!"', "lower-case letters, digits and hyphens, such as my-benchmark"),
        ("name = 7", "text, in quotes"),
        ('release_date = "soon"', "a date, such as 2026-12-01"),
        ('seed = "many"', "a whole number"),
        ("seed = 1.5", "a whole number"),
        ('version = "one"', "three numbers with dots, such as 1.0.0"),
    ],
)
def test_a_wrong_value_is_explained_in_plain_words(line: str, words: str, tmp_path: Path) -> None:
    path = written(tmp_path, f"[release]\n{line}\n")
    with pytest.raises(ConfigError) as refused:
        load_settings(path, {}, {})
    key = line.partition(" ")[0]
    assert str(refused.value) == f"{path}: release.{key}: expected {words}"


def test_every_pattern_of_a_setting_is_said_in_words() -> None:
    patterns = set(re.findall(r'"pattern":"((?:[^"\\]|\\.)*)"', schema_text()))
    assert patterns
    assert {orjson.loads(f'"{pattern}"') for pattern in patterns} <= FORMS.keys()


def schema_text() -> str:
    """The JSON schema of all settings."""
    return orjson.dumps(Recipe.model_json_schema()).decode()
