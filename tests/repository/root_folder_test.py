#!/usr/bin/env python3
"""Tests of root_folder.py: strays are found, with git and without."""
import pathlib
import subprocess
import tempfile
import unittest

import root_folder


class RootFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in ("README.md", "-", "result.json"):
            (self.root / name).touch()
        for name in ("build", "engine"):
            (self.root / name).mkdir()

    def test_without_git(self):
        self.assertEqual(root_folder.strays(self.root), ["-", "result.json"])

    def test_what_git_ignores(self):
        (self.root / ".gitignore").write_text("/build/\n/result.json\n")
        subprocess.run(["git", "-C", self.root, "init", "--quiet"], check=True)
        self.assertEqual(root_folder.strays(self.root), ["-"])


if __name__ == "__main__":
    unittest.main()
