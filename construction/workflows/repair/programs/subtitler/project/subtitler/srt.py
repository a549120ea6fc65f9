"""The file that is delivered."""


def stamp(milliseconds):
    """HH:MM:SS,mmm"""
    seconds, rest = divmod(milliseconds, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{seconds:02},{rest:03}"


def blocks(entries):
    for number, entry in enumerate(entries, 1):
        times = f"{stamp(entry.start)} --> {stamp(entry.end)}"
        yield "\n".join((str(number), times, *entry.lines))


def write(path, entries):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n\n".join(blocks(entries)) + "\n", "utf-8")
