#!/usr/bin/env python3
"""Checks the form of Markdown files: links, tables and the length of lines. scripts/lint and a test run it.

usage: markdown.py ROOT

Every *.md below ROOT is checked, but not what builds make. Prints what is wrong, a line each, and ends with exit code 1
if there is anything.
"""
import pathlib
import re
import sys

COLUMNS = 120
# What the program writes: `describe --table` has a row for each operator, with all that is to be said of it.
# The tables of the proof are what its program prints.
WRITTEN_BY_THE_PROGRAM = {"docs/operators.md", "docs/onnx-operators.md", "docs/import.md", "docs/precision-proof.md"}
FOLDERS_OF_BUILDS = {"build", ".git", ".cache", "__pycache__"}


def files_below(root):
    for path in sorted(root.rglob("*.md")):
        if not FOLDERS_OF_BUILDS.intersection(path.relative_to(root).parts):
            yield path


def lines_of(text):
    """Number, text and kind of each line: "code", "table" or "text"."""
    fence = None
    in_list = False
    previous_blank = True
    for number, line in enumerate(text.split("\n"), 1):
        opening = re.match(r"\s*(```+|~~~+)", line)
        if fence:
            yield number, line, "code"
            if opening and opening.group(1).startswith(fence):
                fence = None
            continue
        if opening:
            fence = opening.group(1)
            yield number, line, "code"
            continue
        if re.match(r"\s*([-*]|\d+\.) ", line):
            in_list = True
        elif line and not line[0].isspace():
            in_list = False
        indent = len(line) - len(line.lstrip(" "))
        # After a blank line, an indented block is code; within a list, code is indented further.
        code = line.strip() and indent >= (6 if in_list else 4) and previous_blank
        kind = "code" if code else "table" if line.lstrip().startswith("|") else "text"
        yield number, line, kind
        previous_blank = not line.strip() or kind == "code"


def anchor(heading):
    """What GitHub makes of a heading."""
    heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", heading.lower().replace("`", "")).strip().replace(" ", "-")


def anchors_of(path):
    found = {}
    for _, line, kind in lines_of(path.read_text(encoding="utf-8")):
        heading = re.match(r"#+\s+(.*)", line)
        if heading and kind == "text":
            name = anchor(heading.group(1))
            found[name] = found.get(name, -1) + 1
    return {name if number == 0 else f"{name}-{number}" for name, last in found.items() for number in range(last + 1)}


def cells(line):
    """How many cells a row of a table has."""
    return len(re.findall(r"(?<!\\)\|", line.strip().strip("|"))) + 1


def problems_of_lines(lines):
    for number, line, _ in lines:
        # A line that is a single link cannot be broken. Rows of a table that are too long should become lists.
        if len(line) > COLUMNS and re.sub(r"\S+", "x", line.strip()) != "x":
            yield number, f"{len(line)} columns, where {COLUMNS} are allowed"


def problems_of_tables(lines):
    row = 0
    width = 0
    before = ""
    for number, line, kind in lines:
        if kind != "table":
            if row == 1:
                yield number - 1, "a table of one line"
            row, before = 0, line
            continue
        row += 1
        if row == 1:
            width = cells(line)
            if before.strip():
                yield number, "a table needs a blank line before it"
        elif row == 2 and not re.fullmatch(r"\|(\s*:?-+:?\s*\|)+", line.strip()):
            yield number, "the second line of a table has to be like | --- | --- |: no renderer makes a table of this"
        elif cells(line) != width:
            yield number, f"{cells(line)} cells in a table of {width} columns"


def problems_of_links(path, root, lines):
    # Lines are joined because a link may span two.
    text = "\n".join("" if kind == "code" else re.sub(r"`[^`]*`", "", line) for _, line, kind in lines)
    for link in re.finditer(r"\]\(([^)\s]+)\)", text):
        target, _, fragment = link.group(1).partition("#")
        number = text.count("\n", 0, link.start()) + 1
        if re.match(r"[a-z]+:", target):
            continue
        there = (path.parent / target if target else path).resolve()
        if not there.exists():
            yield number, f"the link to {link.group(1)} leads nowhere"
        elif root.resolve() not in [there, *there.parents]:
            yield number, f"the link to {link.group(1)} leads out of the project"
        elif fragment and there.suffix == ".md" and fragment not in anchors_of(there):
            yield number, f"{target or path.name} has no heading #{fragment}"


def problems_of_paths(root, lines):
    """Files and folders of the sources, named in code. Placeholders as in `cases/<operator>/` are passed over."""
    for number, line, kind in lines:
        if kind == "code":
            continue
        for path in re.findall(r"`((?:app|cases|cmake|docs|engine|schemas|scripts|shaders|tests)/[\w./-]+)`", line):
            if not (root / path).exists():
                yield number, f"there is no {path}"


def problems_of_index(root):
    """Every document of docs/ has to be in its index."""
    index = root / "docs" / "README.md"
    if index.exists():
        text = index.read_text(encoding="utf-8")
        for path in sorted((root / "docs").glob("*.md")):
            if path != index and f"({path.name})" not in text:
                yield index, 1, f"{path.name} is missing in this index"


def problems_below(root):
    for path in files_below(root):
        lines = list(lines_of(path.read_text(encoding="utf-8")))
        checks = [problems_of_tables(lines), problems_of_links(path, root, lines), problems_of_paths(root, lines)]
        if path.relative_to(root).as_posix() not in WRITTEN_BY_THE_PROGRAM:
            checks.append(problems_of_lines(lines))
        for found in checks:
            for number, problem in found:
                yield path, number, problem
    yield from problems_of_index(root)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    root = pathlib.Path(sys.argv[1])
    found = list(problems_below(root))
    for path, number, problem in found:
        print(f"{path.relative_to(root)}:{number}: {problem}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
