#!/usr/bin/env python3
"""Checks the subjects of commits: at most 72 characters, imperative, a capital first, no full stop.

usage: commit_subjects.py REPOSITORY [RANGE]

RANGE is as for `git log`; without it, all commits since these rules hold. Ends with exit code 1 if a subject is wrong,
and with 77 if git or the commits are not there, as in an archive or a shallow clone.
"""
import re
import subprocess
import sys

# The last commit before these rules applied.
BEFORE = "1d7254c82fe671bf9d8491196dce8d270fd418b2"
LENGTH = 72
# Endings of a first word that is not an imperative, and imperatives with the same endings.
ENDINGS = re.compile(r"(ed|ing)$", re.IGNORECASE)
IMPERATIVES = {"bring", "embed", "exceed", "feed", "need", "proceed", "seed", "shed", "speed", "bed", "ring"}


def problems_of(subject):
    if len(subject) > LENGTH:
        yield f"{len(subject)} characters, where {LENGTH} are allowed"
    if subject.endswith("."):
        yield "a full stop at the end"
    words = subject.split()
    if not words:
        yield "it is empty"
        return
    if not words[0][0].isupper():
        yield "it does not begin with a capital"
    if ENDINGS.search(words[0]) and words[0].lower() not in IMPERATIVES:
        yield f'"{words[0]}" is not an imperative, such as "Add" or "Split"'


def main():
    repository = sys.argv[1]
    commits = sys.argv[2] if len(sys.argv) > 2 else f"{BEFORE}..HEAD"
    try:
        log = subprocess.run(["git", "-C", repository, "log", "--no-merges", "--format=%h %s", commits],
                             capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"git cannot list {commits}: {getattr(error, 'stderr', error)}", file=sys.stderr)
        sys.exit(77)
    found = False
    for line in log.splitlines():
        commit, _, subject = line.partition(" ")
        for problem in problems_of(subject):
            print(f"{commit} \"{subject}\": {problem}")
            found = True
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
