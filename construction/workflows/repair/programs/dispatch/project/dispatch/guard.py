"""Who may use the board: one at a time, and nobody waits for ever."""

import threading


class Busy(Exception):
    """The board was not free in time."""


class Guard:
    def __init__(self, wait):
        self._lock = threading.Lock()
        self._wait = wait

    def take(self):
        taken = self._lock.acquire(timeout=self._wait) if self._wait else self._lock.acquire(False)
        if not taken:
            raise Busy("the board is in use")

    def give_back(self):
        self._lock.release()

    def __enter__(self):
        self.take()
        return self

    def __exit__(self, *_):
        self.give_back()
