#!/usr/bin/env python3
"""A worker for tests that computes nothing: it answers with the outputs that a file tells it.

usage: answering_worker.py EXAMPLE_WORKER ANSWERS

ANSWERS is JSON: for each case, in the order in which they are compiled, a list of its outputs' bytes in hexadecimal.
With DELAY in the environment, it waits that many seconds before each case but the first. Frames and CBOR are those of
docs/examples/worker.py.
"""
import importlib.util
import json
import os
import sys
import time

sys.dont_write_bytecode = True
specification = importlib.util.spec_from_file_location("worker", sys.argv[1])
worker = importlib.util.module_from_spec(specification)
specification.loader.exec_module(worker)

with open(sys.argv[2], encoding="utf-8") as file:
    answers = iter(json.load(file))


def padded(output):
    """With the bytes up to the next word, and the guard, untouched."""
    return output + b"\xcd" * (-len(output) % 4 + worker.GUARD)


def answer(request, programs):
    kind = request["request"]
    if kind == "info":
        return {"protocol": 1, "name": "told", "featureLevel": "6.4"}
    if kind == "compile":
        if programs:
            time.sleep(float(os.environ.get("DELAY", "0")))
        programs[request["id"]] = [padded(bytes.fromhex(output)) for output in next(answers)]
        return {"accepted": True}
    if kind == "read":
        return {"outputs": programs[request["executable"]]}
    return {}


worker.answer = answer
worker.main()
