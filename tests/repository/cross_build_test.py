#!/usr/bin/env python3
"""Tests that a cross build hands a compiler launcher with arguments, as ccache has them, to the build of the shaders.

usage: cross_build_test.py CMAKE ROOT

Configures the Windows program, and then the native build that compiles its shaders. Compiles nothing.
"""
import pathlib
import subprocess
import sys
import tempfile

STEP = "engine/native_shaders-prefix/src/native_shaders-stamp/native_shaders-configure"
LAUNCHER = "/usr/bin/env;-u;NO_SUCH_VARIABLE"


def run(*words):
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    if result.returncode:
        sys.exit(f"{' '.join(words)}:\n{result.stdout}{result.stderr}")


cmake, root = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    run(cmake, "-S", root, "--preset", "windows-mingw", "-B", folder, f"-DCMAKE_CXX_COMPILER_LAUNCHER={LAUNCHER}",
        "-DDMLCONFORM_COMPILED_SHADERS=")
    run(cmake, "--build", folder, "--target", STEP)
    cache = pathlib.Path(folder, "native", "CMakeCache.txt").read_text(encoding="utf-8")
launchers = [line.split("=", 1)[1] for line in cache.splitlines() if line.startswith("CMAKE_CXX_COMPILER_LAUNCHER:")]
if launchers != [LAUNCHER]:
    sys.exit(f"the launcher of the native build should be {LAUNCHER}, but is {launchers}")
