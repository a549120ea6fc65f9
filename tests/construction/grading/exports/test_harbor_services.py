"""Workflow tasks in the export for Harbor: what agents can reach, and runs in Harbor itself."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from construction.grading.exports.harbor import RECORD
from construction.workflows.world_file import read_world, write_world
from flows.commands.releases import export_harbor_command
from tests.construction.grading.exports.sample import contents
from tests.construction.grading.exports.test_harbor_runs import (
    AGENTS,
    PROBE,
    harbor,
    needs_harbor,
)
from tests.flows.evaluate.workflow_release import ANSWER, TODO, write_release
from tests.needs import needs_box

pytestmark = pytest.mark.slow(seconds=20)


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    return write_release(tmp_path_factory.mktemp("release"))


@pytest.fixture(scope="module")
def whole(released: tuple[Path, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("harbor") / "whole"
    export_harbor_command(released[0], out, with_private=True)
    return out


def test_the_world_stands_beside_the_agent_and_never_in_its_image(
    whole: Path, released: tuple[Path, str]
) -> None:
    task = whole / "tasks" / released[1]
    shown = {name for name, content in contents(task).items() if b"parcel" in content}
    assert shown == {"environment/services/world.json"}
    image = (task / "environment" / "Dockerfile").read_text()
    copies = [line.split()[1] for line in image.splitlines() if line.startswith("COPY")]
    assert copies == ["inputs/", "data_tool"]
    compose = yaml.safe_load((task / "environment" / "docker-compose.yaml").read_text())
    assert compose["services"]["services"]["build"] == {"context": "./services"}
    assert "volumes" not in compose["services"]["main"]
    settings = tomllib.loads((task / "task.toml").read_text())
    assert {"source": RECORD, "service": "services"} in settings["artifacts"]
    assert [hook["service"] for hook in settings["verifier"]["collect"]] == ["services"]


_ASKED = """
import json, sys
from pathlib import Path
sys.path.insert(0, "server")
from benchmint_services.construction.workflows.contracts import Request
from benchmint_services.construction.workflows.engine import handle
from benchmint_services.construction.workflows.world_file import read_world
world, refused = read_world(Path("world.json")), []
for _ in range(3):
    handled = handle(world, Request("mail", "get_message", {"id": "m-1"}))
    world = handled.world
    refused.append(handled.response.refused)
print(json.dumps(refused))
"""


def test_the_exported_server_keeps_the_allowance(
    whole: Path, released: tuple[Path, str], tmp_path: Path
) -> None:
    folder = tmp_path / "services"
    shutil.copytree(whole / "tasks" / released[1] / "environment" / "services", folder)
    path = folder / "world.json"
    write_world(path, replace(read_world(path), allowance=2))
    command = [sys.executable, "-I", "-B", "-c", _ASKED]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [None, None, "rate_limited"]


def test_without_a_record_there_is_no_reward(
    whole: Path, released: tuple[Path, str], tmp_path: Path
) -> None:
    (tmp_path / "outputs").mkdir()
    (tmp_path / "outputs" / "answer.txt").write_text(ANSWER)
    reward = tmp_path / "reward.json"
    variables = {"WORK": tmp_path, "REWARD": reward, "RECORD": tmp_path / "record.json"}
    environment = {f"BENCHMINT_{name}": str(path) for name, path in variables.items()}
    command = ["sh", str(whole / "tasks" / released[1] / "tests" / "test.sh")]
    environment["PATH"] = "/usr/local/bin:/usr/bin:/bin"
    assert subprocess.run(command, env=environment, capture_output=True, check=False).returncode
    assert not reward.exists()
    (tmp_path / "record.json").write_text('{"audit": [], "changes": []}')
    subprocess.run(command, env=environment, capture_output=True, check=True)
    assert json.loads(reward.read_text())["reward"] == 0.0


@needs_harbor
@needs_box
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("agent", "value"), AGENTS)
def test_harbor_runs_services_and_grades_their_record(
    whole: Path, released: tuple[Path, str], tmp_path: Path, agent: list[str], value: float
) -> None:
    assert harbor(whole, released[1], tmp_path, *agent)["reward"] == value
    (record,) = tmp_path.glob("*/*/artifacts/state/record.json")
    audit = json.loads(record.read_text())["audit"]
    assert bool(audit) == (agent[-1] in ("oracle", "scripted_agents:EmptyCalls"))


WORK = {
    "read": 'data_tool mail_get_message \'{"id": "m-1"}\'',
    "write": f"data_tool todo_create_task '{json.dumps(TODO)}'",
    "answer": f"mkdir -p outputs; echo '{ANSWER}' > outputs/answer.txt",
    "worlds": "find / -name world.json -o -name '*.sqlite' -o -name record.json 2>/dev/null",
    "forged": 'echo \'{"audit": [], "changes": []}\' > /state/record.json; ls /state',
}


@needs_harbor
@needs_box
@pytest.mark.timeout(300)
def test_an_agent_works_in_a_shell_and_can_neither_read_the_world_nor_forge_the_record(
    whole: Path, released: tuple[Path, str], tmp_path: Path
) -> None:
    (tmp_path / "probe.py").write_text(PROBE)
    (tmp_path / "commands.json").write_text(json.dumps(WORK))
    reward = harbor(whole, released[1], tmp_path, "--agent-import-path", "probe:Probe")
    outputs = json.loads((tmp_path / "found.json").read_text())
    assert "The parcel never came." in outputs["read"]
    assert outputs["worlds"] == ""
    assert reward["reward"] == 1.0
    (record,) = tmp_path.glob("*/*/artifacts/state/record.json")
    assert len(json.loads(record.read_text())["audit"]) == 2
