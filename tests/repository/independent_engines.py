#!/usr/bin/env python3
"""Finds what the reference and the shaders' planners share, so that one mistake could hide in both.

usage: independent_engines.py ROOT

engine/cpu and engine/d3d12 read attributes and derive geometry independently. Of each other they include nothing, and
of engine/operators only descriptors: their fields' names, values and enumerations. What judges outputs, and computes
none, may also ask what operators do with elements, and how many of them they add up. Prints each other include, and
ends with exit code 1 if there is any.
"""
import pathlib
import re
import sys

ALLOWED = {f"engine/operators/{name}.h" for name in ("catalogue", "descriptor", "enumerations", "enumerators", "graph")}
JUDGES = {"engine/cpu/decisions.cpp": "engine/operators/element_rules.h",
          "engine/cpu/wide_slack.cpp": "engine/operators/rounded_sums.h"}
ENGINES = ("cpu", "d3d12")


def shared(engine, text):
    """What a source of an engine includes and must not."""
    others = [f"engine/{other}/" for other in ENGINES if other != engine]
    for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, flags=re.M):
        if any(name.startswith(other) for other in others):
            yield name
        elif name.startswith("engine/operators/") and name not in ALLOWED:
            yield name


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    root = pathlib.Path(sys.argv[1])
    sources = [(engine, path) for engine in ENGINES for suffix in ("cpp", "h")
               for path in sorted((root / "engine" / engine).rglob(f"*.{suffix}"))]
    if not sources:
        sys.exit(f"{root} has no sources in engine/cpu and engine/d3d12")
    found = False
    for engine, path in sources:
        for name in shared(engine, path.read_text(encoding="utf-8")):
            if JUDGES.get(path.relative_to(root).as_posix()) == name:
                continue
            found = True
            print(f"{path.relative_to(root)} includes {name}: engines read attributes independently of each other")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
