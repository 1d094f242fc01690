#!/usr/bin/env python3
"""Tests that scripts answer --help with their usage before they install, configure or build anything.

usage: scripts_help_test.py ROOT
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

# Programs that change the machine or the checkout, or take long. Here they only say that they were started.
PROGRAMS = ("apt-get", "cmake", "ctest", "debootstrap", "dpkg-query", "ninja", "npm", "sudo")
# Their arguments are those of another program.
FOR_OTHERS = {"dmlconform", "directml", "configured-archives", "usage-of"}
ROOT = pathlib.Path(sys.argv.pop()).resolve() if len(sys.argv) > 1 else None


class Help(unittest.TestCase):
    def test_comes_before_everything_else(self):
        scripts = [path for path in sorted((ROOT / "scripts").iterdir()) if path.is_file()]
        self.assertGreater(len(scripts), 9)
        with tempfile.TemporaryDirectory() as folder:
            for name in PROGRAMS:
                program = pathlib.Path(folder, name)
                program.write_text(f"#!/bin/sh\necho {name} was started >&2\nexit 99\n", encoding="utf-8")
                program.chmod(0o755)
            environment = os.environ | {"PATH": folder + os.pathsep + os.environ["PATH"]}
            for script in scripts:
                if script.name in FOR_OTHERS:
                    continue
                with self.subTest(script.name):
                    result = subprocess.run([script, "--help"], env=environment, stdin=subprocess.DEVNULL, timeout=20,
                                            capture_output=True, text=True, check=False)
                    self.assertEqual((result.returncode, result.stderr), (0, ""))
                    self.assertIn(f"usage: scripts/{script.name}", result.stdout)


if __name__ == "__main__":
    unittest.main()
