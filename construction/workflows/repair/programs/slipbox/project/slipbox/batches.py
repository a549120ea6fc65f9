"""Batches of the devices."""

import shutil

from slipbox.graph import Graph


def _done(settings):
    path = settings.var / "taken.txt"
    return path.read_text("utf-8").split("\n")[:-1] if path.exists() else []


def _log(settings, text):
    path = settings.var / "log/slipbox.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{text}\n")


def _copied(folder, box):
    copied = 0
    for path in sorted(folder.rglob("*.md")):
        target = box / path.relative_to(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
        copied += 1
    return copied


def _removed(folder, box):
    listed = folder / "removed.txt"
    names = listed.read_text("utf-8").splitlines() if listed.exists() else []
    for name in names:
        (box / name).unlink(missing_ok=True)
    return len(names)


def take(settings, index):
    """Take all batches that are new, in the order of their names."""
    taken = _done(settings)
    for folder in sorted(settings.batches.iterdir()):
        if folder.name in taken:
            continue
        copied, removed = _copied(folder, settings.box), _removed(folder, settings.box)
        graph = Graph(index.refreshed())
        index.write()
        nowhere = sum(edge.target is None for edge in graph.edges)
        headless = sum(not note["head"] for note in graph.notes.values())
        _log(settings, f"{folder.name} INFO {copied} files, {removed} removed, {index.read_anew} read anew")
        _log(settings, f"{folder.name} WARNING {nowhere} links lead nowhere, {headless} notes with no head")
        taken.append(folder.name)
        (settings.var / "taken.txt").write_text("".join(f"{name}\n" for name in taken), "utf-8")
