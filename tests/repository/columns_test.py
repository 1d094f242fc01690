#!/usr/bin/env python3
"""Tests of columns.py."""
import unittest

import columns


class Columns(unittest.TestCase):
    def test_lines(self):
        for text, expected in [("a\nb\n", []), ("x" * 120 + "\n", []), ("ä" * 120 + "\n", []),
                               ("a\n" + "x" * 121 + "\n", [2]), ("a \n", [1]), ("\ta\n", [1]), ("a\nb", [2]),
                               ("a\n\n", [3]), ("a\r\n", [1])]:
            with self.subTest(text=text):
                self.assertEqual([line for line, _ in columns.problems_of(text)], expected)


if __name__ == "__main__":
    unittest.main()
