#!/usr/bin/env python3
"""Validates JSON files, comments allowed, against a JSON Schema with a validator that is not ours.

usage: validate_json.py SCHEMA FILE...
"""
import json
import re
import sys

import jsonschema


def load(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    # Strings are matched first, so that text in a string that looks like a comment is kept.
    pattern = r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/'
    return json.loads(re.sub(pattern, lambda m: m.group(1) or "", text, flags=re.S))


def main():
    schema = load(sys.argv[1])
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    failed = 0
    for path in sys.argv[2:]:
        for error in validator.iter_errors(load(path)):
            failed += 1
            print(f"{path}: /{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}")
    print(f"{len(sys.argv) - 2} files, {failed} errors")
    return 1 if failed or len(sys.argv) < 3 else 0


if __name__ == "__main__":
    sys.exit(main())
