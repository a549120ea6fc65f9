"""Events and what they make of the board; retries, buckets, schedules."""

import unittest

from dispatch.board import Board
from dispatch.jobs import DEAD, DONE, WAITING
from dispatch.limits import Bucket
from dispatch.retry import Permanent, delay, retry_at
from dispatch.schedule import due
from dispatch.settings import QueueSettings, Recurring

QUEUE = QueueSettings("q", 2, 1.0, 2.0, 30.0, 3, 5.0, 12.0)


def submitted(identifier, **fields):
    event = {"kind": "submitted", "at": 0, "id": identifier, "queue": "q", "handler": "echo"}
    return {**event, "payload": {}, **fields}


class Events(unittest.TestCase):
    def setUp(self):
        self.board = Board()

    def apply(self, *events):
        for event in events:
            self.board.apply(event)

    def test_higher_priority_goes_first(self):
        self.apply(submitted("a"), submitted("b", priority=3), submitted("c"))
        self.assertEqual([job.id for job in self.board.ready("q", 1)], ["b", "a", "c"])

    def test_a_delayed_job_is_not_ready(self):
        self.apply(submitted("a", delay=10))
        self.assertEqual(self.board.ready("q", 9), [])

    def test_a_key_is_free_when_its_job_is_done(self):
        self.apply(submitted("a", key="k"), {"kind": "started", "at": 1, "id": "a", "lease": 30})
        self.assertEqual(self.board.keys, {"k": "a"})
        self.apply({"kind": "finished", "at": 2, "id": "a", "result": 1})
        self.assertEqual((self.board.keys, self.board.jobs["a"].state), ({}, DONE))

    def test_failures(self):
        self.apply(submitted("a"), {"kind": "started", "at": 1, "id": "a", "lease": 30})
        self.apply({"kind": "failed", "at": 2, "id": "a", "error": "x", "retry_at": 9})
        job = self.board.jobs["a"]
        self.assertEqual((job.state, job.ready, job.attempts), (WAITING, 9, 1))
        self.apply({"kind": "failed", "at": 3, "id": "a", "error": "y", "retry_at": None})
        self.assertEqual((job.state, job.history), (DEAD, ["x", "y"]))

    def test_a_snapshot_holds_everything(self):
        self.apply(submitted("a", key="k"), {"kind": "started", "at": 1, "id": "a", "lease": 30})
        self.apply({"kind": "occurred", "at": 2, "name": "n", "due": 2})
        again = Board.restored(self.board.snapshot(), [])
        self.assertEqual(again.snapshot(), self.board.snapshot())


class Rules(unittest.TestCase):
    def test_delays_double_up_to_the_longest(self):
        self.assertEqual([delay(QUEUE, n) for n in (1, 2, 3)], [5, 10, 12])

    def test_what_cannot_be_helped_is_not_tried_again(self):
        board = Board()
        board.apply(submitted("a"))
        self.assertIsNone(retry_at(QUEUE, board.jobs["a"], Permanent("no"), 10))

    def test_a_bucket_is_empty_after_a_burst(self):
        bucket = Bucket(1.0, 2.0, 0)
        self.assertEqual([bucket.take(0) for _ in range(3)], [True, True, False])
        self.assertTrue(bucket.take(1))

    def test_a_recurring_job_is_due_at_its_offset(self):
        each = Recurring("r", "q", 60, 15, 1)
        self.assertIsNone(due(each, None, 14))
        self.assertEqual(due(each, None, 15), 15)
        self.assertIsNone(due(each, 15, 74))
        self.assertEqual(due(each, 15, 75), 75)
