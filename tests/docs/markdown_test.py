#!/usr/bin/env python3
"""Tests of markdown.py: each mistake is found, at its line, and what is right is not complained about."""
import pathlib
import tempfile
import unittest

import markdown

GOOD = """# A heading, with `code`

Text with a [link](#a-heading-with-code), [another](other.md#there), a [folder](sub) and https://example.org.

| a | b |
| --- | :-: |
| `x \\| y` | 2 |

    indented [no link](nowhere)

1. A list.

   | a | b |
   | --- | --- |
   | 1 | 2 |

       indented | no table

```
fenced [no link](nowhere) | no table
| no table
```
"""


class Markdown(unittest.TestCase):
    def problems(self, text):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "sub").mkdir()
            (root / "other.md").write_text("# There\n\n# There\n")
            (root / "page.md").write_text(text)
            return [(path.name, number, problem) for path, number, problem in markdown.problems_below(root)]

    def test_what_is_right(self):
        self.assertEqual(self.problems(GOOD), [])
        self.assertEqual(self.problems("[twice](other.md#there-1)\n"), [])
        self.assertEqual(self.problems("https://example.org/" + "x" * 200 + "\n"), [])

    def test_mistakes(self):
        for text, number, part in [
            ("x " * 61 + "\n", 1, "122 columns"),
            ("# A\n\n- " + "x " * 60 + "\n", 3, "122 columns"),
            ("| a | b |\n| --- | --- |\n| 1 | " + "x " * 60 + "|\n", 3, "127 columns"),
            ("    " + "x " * 60 + "\n", 1, "124 columns"),
            ("```\n" + "x " * 61 + "\n```\n", 2, "122 columns"),
            ("[a](nowhere.md)\n", 1, "leads nowhere"),
            ("a `docs/nowhere.md`, `docs/<name>.md`, `build/x`\n", 1, "there is no docs/nowhere.md"),
            ("a\n[b\nc](other.md#here)\n", 3, "no heading #here"),
            ("[a](other.md#there-2)\n", 1, "no heading #there-2"),
            ("[a](#nothing)\n", 1, "no heading #nothing"),
            ("[a](../..)\n", 1, "out of the project"),
            ("text\n| a | b |\n| --- | --- |\n", 2, "a blank line before"),
            ("| a | b |\n| --- | --- |\n| 1 | 2 | 3 |\n", 3, "3 cells in a table of 2 columns"),
            ("| a | b |\n| --- | --- |\n| 1 | 2 |\n\n| 3 | 4 |\n| 5 | 6 |\n", 6, "no renderer"),
            ("| a | b |\n", 1, "a table of one line"),
        ]:
            with self.subTest(text=text):
                found = self.problems(text)
                self.assertEqual([number for _, number, _ in found], [number], found)
                self.assertIn(part, found[0][2])

    def test_what_the_program_writes(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "docs").mkdir()
            (root / "docs" / "README.md").write_text("[a](operators.md)\n")
            table = "| a | b |\n| --- | --- |\n| 1 | " + "x " * 60 + "|\n"
            (root / "docs" / "operators.md").write_text(table)
            self.assertEqual(list(markdown.problems_below(root)), [])
            (root / "docs" / "operators.md").write_text(table + "| 1 |\n")
            self.assertIn("1 cells", list(markdown.problems_below(root))[0][2])

    def test_the_index(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "docs").mkdir()
            (root / "docs" / "README.md").write_text("[a](a.md)\n")
            (root / "docs" / "a.md").write_text("a\n")
            self.assertEqual(list(markdown.problems_below(root)), [])
            (root / "docs" / "b.md").write_text("b\n")
            self.assertIn("b.md is missing", list(markdown.problems_below(root))[0][2])


if __name__ == "__main__":
    unittest.main()
