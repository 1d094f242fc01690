#!/usr/bin/env python3
"""Tests of cmake/Batches.cmake: which sources are compiled together, wherever the checkout lies.

usage: batches_test.py CMAKE FOLDER   FOLDER has Batches.cmake"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(batches LANGUAGES CXX)
include("{folder}/Batches.cmake")
file(GLOB sources "${{CMAKE_CURRENT_SOURCE_DIR}}/*.cpp")
file(WRITE "${{CMAKE_CURRENT_BINARY_DIR}}/written.cpp" "")
add_library(batched STATIC ${{sources}} "${{CMAKE_CURRENT_BINARY_DIR}}/written.cpp")
dmlconform_batches(batched APART "/alone\\\\.cpp$")
"""


class Batches(unittest.TestCase):
    def batches_at(self, name):
        """The names of the sources of each batch of a project in a folder of that name."""
        with tempfile.TemporaryDirectory() as temporary:
            project = pathlib.Path(temporary) / name
            project.mkdir()
            (project / "CMakeLists.txt").write_text(PROJECT.format(folder=FOLDER))
            for source in [*"abcdefghij", "alone"]:
                (project / f"{source}.cpp").write_text("")
            build = pathlib.Path(temporary) / "build"
            subprocess.run([CMAKE, "-S", project, "-B", build, "-G", "Ninja", "-DDMLCONFORM_BATCHES=ON",
                            "-DDMLCONFORM_BATCH_SIZE=8"], check=True, capture_output=True, timeout=120)
            batches = []
            for unit in build.rglob("unity_*.cxx"):
                lines = [line for line in unit.read_text().splitlines() if line.startswith("#include")]
                batches.append([pathlib.Path(line.split('"')[1]).stem for line in lines])
            return sorted(batches)

    def test_folders(self):
        for name in ["plain", "c++ with blanks (1)", "alone.cpp"]:
            with self.subTest(name=name):
                self.assertEqual(self.batches_at(name), [list("abcdefgh"), ["i", "j"]])


if __name__ == "__main__":
    CMAKE, FOLDER = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
