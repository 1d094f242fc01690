#!/usr/bin/env python3
"""Checks the form of lines as .editorconfig has it: their length, blanks at their ends, tabs, the last line's end.

usage: columns.py FILE…

For files that no formatter of ours knows: HLSL. Ends with exit code 1 if something is wrong.
"""
import pathlib
import sys

COLUMNS = 120


def problems_of(text):
    lines = text.split("\n")
    if lines[-1] or len(lines) < 2 or not lines[-2]:
        yield len(lines), "the file does not end with one newline"
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS:
            yield number, f"{len(line)} columns, where {COLUMNS} are allowed"
        if line != line.rstrip():
            yield number, "blanks at the end of the line"
        if "\t" in line:
            yield number, "a tab"


def main():
    found = False
    for name in sys.argv[1:]:
        for number, problem in problems_of(pathlib.Path(name).read_text(encoding="utf-8")):
            print(f"{name}:{number}: {problem}")
            found = True
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
