#!/usr/bin/env python3
"""Spoils an output of every case in every way (spoils.py), and says which spoilt outputs passed all the same, and why.

usage: survivors.py DMLCONFORM REPOSITORY [--shard I/N] [--way WAY]… (--write | --check)

--write writes survivors.json beside this script. With a shard, only some cases are run, and what survives is added to
the file, which says for each way which shards it has. --check fails for what survives without an explanation there. Exit code 77: NumPy is missing.
"""
import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
EXPLAINED = os.path.join(HERE, "survivors.json")
AT_A_TIME = 17  # the number of ways to spoil outputs that run at a time, each in a separate process

# Reasons for surviving that need no explanation. The others are "within the ranges" and "beyond the ranges of the
# reference".
PLAIN = ["only the sign of zeros", "only values that mean nothing", "reported as powerless"]
# Ways that stay within the ranges of many cases, because these allow for the errors of functions and long sums, or
# because one rounding to FLOAT16 has the same size. They are explained per operator, the other ways per case.
SMALL = ["rounded-to-fp16", "rounded-to-bf16", "rounded-to-tf32", "truncated", "scaled"]


def run(options, ways, folder):
    """Results of all cases, as the program writes them."""
    example = os.path.join(options.repository, "docs", "examples", "worker.py")
    worker = os.path.join(HERE, "spoiling_worker.py")
    command = [options.program, "run", os.path.join(options.repository, "cases"), "--quiet", "--jsonl", "-",
               "--max-memory", "256M"]
    if options.shard:
        command += ["--shard", options.shard]
    for way in ways:
        command += ["--engine", f"exec:'{sys.executable}' -B '{worker}' '{options.program}' '{example}' {way} '{folder}'"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        for line in process.stdout:
            yield json.loads(line)
    if process.returncode not in (0, 1):
        sys.exit(f"the run ended with exit code {process.returncode}")


def reason_of(result, fate):
    """Why a spoilt output passed."""
    if any("powerless" in output for output in result.get("outputs", [])):
        return "reported as powerless"
    return fate if fate != "beyond the ranges" else "beyond the ranges of the reference"


def add_result(result, fates, found):
    if result["status"] not in ("pass", "fail", "skip", "error"):
        found["broken"].append(f"{result['id']}: {result['status']}: {result.get('reason')}")
    if "executeNanoseconds" not in result.get("timing", {}) or not result["gated"]:
        return
    counts, fate = found["ways"][result["engine"].removeprefix("exec:")], fates[result["timing"]["executeNanoseconds"]]
    if fate == "nothing to spoil":
        return
    if result["status"] != "pass":
        counts["found"] += 1
    elif fate == "same values":
        counts["same values"] += 1
    else:
        operator = result["operator"].removeprefix("DML_OPERATOR_")
        operators = counts["survivors"].setdefault(reason_of(result, fate), {})
        operators.setdefault(operator, []).append(result["id"])


def is_listed_by_case(way, reason):
    return reason not in PLAIN and (way not in SMALL or reason != "within the ranges")


def unexplained(found, explained):
    for way, counts in found["ways"].items():
        known = explained["ways"].get(way, {"survivors": {}})["survivors"]
        for reason, operators in counts["survivors"].items():
            for operator, ids in operators.items():
                listed = known.get(reason, {}).get(operator)
                if not is_listed_by_case(way, reason):
                    ids = ids if listed is None and reason not in PLAIN else []
                for name in ids:
                    if listed is None or name not in listed:
                        yield f"{name}: passes although it is spoilt ({way}): {reason}"


def nothing():
    """What is known of a way before a run."""
    return {"shards": [], "cases": 0, "found": 0, "same values": 0, "survivors": {}}


def written(found, earlier):
    """What goes into the file: cases, or how many there are of an operator."""
    for way, counts in found["ways"].items():
        before = earlier["ways"].get(way, nothing())
        for key in ("shards", "cases", "found", "same values"):
            counts[key] = before[key] + counts[key]
        for reason in {**counts["survivors"], **before["survivors"]}:
            now, then = counts["survivors"].setdefault(reason, {}), before["survivors"].get(reason, {})
            for operator in {**now, **then}:
                ids = now.get(operator, [])
                if is_listed_by_case(way, reason):
                    now[operator] = sorted({*ids, *then.get(operator, [])})
                else:
                    now[operator] = len(ids) + then.get(operator, 0)
            counts["survivors"][reason] = dict(sorted(now.items()))
    return {"ways": {**earlier["ways"], **found["ways"]}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("repository")
    parser.add_argument("--shard", help="only this part of the cases, as of `dmlconform run`")
    parser.add_argument("--way", action="append", help="a function of spoils.py; default: all")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", action="store_true")
    what.add_argument("--check", action="store_true")
    options = parser.parse_args()
    try:
        from spoils import FATES, WAYS
    except ImportError as missing:
        print(missing)
        sys.exit(77)
    ways = options.way or WAYS
    found = {"ways": {way.replace("_", "-"): nothing() for way in ways}, "broken": []}
    cases = set()
    for start in range(0, len(ways), AT_A_TIME):
        with tempfile.TemporaryDirectory() as folder:
            for result in run(options, ways[start:start + AT_A_TIME], folder):
                cases.add(result["id"])
                add_result(result, FATES, found)
    for counts in found["ways"].values():
        counts.update({"shards": [options.shard or "1/1"], "cases": len(cases)})
    print(*found["broken"], sep="\n", end="\n" if found["broken"] else "")
    explained = {"ways": {}}
    if options.check or options.shard and os.path.exists(EXPLAINED):
        with open(EXPLAINED, encoding="utf-8") as file:
            explained = json.load(file)
    if options.write:
        with open(EXPLAINED, "w", encoding="utf-8") as file:
            json.dump(written(found, explained), file, indent=1)
            file.write("\n")
        return
    lines = list(unexplained(found, explained))
    print(*lines, sep="\n", end="\n" if lines else "")
    counts = collections.Counter()
    for way in found["ways"].values():
        counts.update({"found": way["found"], "same": way["same values"]})
    print(f"{len(cases)} cases: {counts['found']} spoilt outputs were found, {counts['same']} have the same values, "
          f"and {len(lines)} survived without an explanation")
    sys.exit(bool(lines or found["broken"]) or counts["found"] < 10 * len(cases))


if __name__ == "__main__":
    main()
