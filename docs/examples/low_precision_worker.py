#!/usr/bin/env python3
"""A worker that computes in less precision than its tensors have, to see what dmlconform says about it.

    dmlconform run cases/precision --engine 'exec:python3 docs/examples/low_precision_worker.py --precision tf32'

It computes GEMM, CONVOLUTION (forward), REDUCE (SUM, AVERAGE), AVERAGE_POOLING, AVERAGE_POOLING1, ELEMENT_WISE_ADD and
ELEMENT_WISE_MULTIPLY of FLOAT32 and FLOAT16 tensors. It trusts descriptors: give it no cases that have to be rejected.
It needs NumPy (Debian: python3-numpy). Frames and CBOR are those of worker.py beside it.
"""
import argparse
import itertools
import sys

import numpy

import worker

PRECISIONS = {
    "fp32": "everything in FP32, sums from the first term to the last",
    "tf32": "factors and terms rounded to TF32 (11 bits), sums in FP32: what tensor cores do by default",
    "bf16": "factors and terms rounded to BF16 (8 bits), sums in FP32",
    "fp16": "factors and terms rounded to FP16 (11 bits), sums in FP32",
    "fp16-accumulation": "factors, products and sums rounded to FP16",
    "toward-zero": "FP32, but the result of every addition rounded towards zero",
}
TYPES = {"FLOAT32": numpy.float32, "FLOAT16": numpy.float16}


def without_low_bits(x, bits):
    """FP32 numbers rounded to nearest, ties to even, so that the lowest `bits` bits are 0."""
    raw = x.view(numpy.uint32)
    half = numpy.uint32((1 << (bits - 1)) - 1)
    rounded = (raw + half + ((raw >> numpy.uint32(bits)) & numpy.uint32(1))) >> numpy.uint32(bits)
    return numpy.where(numpy.isfinite(x), (rounded << numpy.uint32(bits)).view(numpy.float32), x)


class Arithmetic:
    """Numbers are FP32, or FP16 if sums are."""

    def __init__(self, precision):
        self.precision = precision
        self.type = numpy.float16 if precision == "fp16-accumulation" else numpy.float32

    def operand(self, x):
        x = numpy.ascontiguousarray(x, numpy.float32)
        if self.precision == "tf32":
            return without_low_bits(x, 13)
        if self.precision == "bf16":
            return without_low_bits(x, 16)
        if self.precision == "fp16":
            x = x.astype(numpy.float16)
        return x.astype(self.type)

    def multiply(self, a, b):
        return numpy.multiply(a, b, dtype=self.type)

    def add(self, a, b):
        total = numpy.add(a, b, dtype=self.type)
        if self.precision != "toward-zero":
            return total
        # What the rounded sum lacks, exactly (Knuth's TwoSum).
        rest = total - a
        lacking = (a - (total - rest)) + (b - rest)
        too_large = numpy.isfinite(total) & (lacking * total < 0)
        return numpy.where(too_large, numpy.nextafter(total, self.type(0)), total)

    def divide(self, a, b):
        return numpy.divide(a, self.type(b) if numpy.isscalar(b) else b.astype(self.type), dtype=self.type)


def gemm(desc, inputs, arithmetic):
    a, b, c = inputs
    a = a.swapaxes(-1, -2) if desc["TransA"] == "TRANSPOSE" else a
    b = b.swapaxes(-1, -2) if desc["TransB"] == "TRANSPOSE" else b
    a, b = arithmetic.operand(a), arithmetic.operand(b)
    total = numpy.zeros(desc["OutputTensor"]["Sizes"], arithmetic.type)
    for k in range(a.shape[-1]):
        total = arithmetic.add(total, arithmetic.multiply(a[..., :, k, None], b[..., None, k, :]))
    if desc["Alpha"] != 1:
        total = arithmetic.multiply(total, arithmetic.type(desc["Alpha"]))
    if c is None or desc["Beta"] == 0:
        return total
    return arithmetic.add(total, arithmetic.multiply(arithmetic.operand(c), arithmetic.type(desc["Beta"])))


