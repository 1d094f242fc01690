#!/usr/bin/env python3
"""ONNX Runtime as an engine of dmlconform, in Python. See docs/onnxruntime.md and docs/worker-protocol.md.

    dmlconform run cases --engine 'exec:python3 docs/examples/onnxruntime_worker.py --provider CPUExecutionProvider'

Needs onnxruntime and NumPy (Debian 13: python3-onnxruntime), and worker.py beside it, which has the protocol's CBOR.
"""
import argparse
import re
import struct
import sys
import time

import numpy
import onnxruntime

from worker import decode, encode

LEVELS = {"disabled": "ORT_DISABLE_ALL", "basic": "ORT_ENABLE_BASIC", "extended": "ORT_ENABLE_EXTENDED",
          "all": "ORT_ENABLE_ALL"}


def answer(request, programs, options):
    kind, number = request["request"], request.get("executable")
    if kind == "info":
        return {"protocol": 1, "wants": "onnx", "opset": 17, "featureLevel": "6.4", "name": "onnxruntime-py",
                "adapter": f"{options.provider}, optimisation: {options.optimisation}",
                "libraries": [["onnxruntime", onnxruntime.__version__]]}
    if kind == "compileModel":
        settings = onnxruntime.SessionOptions()
        settings.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, LEVELS[options.optimisation])
        settings.log_severity_level = 4
        settings.intra_op_num_threads = options.threads
        try:
            session = onnxruntime.InferenceSession(request["model"], settings, providers=[options.provider])
        except Exception as problem:
            # No kernel: the case is skipped.
            if re.search("NOT_IMPLEMENTED|Could not find an implementation|Failed to find kernel", str(problem)):
                return {"unsupported": str(problem)}
            raise
        programs[request["id"]] = {"session": session, "inputs": request["inputs"], "outputs": request["outputs"]}
        return {"accepted": True}
    if kind == "bind":
        programs[number]["feeds"] = {
            tensor["name"]: numpy.frombuffer(data, tensor["type"].lower()).reshape(tensor["sizes"])
            for tensor, data in zip(programs[number]["inputs"], request["inputs"])}
    elif kind == "execute":
        names = [tensor["name"] for tensor in programs[number]["outputs"]]
        start = time.perf_counter_ns()
        programs[number]["results"] = programs[number]["session"].run(names, programs[number]["feeds"])
        return {"nanoseconds": time.perf_counter_ns() - start}
    elif kind == "read":
        for tensor, result in zip(programs[number]["outputs"], programs[number]["results"]):
            if result.dtype.name != tensor["type"].lower() or list(result.shape) != tensor["sizes"]:
                raise ValueError(f"{tensor['name']} is {result.dtype} {list(result.shape)}, not {tensor}")
        return {"outputs": [result.tobytes() for result in programs[number]["results"]]}
    elif kind == "release":
        del programs[number]
    else:
        return {"error": {"message": "there is no request " + kind}}
    return {}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--provider", default="CPUExecutionProvider", help="the execution provider")
    parser.add_argument("--optimisation", default="all", choices=LEVELS)
    parser.add_argument("--threads", type=int, default=0,
                        help="how many one operator may take; 0, the default, leaves it to ONNX Runtime")
    options = parser.parse_args()
    programs = {}
    while header := sys.stdin.buffer.read(8):
        request, _ = decode(sys.stdin.buffer.read(struct.unpack("<4sI", header)[1]))
        try:
            reply = answer(request, programs, options)
        except Exception as problem:  # whatever goes wrong costs the case at hand
            reply = {"error": {"message": str(problem)}}
        message = encode({**reply, "id": request["id"]})
        sys.stdout.buffer.write(struct.pack("<4sI", b"dmlw", len(message)) + message)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
