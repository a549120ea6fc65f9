"""Plans from end to end."""

import contextlib
import io
import json
import shutil
import tempfile
import unittest
from pathlib import Path

from dispatch import cli


class Plans(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        shutil.copytree("config", self.root / "config")

    def run_command(self, *arguments):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            code = cli.main(["--root", str(self.root), *arguments])
        return code, printed.getvalue().splitlines()

    def simulate(self, *entries, until=60):
        path = self.root / "plan.jsonl"
        path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
        self.assertEqual(self.run_command("simulate", str(path), "--until", str(until))[0], 0)
        return self.run_command("list")[1]

    def test_a_job_is_done(self):
        listed = self.simulate(
            {"at": 1, "submit": {"id": "a", "queue": "remote", "payload": {"takes": 4}}}, until=20
        )
        self.assertEqual(listed, ["remote,a,state,done", "remote,a,attempts,1", "remote,a,changed,5"])

    def test_a_remote_system_answers_at_the_second_attempt(self):
        request = {"id": "a", "queue": "remote", "handler": "remote", "payload": {"fails": 1}}
        listed = self.simulate({"at": 1, "submit": request}, until=20)
        self.assertEqual(listed[:2], ["remote,a,state,done", "remote,a,attempts,2"])

    def test_jobs_outlive_a_restart(self):
        listed = self.simulate(
            {"at": 1, "submit": {"id": "a", "queue": "remote", "delay": 9}},
            {"at": 3, "down": 2},
            until=20,
        )
        self.assertEqual(listed[0], "remote,a,state,done")

    def test_a_queue_that_there_is_not(self):
        self.assertEqual(self.simulate({"at": 1, "submit": {"queue": "none"}}, until=5), [])
        self.assertIn("refused: no queue none", (self.root / "var/dispatch.log").read_text())

    def test_a_job_that_there_is_not(self):
        self.assertEqual(self.run_command("show", "x"), (1, ["there is no x"]))
