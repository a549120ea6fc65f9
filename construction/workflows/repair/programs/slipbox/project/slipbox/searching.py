"""Searching titles and texts."""

from slipbox.names import key


def _score(note, words, settings):
    """What a note scores; 0 if a word is missing."""
    title, text = key(note["title"]), key(note["text"])
    score = 0
    for word in words:
        points = settings.in_title * (word in title) + settings.in_text * (word in text)
        if not points:
            return 0
        score += points
    return score


def _newest_first(day):
    return -int(day.replace("-", "") or 0)


def search(notes, words, settings):
    """Notes with their scores, the best first."""
    wanted = [key(word) for word in words]
    hits = []
    for note in notes.values():
        if score := _score(note, wanted, settings):
            hits.append((note, score))
    hits.sort(key=lambda hit: (-hit[1], _newest_first(hit[0]["created"]), key(hit[0]["title"])))
    return hits[: settings.most]
