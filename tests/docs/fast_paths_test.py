#!/usr/bin/env python3
"""Tests of fast_paths.py: each mistake is found, and what is right is not complained about."""
import json
import pathlib
import tempfile
import unittest

import fast_paths

HEADING = '### Planner: `file.cpp`'
ROW = '| `a \\|\\| b` | b-is-ignored | `values/just-outside` |'
SLOWER = '| `a \\|\\| b` | `d3d12/file.cpp` | slower |'
TESTED = '| `a \\|\\| …` | `d3d12/file.cpp` | `Suite.Test` |'


class FastPaths(unittest.TestCase):
    def problems(self, rows, bugs=('b-is-ignored',), heading=HEADING):
        with tempfile.TemporaryDirectory() as name:
            source = pathlib.Path(name)
            for folder in ('docs/design-notes', 'tests/planted_bugs', 'tests/op', 'cases/op', 'engine/d3d12'):
                (source / folder).mkdir(parents=True)
            (source / 'docs/design-notes/fast-paths.md').write_text('\n'.join([heading, *rows]), encoding='utf-8')
            location = {'file': 'engine/d3d12/file.cpp', 'right': 'a ||\n  b', 'bugs': dict.fromkeys(bugs, 'a')}
            (source / 'tests/planted_bugs/fast_paths_op.json').write_text(json.dumps({'locations': [location]}))
            (source / 'engine/d3d12/file.cpp').write_text('if (a ||\n  b) {}')
            (source / 'tests/op/op_test.cpp').write_text('TEST_F(Suite, Test) {}')
            (source / 'cases/op/values.json').write_text('{"cases": [{"name": "just-outside"}]}')
            return fast_paths.problems_of(source)

    def test_accepts_what_is_right(self):
        self.assertEqual(self.problems([ROW]), [])
        self.assertEqual(self.problems([ROW.replace('a \\|\\| b', 'a \\|\\| …')]), [])

    def test_finds_bugs_without_a_row(self):
        self.assertEqual(len(self.problems([ROW], ('b-is-ignored', 'another'))), 1)
        self.assertEqual(len(self.problems([])), 1)

    def test_finds_rows_without_a_bug(self):
        self.assertEqual(len(self.problems([ROW, ROW])), 1)
        self.assertEqual(len(self.problems([ROW.replace('b-is-ignored', 'c'), ROW])), 1)

    def test_finds_other_conditions_files_and_cases(self):
        for right, wrong in (('a \\|\\| b', 'a && b'), ('just-outside', 'outside'),
                             ('values/', 'other/')):
            self.assertEqual(len(self.problems([ROW.replace(right, wrong)])), 1, wrong)
        self.assertEqual(len(self.problems([ROW], heading='### `other.cpp`')), 1)

    def test_accepts_conditions_without_a_bug(self):
        self.assertEqual(self.problems([ROW, SLOWER, TESTED]), [])

    def test_finds_other_conditions_files_and_tests_without_a_bug(self):
        for right, wrong in (('a \\|\\| b', 'a && b'), ('file.cpp', 'other.cpp')):
            self.assertEqual(len(self.problems([ROW, SLOWER.replace(right, wrong)])), 1, wrong)
        for right, wrong in (('Suite.', 'Other.'), ('.Test', '.Other')):
            self.assertEqual(len(self.problems([ROW, TESTED.replace(right, wrong)])), 1, wrong)


if __name__ == '__main__':
    unittest.main()
