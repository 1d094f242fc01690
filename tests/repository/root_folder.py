#!/usr/bin/env python3
"""Checks that nothing lies in the root folder that does not belong there: a result that a run wrote, for example.

usage: root_folder.py ROOT

Prints what does not belong there, and ends with exit code 1 if there is anything. What git ignores is passed over.
"""
import pathlib
import subprocess
import sys

ALLOWED = {
    ".ci", ".clang-format", ".clang-tidy", ".editorconfig", ".git", ".github", ".gitignore",
    "CHANGELOG.md", "CMakeLists.txt", "CMakePresets.json", "CONTRIBUTING.md", "LICENSE", "README.md", "SECURITY.md",
    "THIRD-PARTY-NOTICES.md", "vcpkg.json",
    "app", "cases", "cmake", "docs", "engine", "schemas", "scripts", "shaders", "tests",
}


def ignored(root, names):
    """Those that git ignores. Without git, or in a folder that is not a repository, only what builds make."""
    what_builds_make = {"build", ".cache"}
    try:
        done = subprocess.run(["git", "-C", root, "check-ignore", "--stdin", "-z"], input="\0".join(names),
                              capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return what_builds_make
    return what_builds_make if done.returncode > 1 else set(done.stdout.split("\0"))


def strays(root):
    names = [path.name for path in pathlib.Path(root).iterdir() if path.name not in ALLOWED]
    return sorted(set(names) - ignored(root, names))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = strays(sys.argv[1])
    for name in found:
        print(f"{name}: this does not belong into the root folder; tests/repository/root_folder.py has what does")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
