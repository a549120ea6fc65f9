"""What is read from a note."""

import unittest

from slipbox.code import blanked
from slipbox.heads import split, with_title
from slipbox.links import read_links
from slipbox.names import key
from slipbox.reading import read_note
from slipbox.tags import counted


class Reading(unittest.TestCase):
    def test_a_head(self):
        note = read_note("a/b.md", b"---\ntitle: Moss\naliases: Mosses; Bryophyta\ncreated: 2026-01-04\n---\nText\n")
        self.assertEqual((note["title"], note["aliases"]), ("Moss", ["Mosses", "Bryophyta"]))
        self.assertEqual((note["created"], note["text"]), ("2026-01-04", "Text\n"))

    def test_without_a_head(self):
        self.assertEqual(read_note("a/Lichen on slate.md", b"Text")["title"], "Lichen on slate")

    def test_lines_of_windows(self):
        head, start = split("---\r\ntitle: Moss\r\n---\r\nText")
        self.assertEqual((head, start), ({"title": "Moss"}, 23))

    def test_names(self):
        self.assertEqual(key(" Wet  MOSS"), key("wet moss"))

    def test_links(self):
        names = [link.name for link in read_links("[[A]] and [[B#part|words]] but `[[C]]` and [[#here]]")]
        self.assertEqual(names, ["A", "B"])

    def test_blocks(self):
        text = "a\n```\n[[B]]\n```\n[[C]]\n"
        self.assertEqual([link.name for link in read_links(text)], ["C"])
        self.assertEqual(len(blanked(text)), len(text))

    def test_tags(self):
        note = read_note("x.md", b"---\ntags: Field; plants/moss\n---\n#wet and C#4 and #12\n")
        self.assertEqual(note["tags"], ["Field", "plants/moss", "wet"])
        self.assertEqual([written for _, written in counted(note["tags"])], ["Field", "plants", "plants/moss", "wet"])

    def test_a_new_title(self):
        self.assertEqual(with_title("---\ntags: a\n---\nx", "N"), "---\ntitle: N\ntags: a\n---\nx")
