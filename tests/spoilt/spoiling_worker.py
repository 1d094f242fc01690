#!/usr/bin/env python3
"""A worker that answers with what the reference computes, but for one output, which it spoils in one way.

usage: spoiling_worker.py DMLCONFORM EXAMPLE_WORKER WAY FOLDER

WAY is a function of spoils.py. DMLCONFORM computes in a process of its own, which also says how far each element may
be off; workers of other ways find its answer in FOLDER. As the time of the execution, the worker answers with what became of the output: a number of FATES. Frames and
CBOR are those of docs/examples/worker.py.
"""
import hashlib
import importlib.util
import json
import os
import pickle
import struct
import subprocess
import sys
import zlib

import numpy

sys.dont_write_bytecode = True
specification = importlib.util.spec_from_file_location("worker", sys.argv[2])
worker = importlib.util.module_from_spec(specification)
specification.loader.exec_module(worker)

import spoils  # in the same folder

encode_without_floats = worker.encode
worker.encode = lambda value: (b"\xfb" + struct.pack(">d", value) if isinstance(value, float)
                               else encode_without_floats(value))

GRAPH_RUNS = 16  # the same as in engine/cpu/graph_reference.h
TYPES = {"FLOAT64": "f8", "FLOAT32": "f4", "FLOAT16": "f2", "UINT64": "u8", "UINT32": "u4", "UINT16": "u2",
         "UINT8": "u1", "INT64": "i8", "INT32": "i4", "INT16": "i2", "INT8": "i1"}
NIBBLES = {"UINT4": "u1", "INT4": "i1"}


class Reference:
    """Processes that compute references, one for all workers of a run: they find the latest answer in a folder."""

    def __init__(self, program, folder):
        self.program, self.folder, self.process, self.fields = program, folder, None, None

    def ask(self, message):
        if self.process is None:
            self.process = subprocess.Popen([self.program, "worker", "--engine", "cpu"], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE)
        message = worker.encode(message)
        self.process.stdin.write(struct.pack("<4sI", b"dmlw", len(message)) + message)
        self.process.stdin.flush()
        size = struct.unpack("<4sI", self.process.stdout.read(8))[1]
        return worker.decode(self.process.stdout.read(size))[0]

    def latest(self, name, question, compute):
        """What `compute` returns, unless it is the latest answer of that name, to the same question."""
        path, key = os.path.join(self.folder, name), hashlib.blake2b(question).digest()
        if os.path.exists(path):
            with open(path, "rb") as file:
                known, answer = pickle.load(file)
            if known == key:
                return answer
        answer = compute()
        with open(f"{path}.{os.getpid()}", "wb") as file:
            pickle.dump((key, answer), file)
        os.replace(file.name, path)
        return answer

    def compile(self, request):
        """What it says about the descriptor. Nothing stays compiled."""
        def compute():
            reply = self.ask({**request, "id": 1})
            if "accepted" in reply:
                self.ask({"request": "release", "id": 2, "executable": 1})
            return reply
        return self.latest("compiled", repr({**request, "id": 1}).encode(), compute)

    def compute(self, request, inputs):
        """Outputs and what is accepted for each of their elements."""
        def compute():
            for question in ({**request, "id": 1}, {"request": "bind", "id": 2, "executable": 1, "inputs": inputs},
                             {"request": "reference", "id": 3, "executable": 1, "halfPrecision": False,
                              "runs": GRAPH_RUNS if "graph" in request else 0}):
                answer = self.ask(question)
                if "error" in answer:
                    raise ValueError(answer["error"]["message"])
            self.ask({"request": "release", "id": 4, "executable": 1})
            return {"outputs": answer["outputs"], "slack": answer["slack"]}
        question = repr({**request, "id": 1}).encode() + b"".join(b"," + (data or b"") for data in inputs)
        return self.latest("computed", question, compute)

    def output_fields(self, operator):
        if self.fields is None:
            described = json.loads(subprocess.check_output([self.program, "describe", "*", "--json"]))
            self.fields = {one["name"]: [field["name"] for field in one["fields"] if field["kind"] == "output"]
                           for one in described}
        return self.fields[operator]

    def output_tensors(self, operation):
        """In the order of the struct's fields; None for an absent one."""
        tensors = []
        for field in self.output_fields(operation["operator"]):
            value = operation["desc"].get(field)
            tensors += value if isinstance(value, list) else [value]
        return tensors

    def graph_outputs(self, graph):
        written = {}
        for node in graph["nodes"]:
            written.update(zip(node["outputs"], self.output_tensors(node)))
        return [written.get(name) for name in graph["outputs"]]


