"""Time codes, cells, lines."""

import unittest
from fractions import Fraction

from subtitler.cells import cells
from subtitler.lines import Setter
from subtitler.rates import RATES
from subtitler.settings import Style
from subtitler.srt import stamp
from subtitler.timecodes import BadCode, frame
from subtitler.tracks import milliseconds, needed


class Times(unittest.TestCase):
    def test_frames(self):
        self.assertEqual(frame("00:00:10:05", RATES["25"]), 255)
        self.assertEqual(frame("01:00:00:00", RATES["24"]), 86400)

    def test_dropped_codes(self):
        rate = RATES["29.97df"]
        self.assertEqual(frame("00:01:00;02", rate) - frame("00:00:59;29", rate), 1)
        self.assertEqual(frame("00:10:00;00", rate), 17982)

    def test_codes_that_there_are_not(self):
        for code in ("00:00:61:00", "0:00:00:00", "00:00:00:25"):
            with self.assertRaises(BadCode):
                frame(code, RATES["25"])

    def test_rounding(self):
        self.assertEqual(milliseconds(Fraction(7, 10000)), 1)
        self.assertEqual(stamp(3723004), "01:02:03,004")

    def test_cells(self):
        self.assertEqual(cells("Où est-elle?"), 12)
        self.assertEqual(cells("東京 1"), 6)
        self.assertEqual(cells("e\u0301"), 1)

    def test_reading(self):
        self.assertEqual(needed("x" * 34, 17), 2000)
        self.assertEqual(needed("x", 17), 59)

    def test_lines(self):
        lines = Setter().lines("We should never have come here at night, you know.", Style("s", 24, 0))
        self.assertEqual(lines, ["We should never have", "come here at night, you", "know."])
        self.assertEqual(Setter().lines("- No.\n- Yes.", Style("s", 24, 0)), ["- No.", "- Yes."])
