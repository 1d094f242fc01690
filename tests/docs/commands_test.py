#!/usr/bin/env python3
"""Tests of commands.py, with a program that has two commands."""
import pathlib
import stat
import tempfile
import unittest

import commands

PROGRAM = """#!/bin/sh
case "$*" in
--help) printf 'Usage\\n\\nSubcommands:\\n  run    x\\n  import x\\n\\nExit codes\\n' ;;
'run --help') echo '  -j,--jobs N  x' ;;
'import --help') echo '' ;;
'import onnx --help') echo '  -o,--output FILE  x' ;;
validate*) exec grep -q good "$2" ;;
*) exit 2 ;;
esac
"""
CASE = """```json
{
  "cases": [
    { "operator": "%s" }
  ]
}
```
"""


class CommandsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.program = pathlib.Path(folder.name) / "dmlconform"
        self.program.write_text(PROGRAM)
        self.program.chmod(self.program.stat().st_mode | stat.S_IXUSR)
        self.commands = commands.Commands(self.program)

    def problems(self, text):
        return list(commands.problems_of_commands(self.commands, text))

    def test_what_is_right(self):
        for text in ["    dmlconform run x -j 4 --jobs=4\n", "`dmlconform --offline run x`", "`dmlconform` is a program",
                     "    scripts/dmlconform run x --jobs 2 | cat --number\n", "`dmlconform.exe run --benchmark_out=x`",
                     "    dmlconform run x --jobs 'exec:ssh -o BatchMode=yes'\n", "`dmlconform import onnx -o x`",
                     "dmlconform walks --slowly, which is not code\n"]:
            with self.subTest(text=text):
                self.assertEqual(self.problems(text), [])

    def test_mistakes(self):
        for text, problem in [("`dmlconform walk x`", "there is no command walk"),
                              ("    dmlconform run x --slowly\n", "run has no option --slowly"),
                              ("`scripts/dmlconform run --output x`", "run has no option --output"),
                              ("`dmlconform run -x`", "run has no option -x")]:
            with self.subTest(text=text):
                self.assertEqual(self.problems("\n" + text), [(2, problem)])

    def test_case_files(self):
        self.assertEqual(list(commands.problems_of_cases(self.program, "a\n\n" + CASE % "good")), [])
        self.assertEqual([line for line, _ in commands.problems_of_cases(self.program, "a\n\n" + CASE % "bad")], [3])


if __name__ == "__main__":
    unittest.main()
