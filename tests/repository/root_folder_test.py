#!/usr/bin/env python3
"""Tests of root_folder.py: strays are found, with git and without."""
import pathlib
import shutil
import subprocess
import tempfile
import unittest
from unittest import mock

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

    def test_without_a_repository(self):
        self.assertEqual(root_folder.strays(self.root), ["-", "result.json"])

    def test_without_git(self):
        with mock.patch.dict("os.environ", PATH=str(self.root)):
            self.assertEqual(root_folder.strays(self.root), ["-", "result.json"])

    @unittest.skipUnless(shutil.which("git"), "git is not installed")
    def test_what_git_ignores(self):
        (self.root / ".gitignore").write_text("/build/\n/result.json\n")
        subprocess.run(["git", "-C", self.root, "init", "--quiet"], check=True)
        self.assertEqual(root_folder.strays(self.root), ["-"])


if __name__ == "__main__":
    unittest.main()
