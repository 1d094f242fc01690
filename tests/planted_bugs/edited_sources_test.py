#!/usr/bin/env python3
"""Tests that each location of the lists is found in sources that were edited beside its expression."""
import functools
import json
import pathlib
import shutil
import subprocess
import unittest

import edited_sources
import planted_location

ROOT = pathlib.Path(__file__).parents[2]


@functools.cache
def original(file):
    return planted_location.Source((ROOT / file).read_text(encoding='utf-8'))


def locations():
    """All locations, with a text that says which each is."""
    for path in sorted(ROOT.glob('tests/planted_bugs/*.json')):
        for number, location in enumerate(json.loads(path.read_text(encoding='utf-8'))['locations'], 1):
            yield f'{path.name}, location {number}', location


def token_at(source, location):
    """The index of the first token of a location's expression."""
    begin, _ = planted_location.find(source, location)
    return source.index_at(begin)


class EditedSources(unittest.TestCase):
    def expect_the_same_tokens(self, edit):
        """Edits all sources, which must have the same tokens then, and expects each location at the same one."""
        edited = functools.cache(lambda file: planted_location.Source(edit(file)))
        count = 0
        for shown, location in locations():
            before, after = original(location['file']), edited(location['file'])
            with self.subTest(shown):
                self.assertNotEqual(before.text, after.text)
                self.assertEqual(token_at(after, location), token_at(before, location))
            count += 1
        self.assertGreater(count, 500)

    def test_other_line_breaks(self):
        for edit in (edited_sources.with_a_line_for_each_token, edited_sources.without_line_breaks):
            self.expect_the_same_tokens(lambda file, edit=edit: edit(original(file)))

    @unittest.skipUnless(shutil.which('clang-format'), 'clang-format is not installed')
    def test_clang_format_with_other_columns(self):
        """Shaders are formatted, too, as if they were C++."""
        def formatted(file, columns):
            style = (f'{{BasedOnStyle: Google, IndentWidth: 2, ColumnLimit: {columns}, SortIncludes: false, '
                     'BreakStringLiterals: false}')
            return subprocess.run(['clang-format', f'--style={style}', '--assume-filename=a.cpp'], check=True,
                                  text=True, input=original(file).text, capture_output=True).stdout
        for columns in (80, 160):
            self.expect_the_same_tokens(lambda file, columns=columns: formatted(file, columns))

    def test_functions_in_another_order(self):
        edited = functools.cache(lambda file: planted_location.Source(
            edited_sources.with_functions_reversed(original(file))))
        moved = 0
        for shown, location in locations():
            before, after = original(location['file']), edited(location['file'])
            with self.subTest(shown):
                at_before, at_after = token_at(before, location), token_at(after, location)
                self.assertEqual(after.innermost(at_after), before.innermost(at_before))
                moved += at_after != at_before
        self.assertGreater(moved, 400)

    def test_other_names_beside_the_expression(self):
        renamed = 0
        for shown, location in locations():
            before = original(location['file'])
            after = planted_location.Source(edited_sources.with_neighbours_renamed(before, location))
            with self.subTest(shown):
                self.assertEqual(token_at(after, location), token_at(before, location))
            renamed += after.text != before.text
        self.assertGreater(renamed, 400)


if __name__ == '__main__':
    unittest.main()
