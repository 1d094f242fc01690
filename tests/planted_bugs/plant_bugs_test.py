#!/usr/bin/env python3
"""Tests of plant_bugs.py: it plants bugs in copies of sources, and reports missing and ambiguous locations."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import plant_bugs

SOURCE = '''\
int once() {
    return a + b;  // of a + c
}
int twice() { return a * a * d; }
struct Sums { int add() { return e + 1; } };
struct Products { int add() { return e + 1; } };
'''
SHADER = '#define HALF(a) (a / 2)\nuint f(uint a) { b = 1; return HALF(a); }\n'


class PlantBugs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name) / 'project'
        self.output = pathlib.Path(folder.name) / 'output'
        for file, text in {'a.cpp': SOURCE, 'a.h': SOURCE, 'shaders/f/a.hlsl': SHADER, 'shaders/f/b.hlsli': SHADER,
                           '../outside.cpp': SOURCE}.items():
            self.write(file, text)

    def write(self, file, text):
        path = self.root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def plant(self, *locations, **others):
        """Plants a list. Returns the problems."""
        self.write('tests/planted_bugs/list.json', json.dumps({'locations': locations, **others}))
        self.notes = plant_bugs.plant(self.root, self.output)
        return self.written('problems.txt')

    def written(self, file):
        return (self.output / file).read_text()

    def test_plants_expressions(self):
        self.assertEqual(self.plant({'file': 'a.cpp', 'in': 'once', 'right': 'a+b',
                                     'bugs': {'second': 'a - b', 'first': 'a'}}), '')
        self.assertEqual(self.written('planted/a.cpp'), plant_bugs.SWITCH_IN_CPP + SOURCE.replace(
            'a + b', '(planted_bug == 1 ? (a) : planted_bug == 2 ? (a - b) : (a + b))'))
        self.assertIn('{1, "list", "first"},\n    {2, "list", "second"},\n', self.written('planted_bugs_list.cpp'))
        self.assertIn('{"list", "list"},\n', self.written('planted_bugs_list.cpp'))
        self.assertEqual(self.written('planted.cmake'), 'set(PLANTED_FILES a.cpp)\nset(PLANTED_COUNTS list:2)\n')

    def test_plants_statements_macros_and_replacements_in_shaders(self):
        shader = 'shaders/f/a.hlsl'
        self.assertEqual(self.plant({'file': shader, 'in': 'f', 'right': 'b = 1;', 'statement': True,
                                     'bugs': {'none': ''}},
                                    {'file': shader, 'in': 'HALF', 'right': 'a / 2', 'bugs': {'none': 'a'}},
                                    {'file': shader, 'in': 'f', 'right': 'uint a', 'always': 'uint a, uint c'},
                                    cases=['one/two', 'three']), '')
        self.assertEqual(self.written('planted/' + shader), plant_bugs.SWITCH_IN_SHADERS + SHADER.replace(
            'b = 1;', 'if (planted_bug == 1) {  } else { b = 1; }').replace(
                'a / 2', '(planted_bug == 1 ? (a) : (a / 2))').replace('uint a', 'uint a, uint c'))
        self.assertIn('{"list", "one/two"},\n    {"list", "three"},\n', self.written('planted_bugs_list.cpp'))

    def test_copies_all_shaders_and_removes_old_copies(self):
        self.assertEqual(self.plant({'file': 'a.h', 'in': 'once', 'right': 'a', 'bugs': {'none': 'b'}}), '')
        self.assertEqual(self.written('planted/shaders/f/a.hlsl'), plant_bugs.SWITCH_IN_SHADERS + SHADER)
        self.assertEqual(self.written('planted/shaders/f/b.hlsli'), SHADER)
        self.assertTrue(self.written('planted/a.h').startswith(plant_bugs.SWITCH_IN_CPP))
        (self.root / 'shaders/f/b.hlsli').unlink()
        before = (self.output / 'planted/shaders/f/a.hlsl').stat().st_mtime_ns
        self.assertEqual(self.plant(), '')
        self.assertFalse((self.output / 'planted/shaders/f/b.hlsli').exists())
        self.assertFalse((self.output / 'planted/a.h').exists())
        self.assertEqual((self.output / 'planted/shaders/f/a.hlsl').stat().st_mtime_ns, before)

    def test_plants_locations_within_others(self):
        inner = {'file': 'a.cpp', 'in': 'twice', 'right': 'd', 'bugs': {'inner': '1'}}
        outer = {'file': 'a.cpp', 'in': 'twice', 'right': 'a * d', 'bugs': {'outer': 'd'}}
        for locations, numbers in (((inner, outer), {'inner': 1, 'outer': 2}),
                                   ((outer, inner), {'inner': 2, 'outer': 1})):
            self.assertEqual(self.plant(*locations), '')
            form = 'a * (planted_bug == {outer} ? (d) : (a * (planted_bug == {inner} ? (1) : (d))))'
            self.assertIn(form.format(**numbers), self.written('planted/a.cpp'))

    def test_rejects_locations_that_cross_or_replace_others(self):
        first = {'file': 'a.cpp', 'in': 'twice', 'right': 'a * a', 'bugs': {'first': '1'}}
        crossing = {'file': 'a.cpp', 'in': 'twice', 'right': 'a * d', 'bugs': {'second': '1'}}
        replaced = {'file': 'a.cpp', 'in': 'twice', 'right': 'a * a * d', 'always': '1'}
        for locations in ((first, crossing), (crossing, first), (first, replaced), (replaced, first)):
            self.assertIn('location 2: a.cpp: it overlaps another location', self.plant(*locations))

    def test_takes_context_where_the_function_is_not_enough(self):
        location = {'file': 'a.cpp', 'in': 'twice', 'right': 'a', 'bugs': {'none': '1'}}
        self.assertIn('this is 2 times in twice, not once', self.plant(location))
        self.assertEqual(self.plant({**location, 'before': '*'}), '')
        self.assertIn('a * (planted_bug == 1 ? (1) : (a)) * d', self.written('planted/a.cpp'))
        self.assertEqual(self.plant({**location, 'after': '*d'}), '')
        self.assertIn('a * (planted_bug == 1 ? (1) : (a)) * d', self.written('planted/a.cpp'))
        self.assertIn('this is 2 times in add, not once; name the class',
                      self.plant({**location, 'in': 'add', 'right': 'e + 1'}))
        self.assertEqual(self.plant({**location, 'in': 'Sums::add', 'right': 'e + 1'}), '')

    def test_finds_unique_expressions_in_other_functions(self):
        for name in ('former', 'twice'):
            self.assertEqual(self.plant({'file': 'a.cpp', 'in': name, 'right': 'a + b', 'bugs': {'none': '1'}}), '')
            self.assertIn('(planted_bug == 1 ? (1) : (a + b))', self.written('planted/a.cpp'))
            self.assertIn(f'a.cpp: this is in once now, not in {name}; change "in":\na + b', self.notes[0])

    def test_reports_locations_and_plants_the_rest(self):
        right = {'file': 'a.cpp', 'in': 'once', 'right': 'a + b', 'bugs': {'none': '1'}}
        for change, message in (
                ({'right': 'a + c'}, 'a.cpp: this is neither in once nor elsewhere in the file; bring the list up to '
                                     'date:\na + c'),
                ({'in': 'gone', 'right': 'e + 1'}, 'a.cpp: this is not in gone, but 2 times in the file: in '
                                                   'Products::add, Sums::add; change "in":\ne + 1'),
                ({'right': '/* a */'}, '"right" is only a comment'),
                ({'file': 'gone.cpp'}, 'there is no gone.cpp, which bugs are planted in'),
                ({'file': '../outside.cpp'}, 'there is no ../outside.cpp'),
                ({'file': 'shaders'}, 'there is no shaders'),
                ({'file': 'a' * 5000}, 'location 1: '),
                ({'file': 1}, '"file" must be a text'),
                ({'in': ''}, '"in" must be a text'),
                ({'right': ''}, '"right" must be a text'),
                ({'after': None}, '"after" must be a text'),
                ({'rihgt': 'a'}, 'there is no key "rihgt"'),
                ({'always': 'a'}, 'must have "bugs" or "always"'),
                ({'bugs': []}, '"bugs" must be an object of texts'),
                ({'bugs': {'a': 1}}, '"bugs" must be an object of texts'),
                ({'bugs': {'a"b': '1'}}, 'the bug "a"b" has a name of other characters'),
                ({'statement': 1}, '"statement" must be true or false')):
            problems = self.plant({**right, **change}, {**right, 'bugs': {'next': '2'}})
            self.assertIn('list.json: location 1: ', problems, message)
            self.assertIn(message, problems)
            self.assertIn('{1, "list", "next"},\n}', self.written('planted_bugs_list.cpp'), message)

    def test_reports_files_that_are_not_lists(self):
        for text in ('', '{', '[]', '{}', '{"locations": 1}', '{"locations": [], "cases": "a"}', '{"locations": [1]}',
                     '[' * 100000):
            self.write('tests/planted_bugs/list.json', text)
            plant_bugs.plant(self.root, self.output)
            self.assertIn('list.json: ', self.written('problems.txt'), text)

    def test_fails_a_test_for_each_problem(self):
        right = {'file': 'a.cpp', 'in': 'once', 'right': 'a + b', 'bugs': {'none': '1'}}
        for change, message in (({}, ''), ({'right': 'a + c'}, 'a.cpp: this is neither in once nor elsewhere')):
            self.plant({**right, **change})
            check = subprocess.run([os.environ.get('CMAKE_COMMAND', 'cmake'),
                                    f'-DPROBLEMS={self.output / "problems.txt"}', '-P',
                                    pathlib.Path(__file__).with_name('CheckLists.cmake')],
                                   capture_output=True, text=True, check=False)
            self.assertEqual(check.returncode != 0, bool(message))
            # CMake wraps lines depending on the length of the path.
            self.assertIn(message, ' '.join(check.stderr.split()))


if __name__ == '__main__':
    unittest.main()
