#!/usr/bin/env python3
"""Compares the tables of docs/design-notes/fast-paths.md with the planted bugs, the cases and the tests that they name.

usage: fast_paths.py SOURCE

Each row is `condition` | bug | `case`, below a heading that ends with `file`. The bug must be in
tests/planted_bugs/fast_paths_*.json, at that condition and in that file, and the case in cases/. Each bug
of these lists must have a row.

Conditions without a planted bug have rows `condition` | `folder/file` | reason. The condition must be in that file of
engine/. If the reason is `Suite.Test`, there must be such a test.
"""
import json
import pathlib
import re
import sys

HEADING = re.compile(r'### .*`(?P<file>[^`]+)`$')
ROW = re.compile(r'\| `(?P<condition>.+)` \| (?P<bug>[\w-]+) \| `(?P<case>[^`]+)` \|$')
UNPLANTED = re.compile(r'\| `(?P<condition>.+)` \| `(?P<file>[\w/]+\.(?:cpp|h))` \| (?P<reason>.+) \|$')
TEST = re.compile(r'`(?P<suite>\w+)\.(?P<test>\w+)`$')


def rows_of(page):
    """The rows of the tables, with their line numbers."""
    rows = []
    file = None
    for number, line in enumerate(page.read_text(encoding='utf-8').splitlines(), 1):
        heading = HEADING.match(line)
        file = heading['file'] if heading else file
        match = ROW.match(line)
        if match:
            condition = match['condition'].replace('\\|', '|')
            rows.append((number, {**match.groupdict(), 'file': file, 'condition': condition}))
    return rows


def planted(source):
    """The condition and the file's name of each bug."""
    bugs = {}
    for path in sorted((source / 'tests' / 'planted_bugs').glob('fast_paths_*.json')):
        for location in json.loads(path.read_text(encoding='utf-8'))['locations']:
            for bug in location['bugs']:
                bugs[bug] = (' '.join(location['right'].split()), pathlib.PurePosixPath(location['file']).name)
    return bugs


def has_case(source, name):
    """Whether a file FILE.json anywhere in cases/ has a case; its name begins with the file's."""
    stem, _, case = name.partition('/')
    quoted = json.dumps(case)
    return any(f'"name": {quoted}' in path.read_text(encoding='utf-8')
               for path in (source / 'cases').glob(f'*/{stem}.json'))


def has_test(source, suite, test):
    """Whether a unit test has this name."""
    text = re.compile(rf'TEST(?:_[FP])?\({suite}, {test}\)')
    return any(text.search(path.read_text(encoding='utf-8')) for path in (source / 'tests').rglob('*.cpp'))


def unplanted_problems(source, page):
    """What is wrong with the conditions that have no planted bug."""
    problems = []
    for number, line in enumerate(page.read_text(encoding='utf-8').splitlines(), 1):
        row = UNPLANTED.match(line)
        if not row:
            continue
        location = f'{page.relative_to(source)}:{number}: '
        file = source / 'engine' / row['file']
        condition = row['condition'].replace('\\|', '|').removesuffix(' …')
        if not file.exists() or condition not in ' '.join(file.read_text(encoding='utf-8').split()):
            problems.append(f"{location}engine/{row['file']} does not have {condition}")
        test = TEST.match(row['reason'])
        if test and not has_test(source, test['suite'], test['test']):
            problems.append(f"{location}there is no test {row['reason']}")
    return problems


def problems_of(source):
    """What is wrong, one line each."""
    page = source / 'docs' / 'design-notes' / 'fast-paths.md'
    bugs = planted(source)
    problems = unplanted_problems(source, page)
    for number, row in rows_of(page):
        location = f'{page.relative_to(source)}:{number}: '
        condition, file = bugs.pop(row['bug'], (None, None))
        shown = row['condition'].removesuffix(' …')
        if condition is None:
            problems.append(f"{location}no list plants {row['bug']}, or another row has it, too")
        elif file != row['file'] or (condition != shown if shown == row['condition'] else
                                     not condition.startswith(shown)):
            problems.append(f"{location}{row['bug']} is planted at {condition} in {file}")
        if not has_case(source, row['case']):
            problems.append(f"{location}there is no case {row['case']}")
    return problems + [f'{page.relative_to(source)}: {bug} has no row' for bug in bugs]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    problems = problems_of(pathlib.Path(sys.argv[1]))
    print('\n'.join(problems))
    sys.exit(1 if problems else 0)


if __name__ == '__main__':
    main()
