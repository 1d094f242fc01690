#!/usr/bin/env python3
"""Checks that the program, as packages have it, is small enough to download in a moment.

usage: program_size.py PROGRAM

Exit codes: 0 small enough, 1 too large.
"""
import os
import subprocess
import sys
import tempfile

LIMIT = 12_000_000  # bytes

with tempfile.TemporaryDirectory() as folder:
    stripped = os.path.join(folder, "stripped")
    subprocess.check_call(["strip", "-o", stripped, sys.argv[1]])
    size = os.path.getsize(stripped)
print(f"{size} bytes without symbols, of {LIMIT} at most")
sys.exit(size > LIMIT)