def with_padding(x, desc, dimensions):
    pads = [(0, 0)] * (x.ndim - dimensions) + list(zip(desc["StartPadding"], desc["EndPadding"]))
    return numpy.pad(x, pads)


def windows(desc, sizes, dilations, output_sizes):
    """For each element of a window its coordinates, and the slices that select it in all windows of a padded tensor."""
    for element in itertools.product(*map(range, sizes)):
        yield element, tuple(slice(at * dilation, at * dilation + (count - 1) * stride + 1, stride)
                             for at, dilation, count, stride
                             in zip(element, dilations, output_sizes, desc["Strides"]))


def convolution(desc, inputs, arithmetic):
    x, kernel, bias = inputs
    dimensions, groups = desc["DimensionCount"], desc["GroupCount"]
    if desc["Mode"] == "CONVOLUTION":
        kernel = numpy.flip(kernel, tuple(range(2, kernel.ndim)))
    if x.ndim > dimensions + 2:  # leading ones
        x, kernel = x.reshape(x.shape[-dimensions - 2:]), kernel.reshape(kernel.shape[-dimensions - 2:])
    x = arithmetic.operand(with_padding(x, desc, dimensions))
    x = x.reshape(x.shape[0], groups, -1, 1, *x.shape[2:])
    kernel = arithmetic.operand(kernel)
    kernel = kernel.reshape(groups, -1, *kernel.shape[1:], *[1] * dimensions)
    output_sizes = desc["OutputTensor"]["Sizes"][-dimensions:]
    total = numpy.zeros((x.shape[0], groups, kernel.shape[1], *output_sizes), arithmetic.type)
    for channel in range(x.shape[2]):
        for element, slices in windows(desc, kernel.shape[3:3 + dimensions], desc["Dilations"], output_sizes):
            product = arithmetic.multiply(x[(slice(None), slice(None), channel, slice(None), *slices)],
                                          kernel[(slice(None), slice(None), channel, *element)])
            total = arithmetic.add(total, product)
    total = total.reshape(desc["OutputTensor"]["Sizes"])
    if bias is None:
        return total
    return arithmetic.add(total, arithmetic.operand(bias).reshape(-1, *[1] * dimensions))


def reduce(desc, inputs, arithmetic):
    axes = sorted(set(desc["Axes"]))
    x = numpy.moveaxis(inputs[0], axes, range(len(axes)))
    x = arithmetic.operand(x.reshape(-1, *x.shape[len(axes):]))
    total = x[0]
    for term in x[1:]:
        total = arithmetic.add(total, term)
    if desc["Function"] == "AVERAGE":
        total = arithmetic.divide(total, float(len(x)))
    return total.reshape(desc["OutputTensor"]["Sizes"])


def average_pooling(desc, inputs, arithmetic):
    dimensions = desc["DimensionCount"]
    output_sizes = desc["OutputTensor"]["Sizes"]
    x = arithmetic.operand(with_padding(inputs[0], desc, dimensions))
    inside = with_padding(numpy.ones(inputs[0].shape), desc, dimensions)
    total, count = numpy.zeros(output_sizes, arithmetic.type), numpy.zeros(output_sizes)
    for _, slices in windows(desc, desc["WindowSize"], desc.get("Dilations", [1] * dimensions),
                             output_sizes[-dimensions:]):
        total = arithmetic.add(total, x[(..., *slices)])
        count += 1 if desc["IncludePadding"] == "TRUE" else inside[(..., *slices)]
    return arithmetic.divide(total, count)


def element_wise(function):
    return lambda _, inputs, arithmetic: getattr(arithmetic, function)(*map(arithmetic.operand, inputs))


