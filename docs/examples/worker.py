#!/usr/bin/env python3
"""A worker for dmlconform in Python that computes SLICE1: an example to start from. See docs/worker-protocol.md.

    dmlconform run cases/slice1 --engine 'exec:python3 docs/examples/worker.py'
"""
import struct
import sys

GUARD = 256  # bytes behind each output that must stay as they are
ELEMENT_BYTES = {"FLOAT64": 8, "FLOAT32": 4, "FLOAT16": 2, "UINT64": 8, "UINT32": 4, "UINT16": 2, "UINT8": 1,
                 "INT64": 8, "INT32": 4, "INT16": 2, "INT8": 1}


def encode(value):
    """CBOR of None, booleans, integers, bytes, texts, lists and dictionaries."""
    if value is None or isinstance(value, bool):
        return {False: b"\xf4", True: b"\xf5", None: b"\xf6"}[value]
    if isinstance(value, int):
        return head(0, value) if value >= 0 else head(1, -1 - value)
    if isinstance(value, (bytes, bytearray)):
        return head(2, len(value)) + value
    if isinstance(value, str):
        return head(3, len(value.encode())) + value.encode()
    if isinstance(value, list):
        return head(4, len(value)) + b"".join(map(encode, value))
    return head(5, len(value)) + b"".join(encode(key) + encode(item) for key, item in value.items())


def head(kind, number):
    if number < 24:
        return bytes([kind << 5 | number])
    size = next(i for i in range(4) if number < 1 << (8 << i))
    return bytes([kind << 5 | 24 + size]) + number.to_bytes(1 << size, "big")


def decode(data, at=0):
    """The value that begins at data[at], and where the next one begins."""
    kind, low = data[at] >> 5, data[at] & 31
    at += 1
    size = 0 if low < 24 else 1 << (low - 24)
    number, raw, at = (int.from_bytes(data[at:at + size], "big") if size else low), data[at:at + size], at + size
    if kind == 7:
        return ({20: False, 21: True, 22: None}[low] if low < 24 else
                struct.unpack(">" + {2: "e", 4: "f", 8: "d"}[size], raw)[0]), at
    if kind < 2:
        return (number if kind == 0 else -1 - number), at
    if kind < 4:
        chunk = data[at:at + number]
        return (chunk if kind == 2 else chunk.decode()), at + number
    items = []
    for _ in range(number * (kind - 3)):  # a map is a key and a value each
        item, at = decode(data, at)
        items.append(item)
    return (items if kind == 4 else dict(zip(items[::2], items[1::2]))), at


def strides_of(tensor):
    """In elements: the tensor's own, or those without gaps."""
    strides = [1]
    for size in reversed(tensor["Sizes"][1:]):
        strides.insert(0, strides[0] * size)
    return tensor.get("Strides") or strides


def slice1(desc, data, output):
    source, target = desc["InputTensor"], desc["OutputTensor"]
    width = ELEMENT_BYTES[target["DataType"]]
    places = [(0, 0)]  # for each element of the output: its offsets in the input and in the output, in elements
    for axis, size in enumerate(target["Sizes"]):
        step = desc["InputWindowStrides"][axis]
        first = desc["InputWindowOffsets"][axis] + (desc["InputWindowSizes"][axis] - 1 if step < 0 else 0)
        by_source, by_target = strides_of(source)[axis], strides_of(target)[axis]
        places = [(a + (first + i * step) * by_source, b + i * by_target) for a, b in places for i in range(size)]
    for start, end in places:
        output[end * width:(end + 1) * width] = data[start * width:(start + 1) * width]


def answer(request, programs):
    kind, number = request["request"], request.get("executable")
    if kind == "info":
        return {"protocol": 1, "name": "python", "adapter": "Python " + sys.version.split()[0], "featureLevel": "6.4"}
    if kind == "compile":
        if request["operator"] != "DML_OPERATOR_SLICE1":
            return {"unsupported": "this example computes SLICE1 only"}
        if 0 in request["desc"]["InputWindowStrides"]:  # one of the rules; a real engine knows them all
            return {"rejected": {"code": 0x80070057, "rule": "strides", "message": "a stride is 0"}}
        programs[request["id"]] = {"desc": request["desc"]}
        return {"accepted": True}
    if kind == "bind":
        programs[number]["input"] = request["inputs"][0]
        size = (programs[number]["desc"]["OutputTensor"]["TotalTensorSizeInBytes"] + 3) // 4 * 4
        programs[number]["output"] = bytearray(b"\xcd" * (size + GUARD))
    elif kind == "execute":
        slice1(programs[number]["desc"], programs[number]["input"], programs[number]["output"])
    elif kind == "read":
        return {"outputs": [bytes(programs[number]["output"])]}
    elif kind == "release":
        del programs[number]
    else:
        return {"error": {"message": "there is no request " + kind}}
    return {}


def main():
    programs = {}
    while header := sys.stdin.buffer.read(8):
        magic, size = struct.unpack("<4sI", header)
        assert magic == b"dmlw", header
        request, _ = decode(sys.stdin.buffer.read(size))
        try:
            reply = answer(request, programs)
        except Exception as problem:  # whatever goes wrong costs the case at hand
            reply = {"error": {"message": repr(problem)}}
        message = encode({**reply, "id": request["id"]})
        sys.stdout.buffer.write(struct.pack("<4sI", b"dmlw", len(message)) + message)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
