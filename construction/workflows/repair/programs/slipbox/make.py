"""Data of slipbox: `make.py SEED` prints {folder: {path: text}}, `sample` and a folder per case."""

import json
import random
import sys
from unicodedata import normalize

TITLES = """Harbour wall;Fog signal;Pilot boat;Dredger;Slipway;Tide table;Buoy yard;Rope walk;Customs shed;Lamp oil;Straße am Kai;Große Schleuse;Café Meridian;Señal de niebla;Ὀδυσσέως λόγος;Ice winter;Salt store;Crane no 4;Lock keeper;Wreck of the Alma;Ferry fares;Net loft;Storm glass;Harbour pilot;Quay rents;Signal mast;Coal hulk;Fish auction;Bar soundings;Breakwater""".split(";")
SPECIAL = [title for title in TITLES if not title.isascii()]
TAGS = ["sea/weather", "sea/ships", "sea", "town/street", "town/trade", "town", "café", "archive/maps/old", "archive", "people"]
WORDS = "the a of with near after before old new first second winter summer ledger letter photograph keeper master tide wind mud stone timber iron rope sail lamp bell chart".split()
FOLDERS = ["", "sea", "town", "town/quarter", "archive", "archive/maps", "archive/maps/old"]


def head(title=None, aliases=(), tags=(), created=None):
    lines = [f"title: {title}"] if title else []
    lines += [f"aliases: {'; '.join(aliases)}"] if aliases else []
    lines += [f"tags: {'; '.join(tags)}"] if tags else []
    lines += [f"created: {created}"] if created else []
    return "---\n" + "".join(f"{line}\n" for line in lines) + "---\n" if lines else ""


def prose(draw, number=12):
    return " ".join(draw.choice(WORDS) for _ in range(number)).capitalize() + "."


def batches(*made, removed=()):
    """`made`: the files of each batch; `removed`: (number of the batch, path)."""
    files = {}
    for number, notes in enumerate(made, 1):
        files |= {f"batches/{number:02}/{path}": text for path, text in notes.items()}
        gone = [path for batch, path in removed if batch == number]
        if gone:
            files[f"batches/{number:02}/removed.txt"] = "".join(f"{path}\n" for path in gone)
    return files


def resolved(draw):
    name, other = draw.sample(TITLES[:10], 2)
    first = {"a.md": head("Diary") + f"[[{name}]] and [[The {other}]]\n", "sea/b.md": head(name) + "Deep.\n"}
    second = {"c.md": head(other, aliases=[f"the {other}"]) + prose(draw) + "\n", "d.md": head(name) + prose(draw) + "\n"}
    return batches(first, second)


def removed(draw):
    name, other = draw.sample(TITLES[:10], 2)
    first = {"b.md": head(name, tags=["sea"]) + "One.\n", "d.md": head("Later", tags=["sea"]) + prose(draw) + "\n"}
    second = {"a.md": head("Diary") + f"[[{name}]], [[{other}]]\n", "sea/c.md": head(other) + f"[[{name}]]\n"}
    return batches(first, second, removed=[(2, "b.md")])


def caseless(draw):
    words = draw.choice(("STRASSE AM KAI", "Strasse am Kai"))
    first = {
        "a.md": head("Diary", tags=["Maße", "MASSE"]) + f"[[{words}]], [[GROSSE schleuse]], [[ὈΔΥΣΣΈΩΣ ΛΌΓΟΣ]], [[{draw.choice(TITLES[:10])}]]\n",
        "b.md": head("Straße am Kai") + "b\n",
        "c.md": head("Große Schleuse") + "c\n",
        "d.md": head("Ὀδυσσέως λόγος") + "d\n",
    }
    return batches(first)


def composed(draw):
    word = draw.choice(("café", "señal", "größe", "été"))
    first = {
        "a.md": head("Diary") + f"Noted #{normalize('NFD', word)} and #{word}\n",
        "b.md": head("Other") + f"#{normalize('NFD', word)}/{draw.choice(WORDS)}\n",
    }
    return batches(first)


def fences(draw):
    sign = draw.choice("`~") * 3
    name, other = draw.sample(TITLES[:10], 2)
    text = f"{sign}\nfirst\n{sign} {draw.choice(('python', 'text', 'sh'))}\n[[{name}]] #hidden\n{sign}\n[[{other}]] #seen\n"
    return batches({"a.md": head("Diary") + text, "b.md": head(name) + "b\n", "c.md": head(other) + "c\n"})