ONE = ["InputTensor"]
TWO = ["ATensor", "BTensor"]
OPERATORS = {  # with its inputs, in the order of the struct's fields
    "GEMM": (gemm, ["ATensor", "BTensor", "CTensor"]),
    "CONVOLUTION": (convolution, ["InputTensor", "FilterTensor", "BiasTensor"]),
    "REDUCE": (reduce, ONE),
    "AVERAGE_POOLING": (average_pooling, ONE),
    "AVERAGE_POOLING1": (average_pooling, ONE),
    "ELEMENT_WISE_ADD": (element_wise("add"), TWO),
    "ELEMENT_WISE_MULTIPLY": (element_wise("multiply"), TWO),
}


def unsupported(name, desc):
    """Why there is no way to compute it here, or None."""
    if name not in OPERATORS:
        return "this example computes " + ", ".join(OPERATORS) + " only"
    if desc["OutputTensor"]["DataType"] not in TYPES:
        return "this example computes FLOAT32 and FLOAT16 only"
    if desc.get("FusedActivation"):
        return "this example has no activations"
    if desc.get("Direction", "FORWARD") != "FORWARD":
        return "this example convolves forward only"
    if any(desc.get("OutputPadding", [])):
        return "this example has no output padding"
    if name == "REDUCE" and desc["Function"] not in ("SUM", "AVERAGE"):
        return "this example reduces by SUM and AVERAGE only"
    return None


def view(buffer, tensor):
    """The tensor's elements, in its sizes, wherever its strides put them in the buffer."""
    numbers = numpy.frombuffer(buffer, TYPES[tensor["DataType"]], tensor["TotalTensorSizeInBytes"]
                               // worker.ELEMENT_BYTES[tensor["DataType"]])
    strides = [stride * numbers.itemsize for stride in worker.strides_of(tensor)]
    return numpy.lib.stride_tricks.as_strided(numbers, tensor["Sizes"], strides)


class Program:
    def __init__(self, name, desc):
        self.compute, fields = OPERATORS[name]
        self.desc, self.tensors, self.inputs, self.output = desc, [desc[field] for field in fields], [], bytearray()

    def bind(self, inputs):
        self.inputs = inputs
        size = (self.desc["OutputTensor"]["TotalTensorSizeInBytes"] + 3) // 4 * 4
        self.output = bytearray(b"\xcd" * (size + worker.GUARD))

    def execute(self, arithmetic):
        inputs = [None if data is None else view(data, tensor) for data, tensor in zip(self.inputs, self.tensors)]
        view(self.output, self.desc["OutputTensor"])[...] = self.compute(self.desc, inputs, arithmetic)


def answer(request, programs, arithmetic):
    kind, number = request["request"], request.get("executable")
    if kind == "info":
        return {"protocol": 1, "name": arithmetic.precision, "adapter": "NumPy " + numpy.__version__,
                "featureLevel": "6.4"}
    if kind == "compile":
        name = request["operator"].removeprefix("DML_OPERATOR_")
        reason = unsupported(name, request["desc"])
        if reason:
            return {"unsupported": reason}
        programs[request["id"]] = Program(name, request["desc"])
        return {"accepted": True}
    if kind == "bind":
        programs[number].bind(request["inputs"])
    elif kind == "execute":
        programs[number].execute(arithmetic)
    elif kind == "read":
        return {"outputs": [bytes(programs[number].output)]}
    elif kind == "release":
        del programs[number]
    else:
        return {"error": {"message": "there is no request " + kind}}
    return {}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="precisions:\n" + "\n".join(f"  {name:18} {what}" for name, what in PRECISIONS.items()))
    parser.add_argument("--precision", choices=PRECISIONS, default="fp32", help="default: fp32")
    arithmetic = Arithmetic(parser.parse_args().precision)
    numpy.seterr(all="ignore")  # infinities and NaN are results like others
    worker.answer = lambda request, programs: answer(request, programs, arithmetic)
    worker.main()


if __name__ == "__main__":
    main()
