#!/usr/bin/env python3
"""docs/examples/low_precision_worker.py computes in the precision that it is told: every expected value by hand.

usage: low_precision_worker_test.py DMLCONFORM WORKER FOLDER
"""
import json
import os
import subprocess
import sys

program, worker, folder = sys.argv[1:]
PRECISIONS = ["fp32", "tf32", "bf16", "fp16", "fp16-accumulation", "toward-zero"]


def tensor(*sizes):
    return {"DataType": "FLOAT32", "Sizes": list(sizes)}


def gemm(a, b):
    desc = {"ATensor": tensor(1, 1, 1, len(a)), "BTensor": tensor(1, 1, len(a), 1),
            "OutputTensor": tensor(1, 1, 1, 1), "TransA": "NONE", "TransB": "NONE", "Alpha": 1, "Beta": 0}
    return "GEMM", desc, {"ATensor": a, "BTensor": b}


def convolution(x, kernel):
    desc = {"InputTensor": tensor(1, 1, 1, len(x)), "FilterTensor": tensor(1, 1, 1, len(kernel)),
            "OutputTensor": tensor(1, 1, 1, 1), "Mode": "CROSS_CORRELATION", "Direction": "FORWARD",
            "Strides": [1, 1], "Dilations": [1, 1], "StartPadding": [0, 0], "EndPadding": [0, 0],
            "OutputPadding": [0, 0], "GroupCount": 1}
    return "CONVOLUTION", desc, {"InputTensor": x, "FilterTensor": kernel}


def reduce(function, x):
    desc = {"InputTensor": tensor(1, 1, 1, len(x)), "OutputTensor": tensor(1, 1, 1, 1), "Function": function,
            "Axes": [3]}
    return "REDUCE", desc, {"InputTensor": x}


def average_pooling(x):
    desc = {"InputTensor": tensor(1, 1, 1, len(x)), "OutputTensor": tensor(1, 1, 1, 1), "Strides": [1, 1],
            "WindowSize": [1, len(x)], "StartPadding": [0, 0], "EndPadding": [0, 0], "IncludePadding": "FALSE"}
    return "AVERAGE_POOLING", desc, {"InputTensor": x}


def element_wise(function, a, b):
    desc = {name: tensor(1, 1, 1, 1) for name in ("ATensor", "BTensor", "OutputTensor")}
    return "ELEMENT_WISE_" + function, desc, {"ATensor": [a], "BTensor": [b]}


# TF32 has 11 bits and FP32's range, FP16 has 11 bits and a maximum of 65,504, BF16 has 8 bits. Each row contains an
# operator with inputs, and its results in the order of PRECISIONS.
CASES = {
    # 2049 needs 12 bits; a tie is rounded to the even 2048.
    "product": (gemm([2049], [3]), [6147, 6144, 6144, 6144, 6144, 6147]),
    # 2056 needs 9 bits, which only BF16 lacks. 6168 needs 10.
    "nine-bits": (gemm([2056], [3]), [6168, 6168, 6144, 6168, 6168, 6168]),
    # 70000 is 1093.75 times 64, and 136.7 times 512.
    "beyond-fp16": (gemm([70000], [1]), [70000, 70016, 70144, "inf", "inf", 70000]),
    # Terms need 11 bits: 2048 + 1 + 1 remains 2048 if sums have 11 bits. Multiples of 2 ^ 13 are exact in each format.
    "sum": (gemm([2048, 1, 1], [1, 1, 1]), [2050, 2050, 2050, 2050, 2048, 2050]),
    # 2^24 + 3 is a tie between 2^24 + 2 and 2^24 + 4, which is even. In FP16, the first term is already infinite.
    "tie": (reduce("SUM", [2.0 ** 24, 3]),
            [2.0 ** 24 + 4, 2.0 ** 24 + 4, 2.0 ** 24 + 4, "inf", "inf", 2.0 ** 24 + 2]),
    "negative-tie": (reduce("SUM", [-2.0 ** 24, -3]),
                     [-2.0 ** 24 - 4, -2.0 ** 24 - 4, -2.0 ** 24 - 4, "-inf", "-inf", -2.0 ** 24 - 2]),
    "convolution": (convolution([2049, 2056], [1, 1]), [4105, 4104, 4096, 4104, 4104, 4105]),
    "average": (reduce("AVERAGE", [2049, 2049]), [2049, 2048, 2048, 2048, 2048, 2049]),
    "pooling": (average_pooling([2049, 2056]), [2052.5, 2052, 2048, 2052, 2052, 2052.5]),
    "add": (element_wise("ADD", 2049, 1), [2050, 2049, 2049, 2049, 2048, 2050]),
    "multiply": (element_wise("MULTIPLY", 2049, 2049), [4198401, 4194304, 4194304, 4194304, "inf", 4198401]),
}


def case_file(precision):
    cases = []
    for name, ((operator, desc, inputs), expected) in CASES.items():
        value = expected[PRECISIONS.index(precision)]
        cases.append({"name": name, "operator": "DML_OPERATOR_" + operator, "desc": desc, "inputs": inputs,
                      "expected": {"OutputTensor": [value]}, "tolerance": {"*": {"exact": True}}})
    path = os.path.join(folder, precision + ".json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"cases": cases}, file)
    return path


def main():
    try:
        import numpy  # noqa: F401, only whether it is there
    except ImportError:
        print("NumPy is not installed")
        sys.exit(77)
    os.makedirs(folder, exist_ok=True)
    failed = 0
    for precision in PRECISIONS:
        command = f"exec:'{sys.executable}' -B '{worker}' --precision {precision}"
        run = subprocess.run([program, "run", case_file(precision), "--engine", command, "--strict", "--no-color"],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if run.returncode != 0 or f"{len(CASES)} pass" not in run.stdout:
            print(f"{precision}: exit code {run.returncode}\n{run.stdout}")
            failed += 1
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