class Elements:
    """An output's elements as an array, wherever its strides put them."""

    def __init__(self, tensor, data):
        self.tensor, self.data = tensor, bytearray(data)
        kind = tensor["DataType"]
        if kind in NIBBLES:
            low = numpy.frombuffer(self.data, "u1")
            pairs = numpy.stack([low & 15, low >> 4], -1).reshape(-1)
            if kind == "INT4":
                pairs = (pairs.astype("i1") ^ 8) - 8
            self.values = pairs[:int(numpy.prod(tensor["Sizes"]))].reshape(tensor["Sizes"])
        else:
            self.values = self.view(numpy.dtype(TYPES[kind])).copy()

    def view(self, kind):
        flat = numpy.frombuffer(self.data, kind, len(self.data) // kind.itemsize)
        strides = [stride * kind.itemsize for stride in worker.strides_of(self.tensor)]
        return numpy.lib.stride_tricks.as_strided(flat, self.tensor["Sizes"], strides)

    def with_values(self, values):
        if self.tensor["DataType"] in NIBBLES:
            nibbles = values.reshape(-1).view("u1") & 15
            nibbles = numpy.append(nibbles, numpy.zeros(2 * len(self.data) - len(nibbles), "u1"))
            return bytes(nibbles[0::2] | nibbles[1::2] << 4)
        self.view(values.dtype)[...] = values
        return bytes(self.data)


def can_be_spoilt(tensor):
    return (tensor is not None and 0 not in tensor["Sizes"] and
            not (tensor["DataType"] in NIBBLES and tensor.get("Strides")))


class Program:
    def __init__(self, request, tensors):
        self.request, self.tensors, self.inputs, self.outputs, self.fate = request, tensors, [], [], 0

    def execute(self, reference, way):
        answer = reference.compute(self.request, self.inputs)
        outputs, self.fate = answer["outputs"], spoils.FATES.index("nothing to spoil")
        choice = [i for i, tensor in enumerate(self.tensors) if can_be_spoilt(tensor) and outputs[i] is not None]
        if choice:
            seed = zlib.crc32(b"".join(self.with_one_nan(i, output) for i, output in enumerate(outputs)))
            i = choice[seed % len(choice)]
            elements = Elements(self.tensors[i], outputs[i])
            bounds = spoils.Bounds(answer["slack"][i], elements.values)
            bits = 4 if self.tensors[i]["DataType"] in NIBBLES else elements.values.itemsize * 8
            if way == "swapped_outputs":
                spoilt = self.swapped(outputs, i)
            else:
                spoilt = getattr(spoils, way)(elements.values, spoils.Luck(seed, bounds, bits))
            if spoilt is not None:
                self.fate = bounds.fate(spoilt)
                outputs[i] = elements.with_values(spoilt)
        self.outputs = [None if output is None else output + b"\xcd" * (-len(output) % 4 + worker.GUARD)
                        for output in outputs]


    def with_one_nan(self, i, output):
        """NaN has many bit patterns, and which of them comes out of a sum may change from run to run."""
        if not can_be_spoilt(self.tensors[i]) or not self.tensors[i]["DataType"].startswith("FLOAT"):
            return output or b""
        elements = Elements(self.tensors[i], output)
        is_nan = numpy.isnan(elements.values)
        return elements.with_values(numpy.where(is_nan, elements.values.dtype.type(numpy.nan), elements.values)) \
            if is_nan.any() else output

    def swapped(self, outputs, i):
        """The elements of another output like this one, which gets this one's."""
        for j, tensor in enumerate(self.tensors):
            if j != i and can_be_spoilt(tensor) and all(tensor.get(key) == self.tensors[i].get(key)
                                                        for key in ("DataType", "Sizes", "Strides")):
                others, outputs[j] = outputs[j], outputs[i]
                return Elements(tensor, others).values
        return None


def answer(request, programs, reference, way):
    kind, number = request["request"], request.get("executable")
    if kind == "info":
        return {"protocol": 1, "name": way.replace("_", "-"), "featureLevel": "6.4", "graphs": 1}
    if kind in ("compile", "compileGraph"):
        reply = reference.compile(request)
        if "accepted" in reply:
            programs[request["id"]] = Program(request, reference.graph_outputs(request["graph"]) if "graph" in request
                                              else reference.output_tensors(request))
        return reply
    if kind == "bind":
        programs[number].inputs = request["inputs"]
    elif kind == "execute":
        programs[number].execute(reference, way)
        return {"nanoseconds": programs[number].fate}
    elif kind == "read":
        return {"outputs": programs[number].outputs}
    elif kind == "release":
        del programs[number]
    return {}


def main():
    numpy.seterr(all="ignore")
    program, _, way, folder = sys.argv[1:]
    reference = Reference(program, folder)
    worker.answer = lambda request, programs: answer(request, programs, reference, way)
    worker.main()


if __name__ == "__main__":
    main()
