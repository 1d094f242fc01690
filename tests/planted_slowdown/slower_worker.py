#!/usr/bin/env python3
"""The example worker, which does its work ten times, and then a part of it again: DMLCONFORM_PLANTED_SLOWDOWN percent,
in steps of 10. scripts/prove-history tracks it."""
import importlib.util
import os
import pathlib

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "examples" / "worker.py"
TIMES = 10


def main():
    spec = importlib.util.spec_from_file_location("worker", EXAMPLE)
    worker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(worker)
    original = worker.slice1
    times = TIMES + int(os.environ.get("DMLCONFORM_PLANTED_SLOWDOWN", "0")) * TIMES // 100

    def repeated(desc, data, output):
        for _ in range(times):
            original(desc, data, output)

    worker.slice1 = repeated
    worker.main()


if __name__ == "__main__":
    main()