def folders(draw):
    name = draw.choice(TITLES[:10])
    first = {
        "archive/maps/a.md": head(name) + "a\n",
        "town/b.md": head(name) + "b\n",
        "sea/diary.md": head("Diary") + f"[[{name}]]\n",
        "archive/old/two.md": head("Two", aliases=["Pair"]) + "x\n",
        "zoo/pair.md": head("Double", aliases=["Pair"]) + f"[[pair]] [[{draw.choice(TITLES[10:])}]]\n",
        "other.md": "[[Pair]]\n",
    }
    return batches(first)


def once(draw):
    first, second = draw.sample(("birds", "mud", "ice", "salt"), 2)
    text = head("Diary", tags=[f"sea/{first}", "sea"]) + f"#sea/{second} #Sea/{second}\n"
    return batches({"a.md": text, "b.md": head("Other", tags=[f"sea/{second}"]) + prose(draw) + "\n"})


def most(draw):
    notes = {f"n{number:02}.md": head(f"Log {number:02}", created=f"2025-0{1 + number % 9}-1{number % 7}") + f"The mole and {prose(draw)}\n" for number in range(24 + draw.randint(0, 5))}
    notes["zz.md"] = head("Mole", created="2024-01-01") + prose(draw) + " mole\n"
    return batches(notes)


def alias_rename(draw):
    links = ["[[Old harbour]]", "[[Basin|the basin]]", "[[basin#West]]", "[[OLD  harbour#East|here]]", "[[Basin]]"]
    draw.shuffle(links)
    first = {"a.md": head("Diary") + " ".join(links) + f" {prose(draw)}\n", "b.md": head("Old harbour", aliases=["Basin"]) + "x\n"}
    return batches(first)


def bytes_(draw):
    text = (head("Diary") + f"{prose(draw)}\n[[Old harbour]]\n{prose(draw)}\n").replace("\n", "\r\n")
    first = {"a.md": text, "c.md": "\ufeff" + head("Other") + "see [[old harbour]]\n", "b.md": head("Old harbour") + "x\n"}
    return batches(first)


CASES = {
    "resolved": resolved,
    "removed": removed,
    "caseless": caseless,
    "composed": composed,
    "fences": fences,
    "folders": folders,
    "once": once,
    "most": most,
    "alias_rename": alias_rename,
    "bytes": bytes_,
}


def _link(draw, title):
    """A link to a title, written in one of the ways of these people."""
    way = draw.randrange(7)
    name = (title, title.upper(), title, normalize("NFD", title), f" {title.lower()} ", title.replace(" ", "  "), title)[way]
    return f"[[{name}{draw.choice(('', '', '#Sources', '|see there'))}]]"


def _body(draw):
    parts = []
    for _ in range(draw.randint(2, 5)):
        links = " ".join(_link(draw, title) for title in draw.choices([*TITLES, *SPECIAL * 4], k=draw.randint(0, 3)))
        tag = draw.choice(TAGS)
        tags = draw.choice(("", f" #{tag}", f" #{normalize('NFD', tag)} #{draw.choice(TAGS)}", f" #{tag.upper()}"))
        parts.append(f"{prose(draw)} {links}{tags}")
    if draw.random() < 0.3:
        sign = draw.choice(("```", "~~~", "````"))
        inside = f"{sign}\nset x\n{sign} {draw.choice(('text', 'sh', 'out'))}\n{_link(draw, draw.choice(TITLES))} #{draw.choice(TAGS)}\n{sign}\n"
        parts.insert(draw.randint(0, len(parts)), inside.rstrip("\n"))
    return "\n\n".join(parts) + "\n"


def sample(draw):
    made, removed, kept = [{}, {}, {}, {}], [], []
    order = [*TITLES, *draw.sample(TITLES, 12)]  # some titles are there twice
    for number, title in enumerate(order):
        folder = draw.choice(FOLDERS)
        path = f"{folder}/n{number:02}.md".lstrip("/")
        aliases = [f"the {title}"] if draw.random() < 0.3 else []
        tags = draw.sample(TAGS, draw.randint(0, 3))
        text = head(title, aliases, tags, f"2025-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}") + _body(draw)
        text = text.replace("\n", "\r\n") if draw.random() < 0.2 else text
        batch = draw.randrange(4)
        made[batch][path] = text
        if batch < 3 and draw.random() < 0.15:
            removed.append((draw.randint(batch + 2, 4), path))
        kept.append(path)
    for number in range(16):
        made[draw.randrange(3)][f"phone/{number:02} jotted.md"] = _body(draw)
    return batches(*made, removed=removed)


if __name__ == "__main__":
    made = {"sample": sample(random.Random(sys.argv[1]))}
    made |= {name: case(random.Random(f"{sys.argv[1]}/{name}")) for name, case in CASES.items()}
    json.dump(made, sys.stdout)
