#!/usr/bin/env python3
"""The example worker, which waits in one task of a Slurm array for as long as a file is there.

usage: held_worker.py WORKER TASK FILE

Once it waits, FILE.held is there. So a test knows when to kill the task.
"""
import os
import pathlib
import sys
import time

worker, task, file = sys.argv[1:]
if os.environ.get("SLURM_ARRAY_TASK_ID") == task:
    while os.path.exists(file):
        pathlib.Path(file + ".held").touch()
        time.sleep(0.1)
os.execv(sys.executable, [sys.executable, "-B", worker])
