"""How many jobs of a queue may be started: a bucket of tokens that fills at a rate."""


class Bucket:
    def __init__(self, rate, burst, now):
        self.rate, self.burst = rate, burst
        self.tokens, self.since = burst, now

    def _fill(self, now):
        self.tokens = min(self.burst, self.tokens + (now - self.since) * self.rate)
        self.since = now

    def take(self, now):
        """Take a token if there is one."""
        self._fill(now)
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True


class Limits:
    """The buckets of all queues. New settings keep what the buckets hold, up to the new burst."""

    def __init__(self, settings, now):
        self._settings = settings
        self._buckets = {
            name: Bucket(queue.rate, queue.burst, now) for name, queue in settings.queues.items()
        }

    def changed(self, settings, now):
        made = Limits(settings, now)
        for name, bucket in made._buckets.items():
            before = self._buckets.get(name)
            if before is not None:
                before._fill(now)
                bucket.tokens = min(before.tokens, bucket.burst)
        return made

    def take(self, queue, now):
        return self._buckets[queue].take(now)
