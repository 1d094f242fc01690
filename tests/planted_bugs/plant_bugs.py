#!/usr/bin/env python3
"""Plants bugs in copies of the project's sources, for a test-only build that contains all of them and switches one on
at run time.

usage: plant_bugs.py SOURCE OUTPUT

SOURCE is the project's folder. A list of bugs (tests/planted_bugs/slice1.json, …) names locations in its sources:
  file           the source
  in             the function that contains the location, or the class, variable or macro. `Sums::add` if two classes
                 have a function `add` with the same expression
  right          the correct expression, which must be there once. Only tokens are compared: see planted_location.py
  before, after  the tokens beside it, if the function contains the expression several times
  bugs           a name and a wrong expression for each bug
  statement      true if `right` is a statement
  always         instead of bugs: replaces the text, for what introduces the switch
In the copy, the text becomes
  (planted_bug == 7 ? (bug) : planted_bug == 8 ? (other bug) : (right))            for an expression
  if (planted_bug == 7) { bug } else { right }                                     for a statement
which is valid in C++ and HLSL. If several locations of a list have a bug of one name, it is one bug. The cases in the
folder with the list's name must catch the bugs, or those that "cases" of the list names.

Writes to OUTPUT, without touching files that would not change:
  planted/                the copies, with all shaders
  planted_bugs_list.cpp   numbers and names of the bugs
  planted.cmake           lists for CMake: PLANTED_FILES, and PLANTED_COUNTS, whose items are LIST:BUGS
  problems.txt            a message for each location that is missing or ambiguous; it gets no bugs. This fails a test
                          instead of the configuration, so that everything else can still be built
"""
import json
import pathlib
import re
import sys
import typing

import planted_location

TEXTS = {'file', 'in', 'before', 'right', 'after', 'always'}
REQUIRED = {'file', 'in', 'right'}
SWITCH_IN_SHADERS = ('cbuffer DispatchShape : register(b1) '
                     '{ uint groups_per_row; uint group_count; uint planted_bug; };\n')
SWITCH_IN_CPP = '#include "tests/planted_bugs/planted_bugs.h"\n'
LIST = '''\
// Written by tests/planted_bugs/plant_bugs.py. Do not edit.
#include "tests/planted_bugs/planted_bugs.h"

static const PlantedBug list[] = {{
{rows}}};

const std::span<const PlantedBug> planted_bugs = list;

static const CatchingCases paths[] = {{
{paths}}};

const std::span<const CatchingCases> catching_cases = paths;
'''


def write(path, text):
    """Writes a file, unless it has that text already, so that only changed sources are compiled again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = text.encode()
    if not path.is_file() or path.read_bytes() != data:
        path.write_bytes(data)


def is_texts(value):
    """Whether a value of JSON is an array of strings."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def check_keys(location):
    """A ValueError says what is wrong with a location, apart from the source."""
    if not isinstance(location, dict):
        raise ValueError('must be an object')
    for key in sorted(location.keys() - TEXTS - {'bugs', 'statement'}):
        raise ValueError(f'there is no key "{key}"')
    for key in sorted(TEXTS):
        if not isinstance(location.get(key, ''), str) or (key in REQUIRED and not location.get(key)):
            raise ValueError(f'"{key}" must be a text')
    if ('bugs' in location) == ('always' in location):
        raise ValueError('must have "bugs" or "always"')
    bugs = location.get('bugs', {})
    if not isinstance(bugs, dict) or not is_texts(list(bugs.values())):
        raise ValueError('"bugs" must be an object of texts')
    for name in bugs:
        if not re.fullmatch(r'[\w-]+', name):
            raise ValueError(f'the bug "{name}" has a name of other characters than letters, digits and hyphens')
    if not isinstance(location.get('statement', False), bool):
        raise ValueError('"statement" must be true or false')


class Edit(typing.NamedTuple):
    """What is put around a part of a text, or instead of it."""
    begin: int
    end: int
    head: str
    tail: str
    keeps_text: bool

    def crosses(self, begin, end, replaces):
        """Whether the part overlaps another one, and neither keeps the other as it is."""
        if end <= self.begin or self.end <= begin:
            return False
        is_inner = self.begin <= begin and end <= self.end and self.keeps_text
        is_outer = begin <= self.begin and self.end <= end and not replaces
        return not is_inner and not is_outer


def edited(text, begin, end, edits):
    """A part of a text with its edits, which are sorted."""
    result = ''
    while edits:
        edit = edits[0]
        inner = [other for other in edits[1:] if other.begin < edit.end]
        kept = edited(text, edit.begin, edit.end, inner) if edit.keeps_text else ''
        result += text[begin:edit.begin] + edit.head + kept + edit.tail
        begin = edit.end
        edits = edits[1 + len(inner):]
    return result + text[begin:end]


