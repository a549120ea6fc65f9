"""The desk: does what is due, moment by moment."""

from presswork import slugs
from presswork.outbox import Sending
from presswork.state import Published, Waiting
from presswork.submissions import newest


class Desk:
    """Goes on from a state, which it changes."""

    def __init__(self, settings, state, revisions, outages, log):
        self._settings, self._state, self._log = settings, state, log
        self._outages = outages
        self._newest = newest(revisions, state.until) if state.until else {}
        self._coming = [
            each for each in revisions if state.until is None or each.received > state.until
        ]
        self._coming.reverse()  # the next one is the last
        self._sent = []

    def run(self, until):
        """Do everything up to a moment; what was sent, in its order."""
        while (now := self._next()) is not None and now <= until:
            while self._coming and self._coming[-1].received == now:
                self._receive(self._coming.pop(), now)
            for name in self._ready(now):
                self._publish(name, now)
            due = [key for key, each in self._state.waiting.items() if each.due <= now]
            for channel, name in sorted(due, key=self._turn):
                self._send(channel, name, now)
        self._state.until = until
        return self._sent

    def _turn(self, key):
        channel, name = key
        return channel, self._state.published[name].at, name

    def _next(self):
        """The next moment at which there is something to do."""
        moments = [each.due for each in self._state.waiting.values()]
        moments += [self._due(each) for each in self._unpublished()]
        if self._coming:
            moments.append(self._coming[-1].received)
        return min(moments, default=None)

    def _unpublished(self):
        return [
            each
            for name, each in self._newest.items()
            if name not in self._state.published and not each.retracts
        ]

    def _due(self, revision):
        """When a revision that is not published may be."""
        publish = self._settings.zones[revision.section].moment(revision.publish)
        return max(publish, revision.embargo or publish, revision.received)

    def _ready(self, now):
        return sorted(each.article for each in self._unpublished() if self._due(each) <= now)

    def _receive(self, revision, now):
        name = revision.article
        self._newest[name] = revision
        if name not in self._state.published:
            if revision.retracts:
                self._log.info(now, f"{name} taken back before publication")
            return
        for channel in self._settings.carrying(revision.section):
            key = (channel.name, name)
            if revision.retracts:
                self._retract(key, revision, now)
            elif revision.kind == "major":
                self._put(key, revision, now + channel.delay)

    def _put(self, key, revision, due):
        """Let a revision wait; it takes over the turn of one that is waiting already."""
        waiting = self._state.waiting.get(key)
        if waiting is not None:
            due = waiting.due
        self._state.waiting[key] = Waiting(due, revision.number)

    def _retract(self, key, revision, now):
        self._state.waiting.pop(key, None)
        if key in self._state.sent:
            self._state.waiting[key] = Waiting(now, revision.number)

    def _publish(self, name, now):
        revision = self._newest[name]
        taken = {each.slug for each in self._state.published.values()}
        slug = slugs.free(revision.title, taken)
        self._state.published[name] = Published(now, slug)
        self._log.info(now, f"{name} published as {slug}")
        for channel in self._settings.carrying(revision.section):
            self._put((channel.name, name), revision, now + channel.delay)

    def _is_down(self, channel, now):
        return any(start <= now < end for start, end in self._outages.get(channel, ()))

    def _send(self, channel, name, now):
        key = (channel, name)
        waiting = self._state.waiting.pop(key)
        if self._is_down(channel, now):
            self._try_again(key, waiting, now)
            return
        revision = self._newest[name]
        if self._state.sent.get(key) == revision.number:
            return
        kind = "update" if key in self._state.sent else "article"
        self._state.sent[key] = revision.number
        slug = self._state.published[name].slug
        kind = "retraction" if revision.retracts else kind
        self._sent.append(Sending(now, channel, name, revision.number, kind, slug))

    def _try_again(self, key, waiting, now):
        channel, name = key
        if waiting.tries >= len(self._settings.retries):
            self._log.error(now, f"{channel}: {name} given up")
            return
        pause = self._settings.retries[waiting.tries]
        self._log.warning(now, f"{channel} is down, {name} again in {pause}")
        self._state.waiting[key] = Waiting(now + pause, waiting.revision, waiting.tries + 1)
