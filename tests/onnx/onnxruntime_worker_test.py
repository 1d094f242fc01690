#!/usr/bin/env python3
"""Runs cases in ONNX Runtime through docs/examples/onnxruntime_worker.mjs or .py.

usage: onnxruntime_worker_test.py PROGRAM WORKER CASES [EXPECTATIONS]

With EXPECTATIONS, it runs all cases, which have to differ as the file says. It is about one version of ONNX Runtime.
Ends with exit code 77 where the worker's language or ONNX Runtime is not installed.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
WRONG = """{ "cases": [{ "name": "wrong", "operator": "ELEMENT_WISE_ADD",
  "desc": { "ATensor": { "DataType": "FLOAT32", "Sizes": [3] }, "BTensor": { "DataType": "FLOAT32", "Sizes": [3] },
            "OutputTensor": { "DataType": "FLOAT32", "Sizes": [3] } },
  "inputs": { "ATensor": [1, 2, 3], "BTensor": [10, 20, 30] }, "expected": { "OutputTensor": [11, 22, 34] } }] }
"""


def command_of(worker):
    """How the worker is started; nothing if it cannot be."""
    if worker.suffix == ".py":
        runs = subprocess.run([sys.executable, "-c", "import onnxruntime, numpy"], capture_output=True, check=False)
        return f"'{sys.executable}' -B '{worker}'" if runs.returncode == 0 else None
    if not shutil.which("node"):
        return None
    # Searches for the module in the same way as the worker.
    code = ("const { createRequire } = require('node:module');"
            f"for (const from of ['{worker}', process.cwd() + '/x.js']) try {{"
            "createRequire(from)('onnxruntime-node'); process.exit(0) } catch {} process.exit(1)")
    runs = subprocess.run(["node", "-e", code], capture_output=True, check=False)
    return f"node '{worker}'" if runs.returncode == 0 else None


def run(program, words, folder):
    result = folder / "result.json"
    done = subprocess.run([program, "run", *words, "--json", result], capture_output=True, text=True, check=False)
    print(done.stdout[-3000:], done.stderr[-3000:])
    return done.returncode, json.loads(result.read_text(encoding="utf-8")) if result.exists() else None


def statuses(document):
    counts = {}
    for result in document["results"]:
        counts[result["status"]] = counts.get(result["status"], 0) + 1
    return counts


def try_without_package(worker):
    """A copy of the worker that finds no package tells how to install it, in one line."""
    with tempfile.TemporaryDirectory() as name:
        copy = pathlib.Path(shutil.copy(worker, name))
        environment = {key: value for key, value in os.environ.items() if key not in ("NODE_PATH", "HOME")}
        done = subprocess.run(["node", copy], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                              cwd=name, env=environment)
        assert done.returncode == 1 and done.stderr.count("\n") == 1, (done.returncode, done.stderr)
        assert "npm install --ignore-scripts onnxruntime-node" in done.stderr, done.stderr


def try_corpus(program, command, cases, expectations, folder):
    """Each difference is known, and each finding occurs."""
    # Cases are small: starting threads for each takes longer than all that they compute.
    words = [cases, "--engine", f"exec:{command} --threads 1", "--expect", expectations]
    code, document = run(program, words, folder)
    counts = statuses(document)
    assert code == 0 and counts["pass"] > 18000 and counts["xfail"] > 300, (code, counts)
    seen = {result["expectation"]["reason"] for result in document["results"] if result["status"] == "xfail"}
    text = re.sub("^//.*$", "", expectations.read_text(encoding="utf-8"), flags=re.M)
    for entry in json.loads(text)["expectations"]:
        assert f"{entry['finding']}: {entry['reason']}" in seen, entry


def main():
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    program, worker, cases = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    if worker.suffix == ".mjs" and shutil.which("node"):
        try_without_package(worker)
    command = command_of(worker)
    if command is None:
        print(f"{worker.name}: ONNX Runtime is not installed for it")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if len(sys.argv) == 5:
            try_corpus(program, command, cases, pathlib.Path(sys.argv[4]), folder)
            return
        for options in ("", " --optimisation disabled"):
            types = cases / "slice1" / "types.json"
            code, document = run(program, [types, "--engine", f"exec:{command}{options}"], folder)
            counts = statuses(document)
            assert code == 0 and counts.get("pass", 0) > 0 and set(counts) <= {"pass", "skip"}, (code, counts)
            engine = document["engines"][0]
            assert engine["name"].startswith("exec:onnxruntime") and engine["libraries"]["onnxruntime"], engine
        # A wrong expected value is detected, which shows that the values come from the runtime.
        wrong = folder / "wrong.json"
        wrong.write_text(WRONG, encoding="utf-8")
        code, document = run(program, [wrong, "--engine", f"exec:{command}"], folder)
        assert code == 1 and statuses(document) == {"fail": 1}, (code, document["results"])
        # Cases that ONNX cannot express are skipped with the reason, and an engine that skips everything fails the run.
        illegal = [cases / "slice1" / "invalid.json", "--filter", "invalid/slice1/*/missing"]
        code, document = run(program, [*illegal, "--engine", f"exec:{command}"], folder)
        assert code == 1 and set(statuses(document)) == {"skip"}, (code, statuses(document))
        assert all(result["reason"] for result in document["results"])


if __name__ == "__main__":
    main()