class Planting:
    """What is planted in the sources of a project."""

    def __init__(self, root):
        self.root = root
        self.sources = {}  # by file
        self.edits = {}  # by file
        self.names = []  # LIST/NAME of each bug; the first is number 1
        self.cases = []  # LIST and path, relative to cases/
        self.problems = []
        self.notes = []  # on locations that were found in another function

    def add_list(self, path):
        """Plants the bugs of a list."""
        try:
            content = json.loads(path.read_text(encoding='utf-8'))
            locations, cases = content['locations'], content.get('cases', [path.stem])
            if not isinstance(locations, list) or not is_texts(cases):
                raise ValueError('"locations" and "cases" must be arrays, and paths in "cases"')
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            self.problems.append(f'{path}: is not a list of bugs: {error!r}')
            return
        self.cases += [(path.stem, case) for case in cases]
        for number, location in enumerate(locations, 1):
            try:
                check_keys(location)
                self.add_location(path, location)
            except (ValueError, OSError) as error:
                self.problems.append(f'{path}: location {number}: {error}')

    def add_location(self, path, location):
        """Plants the bugs of a location. A ValueError says why that is not possible."""
        file = location['file']
        source = self.source(file)
        try:
            begin, end = planted_location.find(source, location)
            if any(edit.crosses(begin, end, 'always' in location) for edit in self.edits[file]):
                raise ValueError('it overlaps another location')
        except ValueError as error:
            shown = ' '.join(location[key] for key in ('before', 'right', 'after') if location.get(key))
            raise ValueError(f'{file}: {error}:\n{shown}') from None
        token = source.index_at(begin)
        if not source.is_in(location['in'], token):
            self.notes.append(f'{path}: {file}: this is in {source.innermost(token)} now, not in {location["in"]}; '
                              f'change "in":\n{location["right"]}')
        if 'always' in location:
            self.edits[file].append(Edit(begin, end, location['always'], '', False))
        elif location.get('statement'):
            switch = self.switch(path.stem, location, 'if (planted_bug == {}) {{ {} }} else ')
            self.edits[file].append(Edit(begin, end, switch + '{ ', ' }', True))
        else:
            switch = self.switch(path.stem, location, 'planted_bug == {} ? ({}) : ')
            self.edits[file].append(Edit(begin, end, '(' + switch + '(', '))', True))

    def source(self, file):
        """Reads a source when it is first needed."""
        path = self.root / file
        if file not in self.sources:
            if not path.resolve().is_relative_to(self.root.resolve()) or not path.is_file():
                raise ValueError(f'there is no {file}, which bugs are planted in; bring the list up to date')
            self.sources[file] = planted_location.Source(path.read_text(encoding='utf-8'))
            self.edits[file] = []
        return self.sources[file]

    def switch(self, operator, location, form):
        """The text that chooses the bugs of a location, in alphabetical order, by their numbers."""
        switch = ''
        for name, wrong in sorted(location['bugs'].items()):
            bug = f'{operator}/{name}'
            if bug not in self.names:
                self.names.append(bug)
            switch += form.format(self.names.index(bug) + 1, wrong)
        return switch

    def copy_of(self, file):
        """The text of a source with its bugs."""
        text = self.sources[file].text
        # Of two locations, one of which is in the other, the outer one comes first.
        edits = sorted(self.edits[file], key=lambda edit: (edit.begin, -edit.end))
        text = edited(text, 0, len(text), edits)
        return SWITCH_IN_CPP + text if file.endswith(('.cpp', '.h')) else text

    def copies(self):
        """The texts of all copies, by file. All shaders are copied."""
        copies = {file: self.copy_of(file) for file in self.sources}
        for path in sorted(self.root.glob('shaders/*/*.hlsl*')):
            file = path.relative_to(self.root).as_posix()
            text = copies.get(file) or path.read_text(encoding='utf-8')
            copies[file] = SWITCH_IN_SHADERS + text if path.suffix == '.hlsl' else text
        return copies

    def list_for_cpp(self):
        """The source with the numbers and names of the bugs."""
        bugs = [bug.split('/') for bug in self.names]
        rows = ''.join(f'    {{{number}, "{operator}", "{name}"}},\n'
                       for number, (operator, name) in enumerate(bugs, 1))
        paths = ''.join(f'    {{{json.dumps(operator)}, {json.dumps(path)}}},\n' for operator, path in self.cases)
        return LIST.format(rows=rows, paths=paths)

    def lists_for_cmake(self):
        """The names of the sources, and the number of bugs of each list."""
        operators = [bug.split('/')[0] for bug in self.names]
        counts = [f'{operator}:{operators.count(operator)}' for operator in dict.fromkeys(operators)]
        return f'set(PLANTED_FILES {" ".join(self.sources)})\nset(PLANTED_COUNTS {" ".join(counts)})\n'


def plant(root, output):
    """Plants the bugs of all lists of a project. Returns notes on entries whose "in" is out of date."""
    planting = Planting(root)
    for path in sorted(root.glob('tests/planted_bugs/*.json')):
        planting.add_list(path)
    copies = planting.copies()
    for file, text in copies.items():
        write(output / 'planted' / file, text)
    for path in list((output / 'planted').rglob('*.*')):
        if path.is_file() and path.relative_to(output / 'planted').as_posix() not in copies:
            path.unlink()
    write(output / 'planted_bugs_list.cpp', planting.list_for_cpp())
    write(output / 'planted.cmake', planting.lists_for_cmake())
    write(output / 'problems.txt', ''.join(problem + '\n\n' for problem in planting.problems))
    return planting.notes


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    for note in plant(*(pathlib.Path(name) for name in sys.argv[1:])):
        print(note)


if __name__ == '__main__':
    main()
