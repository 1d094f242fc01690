#!/usr/bin/env python3
"""A second program for graphs: every family as the producer of a value, and every family as its reader.

Prints cases/graphs/pairs.json. All numbers are small integers or halves, so that every result is exact, and each
operator is evaluated by a few lines of Python that know nothing of the reference. The value in between has the sizes
[1, 2, 2, 3], whoever produces it.

    python3 tests/second_program/graph_pairs.py > cases/graphs/pairs.json
    python3 tests/second_program/graph_pairs.py --check cases/graphs/pairs.json
"""

import itertools
import json
import math
import sys

MIDDLE = [1, 2, 2, 3]


class Tensor:
    def __init__(self, sizes, values):
        assert len(values) == math.prod(sizes), (sizes, len(values))
        self.sizes = list(sizes)
        self.values = list(values)

    def __getitem__(self, at):
        offset = 0
        for index, size in zip(at, self.sizes):
            assert 0 <= index < size
            offset = offset * size + index
        return self.values[offset]


def coordinates(sizes):
    return itertools.product(*(range(size) for size in sizes))


def build(sizes, element):
    """A tensor whose element at each position is `element(position)`."""
    return Tensor(sizes, [element(at) for at in coordinates(sizes)])


def desc(sizes, data_type="FLOAT32"):
    return {"DataType": data_type, "Sizes": list(sizes)}


def changed(at, axis, index):
    return (*at[:axis], index, *at[axis + 1:])


def sample(sizes, factor, offset=0, modulus=11):
    """Integers around 0 without an obvious pattern."""
    count = math.prod(sizes)
    return Tensor(sizes, [(i * factor + offset) % modulus - modulus // 2 for i in range(count)])


# ---- the operators, evaluated ------------------------------------------------------------------------------------


def elementwise(function, *tensors):
    return Tensor(tensors[0].sizes, [function(*values) for values in zip(*(t.values for t in tensors))])


def convolution(x, w):
    """Cross-correlation with strides of 1 and no padding."""
    n, _, height, width = x.sizes
    out, channels, rows, columns = w.sizes
    return build([n, out, height - rows + 1, width - columns + 1], lambda at: sum(
        x[at[0], c, at[2] + r, at[3] + s] * w[at[1], c, r, s]
        for c in range(channels) for r in range(rows) for s in range(columns)))


def gemm(a, b):
    return build([*a.sizes[:3], b.sizes[3]], lambda at: sum(
        a[at[0], at[1], at[2], k] * b[at[0], at[1], k, at[3]] for k in range(a.sizes[3])))


def reduced(x, axis, function):
    sizes = list(x.sizes)
    sizes[axis] = 1
    return build(sizes, lambda at: function([x[changed(at, axis, i)] for i in range(x.sizes[axis])]))


def pooled(x, window, function):
    """Windows that do not overlap, over the two last dimensions."""
    sizes = [*x.sizes[:2], x.sizes[2] // window[0], x.sizes[3] // window[1]]
    return build(sizes, lambda at: function([
        x[at[0], at[1], at[2] * window[0] + r, at[3] * window[1] + s]
        for r in range(window[0]) for s in range(window[1])]))


def joined(tensors, axis):
    sizes = list(tensors[0].sizes)
    sizes[axis] = sum(t.sizes[axis] for t in tensors)

    def element(at):
        index = at[axis]
        for tensor in tensors:
            if index < tensor.sizes[axis]:
                return tensor[changed(at, axis, index)]
            index -= tensor.sizes[axis]
        raise AssertionError

    return build(sizes, element)


def sliced(x, offsets, sizes, strides):
    """A negative stride starts at the window's last element."""
    counts = [(size - 1) // abs(stride) + 1 for size, stride in zip(sizes, strides)]
    return build(counts, lambda at: x[tuple(
        offset + (size - 1 + i * stride if stride < 0 else i * stride)
        for offset, size, stride, i in zip(offsets, sizes, strides, at))])


def padded(x, start, end, value):
    sizes = [s + n + e for s, n, e in zip(start, x.sizes, end)]

    def element(at):
        inner = tuple(i - s for i, s in zip(at, start))
        return x[inner] if all(0 <= i < n for i, n in zip(inner, x.sizes)) else value

    return build(sizes, element)


def tiled(x, repeats):
    return build([n * r for n, r in zip(x.sizes, repeats)],
                 lambda at: x[tuple(i % n for i, n in zip(at, x.sizes))])


def top(x, axis, k):
    """The largest elements along an axis, in descending order; of equal ones the first."""
    sizes = list(x.sizes)
    sizes[axis] = k
    order = {}
    for at in coordinates(changed(x.sizes, axis, 1)):
        order[at] = sorted(range(x.sizes[axis]), key=lambda i: (-x[changed(at, axis, i)], i))
    pick = lambda at: order[changed(at, axis, 0)][at[axis]]
    return build(sizes, lambda at: x[changed(at, axis, pick(at))]), build(sizes, pick)


def enlarged(x, factors):
    return build([n * f for n, f in zip(x.sizes, factors)],
                 lambda at: x[tuple(i // f for i, f in zip(at, factors))])


def depth_to_space(x, block):
    """DEPTH_COLUMN_ROW."""
    n, channels, height, width = x.sizes
    depth = channels // block**2
    return build([n, depth, height * block, width * block], lambda at: x[
        at[0], (at[2] % block * block + at[3] % block) * depth + at[1], at[2] // block, at[3] // block])


def space_to_depth(x, block):
    """DEPTH_COLUMN_ROW."""
    n, channels, height, width = x.sizes
    return build([n, channels * block**2, height // block, width // block], lambda at: x[
        at[0], at[1] % channels,
        at[2] * block + at[1] // channels // block, at[3] * block + at[1] // channels % block])


def running_sum(x, axis):
    return build(x.sizes, lambda at: sum(x[changed(at, axis, i)] for i in range(at[axis] + 1)))


def running_product(x, axis):
    return build(x.sizes, lambda at: math.prod(x[changed(at, axis, i)] for i in range(at[axis] + 1)))


def gathered(x, indices, axis):
    sizes = list(x.sizes)
    sizes[axis] = len(indices)
    return build(sizes, lambda at: x[changed(at, axis, indices[at[axis]])])


def scattered(x, indices, updates, axis):
    values = {at: x[at] for at in coordinates(x.sizes)}
    for at in coordinates(indices.sizes):
        values[changed(at, axis, indices[at])] = updates[at]
    return build(x.sizes, lambda at: values[at])


def reversed_front(x, lengths, axis):
    """Reverses the first elements along an axis, as many as `lengths` says for each slice."""
    def element(at):
        length = lengths[changed(at, axis, 0)]
        return x[changed(at, axis, length - 1 - at[axis])] if at[axis] < length else x[at]

    return build(x.sizes, element)


def hardmax(x, axis):
    """1 at the first of the largest elements along an axis, and 0 elsewhere."""
    def element(at):
        row = [x[changed(at, axis, i)] for i in range(x.sizes[axis])]
        return int(row.index(max(row)) == at[axis])

    return build(x.sizes, element)


def round_half_even(x):
    return round(x)  # Python's own rule


def clamp(x, low, high):
    return min(max(x, low), high)


# ---- producers and readers ---------------------------------------------------------------------------------------


class Node:
    """An operator with its data. `inputs` and `outputs` map tensor fields to (value name, tensor, type)."""

    def __init__(self, operator, inputs, outputs, **attributes):
        self.operator = operator
        self.inputs = inputs
        self.outputs = outputs
        self.attributes = attributes

    def json(self, name):
        def by_field(ends):
            return {field: value for field, (value, _, _) in ends.items()}

        fields = {}
        for field, (_, tensor, data_type) in [*self.inputs.items(), *self.outputs.items()]:
            if field.endswith("]"):
                fields.setdefault(field[:field.index("[")], []).append(desc(tensor.sizes, data_type))
            else:
                fields[field] = desc(tensor.sizes, data_type)
        return {"name": name, "operator": self.operator, "desc": {**fields, **self.attributes},
                "inputs": by_field(self.inputs), "outputs": by_field(self.outputs)}

    def data(self):
        return {value: tensor.values for value, tensor, _ in self.inputs.values() if value != "t"}


FLOAT = "FLOAT32"


def ins(**tensors):
    return {field: value if len(value) == 3 else (*value, FLOAT) for field, value in tensors.items()}


def out(tensor, name, data_type=FLOAT, field="OutputTensor"):
    return {field: (name, tensor, data_type)}


WINDOW = {"Strides": None, "WindowSize": None, "StartPadding": [0, 0], "EndPadding": [0, 0]}


def window(size):
    return {**WINDOW, "Strides": size, "WindowSize": size}


PLAIN_CONVOLUTION = {"Mode": "CROSS_CORRELATION", "Direction": "FORWARD", "Strides": [1, 1], "Dilations": [1, 1],
                     "StartPadding": [0, 0], "EndPadding": [0, 0], "OutputPadding": [0, 0], "GroupCount": 1}


def batch_normalised(x, name, result):
    """(x - mean) / sqrt(variance) * scale + bias, with variances of 4 and 1/4."""
    mean, variance, scale, bias = ([1, -2], [4, 0.25], [2, 0.5], [-1, 3])
    per_channel = lambda values: Tensor([1, 2, 1, 1], values)
    y = build(x.sizes, lambda at: (x[at] - mean[at[1]]) / math.sqrt(variance[at[1]]) * scale[at[1]] + bias[at[1]])
    return Node("BATCH_NORMALIZATION", ins(
        InputTensor=(name, x), MeanTensor=(f"{result}-mean", per_channel(mean)),
        VarianceTensor=(f"{result}-variance", per_channel(variance)),
        ScaleTensor=(f"{result}-scale", per_channel(scale)), BiasTensor=(f"{result}-bias", per_channel(bias))),
                out(y, result), Spatial=True, Epsilon=0)


def recurrent(x, hidden, name, result):
    """h = max(W x + R h, 0), step by step, from h = 0."""
    _, steps, batch, size = x.sizes
    w = sample([1, 1, hidden, size], 2, 1, 3)
    r = sample([1, 1, hidden, hidden], 2, 2, 3)
    values = {}
    for step, b, h in coordinates([steps, batch, hidden]):
        total = sum(w[0, 0, h, i] * x[0, step, b, i] for i in range(size))
        if step != 0:
            total += sum(r[0, 0, h, k] * values[step - 1, b, k] for k in range(hidden))
        values[step, b, h] = max(total, 0)
    y = build([steps, 1, batch, hidden], lambda at: values[at[0], at[2], at[3]])
    return Node("RNN", ins(InputTensor=(name, x), WeightTensor=(f"{result}-weights", w),
                            RecurrenceTensor=(f"{result}-recurrence", r)),
                out(y, result, FLOAT, "OutputSequenceTensor"), ActivationDescs=[{"Type": "ACTIVATION_RELU"}],
                Direction="FORWARD")


def attention(value, query, name, result):
    """With keys of 0 all weights are equal, so that each result is the mean of the rows."""
    batch, rows, size = value.sizes
    key = Tensor([batch, rows, size], [0] * (batch * rows * size))
    y = build([batch, query.sizes[1], size], lambda at: sum(value[at[0], i, at[2]] for i in range(rows)) / rows)
    return Node("MULTIHEAD_ATTENTION", ins(
        QueryTensor=(f"{result}-query", query), KeyTensor=(f"{result}-key", key), ValueTensor=(name, value)),
                out(y, result), Scale=1, MaskFilterValue=-10000, HeadCount=1, MaskType="NONE")


def producers():
    a = sample(MIDDLE, 5)
    b = sample(MIDDLE, 7, 3)
    yield "add", Node("ELEMENT_WISE_ADD", ins(ATensor=("a", a), BTensor=("b", b)),
                      out(elementwise(lambda p, q: p + q, a, b), "t"))
    yield "relu", Node("ACTIVATION_RELU", ins(InputTensor=("a", a)), out(elementwise(lambda p: max(p, 0), a), "t"))
    x, w = sample([1, 2, 3, 4], 5), sample([2, 2, 2, 2], 3, 1, 5)
    yield "convolution", Node("CONVOLUTION", ins(InputTensor=("x", x), FilterTensor=("w", w)),
                              out(convolution(x, w), "t"), **PLAIN_CONVOLUTION)
    x, w = sample([1, 2, 2, 4], 5), sample([1, 2, 4, 3], 3, 1, 5)
    yield "gemm", Node("GEMM", ins(ATensor=("x", x), BTensor=("w", w)), out(gemm(x, w), "t"),
                       TransA="NONE", TransB="NONE", Alpha=1, Beta=0)
    x = sample([4, 2, 2, 3], 5)
    yield "reduce", Node("REDUCE", ins(InputTensor=("x", x)), out(reduced(x, 0, sum), "t"), Function="SUM", Axes=[0])
    x = sample([1, 2, 4, 6], 7)
    yield "max-pooling", Node("MAX_POOLING2", ins(InputTensor=("x", x)), out(pooled(x, (2, 2), max), "t"),
                              **window([2, 2]), Dilations=[1, 1])
    yield "average-pooling", Node("AVERAGE_POOLING", ins(InputTensor=("x", elementwise(lambda p: 4 * p, x))),
                                  out(pooled(x, (2, 2), sum), "t"), **window([2, 2]), IncludePadding=False)
    x, y = sample([1, 1, 2, 3], 5), sample([1, 1, 2, 3], 7, 1)
    yield "join", Node("JOIN", ins(**{"InputTensors[0]": ("x", x), "InputTensors[1]": ("z", y)}),
                       out(joined([x, y], 1), "t"), Axis=1)
    x = sample([1, 2, 2, 5], 7)
    yield "split", Node("SPLIT", ins(InputTensor=("x", x)), {
        **out(sliced(x, (0, 0, 0, 0), MIDDLE, (1, 1, 1, 1)), "t", FLOAT, "OutputTensors[0]"),
        **out(sliced(x, (0, 0, 0, 3), (1, 2, 2, 2), (1, 1, 1, 1)), "rest", FLOAT, "OutputTensors[1]")}, Axis=3)
    x = sample([2, 3, 4, 5], 7)
    window_of = {"InputWindowOffsets": [1, 1, 0, 0], "InputWindowSizes": [1, 2, 4, 5],
                 "InputWindowStrides": [1, -1, 3, 2]}
    yield "slice", Node("SLICE1", ins(InputTensor=("x", x)), out(sliced(
        x, window_of["InputWindowOffsets"], window_of["InputWindowSizes"], window_of["InputWindowStrides"]), "t"),
                        **window_of)
    x = sample([1, 2, 1, 2], 7)
    yield "padding", Node("PADDING1", ins(InputTensor=("x", x)), out(padded(x, (0, 0, 1, 0), (0, 0, 0, 1), 9), "t"),
                          PaddingMode="CONSTANT", PaddingValueDataType=FLOAT, PaddingValue=9,
                          StartPadding=[0, 0, 1, 0], EndPadding=[0, 0, 0, 1])
    x = sample([1, 1, 2, 1], 5, 2)
    yield "tile", Node("TILE", ins(InputTensor=("x", x)), out(tiled(x, (1, 2, 1, 3)), "t"), Repeats=[1, 2, 1, 3])
    x = sample([1, 2, 2, 5], 7)
    indices = [4, 0, 4]
    yield "gather", Node("GATHER", {**ins(InputTensor=("x", x)),
                                    "IndicesTensor": ("i", Tensor([1, 1, 1, 3], indices), "UINT32")},
                         out(gathered(x, indices, 3), "t"), Axis=3, IndexDimensions=1)
    x = Tensor([1, 2, 2, 5], [(i * 7) % 20 - 9 for i in range(20)])
    values, positions = top(x, 3, 3)
    yield "top-k", Node("TOP_K1", ins(InputTensor=("x", x)), {
        **out(values, "t", FLOAT, "OutputValueTensor"), **out(positions, "rest", "UINT32", "OutputIndexTensor")},
                        Axis=3, K=3, AxisDirection="DECREASING")
    x = sample([1, 2, 1, 3], 5)
    yield "upsample", Node("UPSAMPLE_2D", ins(InputTensor=("x", x)), out(enlarged(x, (1, 1, 2, 1)), "t"),
                           ScaleSize={"Width": 1, "Height": 2}, InterpolationMode="NEAREST_NEIGHBOR")
    x = sample([1, 2, 2, 3], 5)
    yield "running-sum", Node("CUMULATIVE_SUMMATION", ins(InputTensor=("x", x)), out(running_sum(x, 3), "t"),
                              Axis=3, AxisDirection="INCREASING", HasExclusiveSum=False)
    yield "cast", Node("CAST", {"InputTensor": ("x", x, "INT32")}, out(x, "t"))
    scale, zero = Tensor(MIDDLE, [0.5] * 12), Tensor(MIDDLE, [3] * 12)
    yield "dequantise", Node("ELEMENT_WISE_DEQUANTIZE_LINEAR", {
        "InputTensor": ("x", x, "INT8"), "ScaleTensor": ("s", scale, FLOAT), "ZeroPointTensor": ("z", zero, "INT8")},
                             out(elementwise(lambda p: (p - 3) * 0.5, x), "t"))
    where, updates = Tensor([1, 2, 2, 1], [2, 0, 1, 2]), sample([1, 2, 2, 1], 3, 20, 31)
    yield "scatter", Node("SCATTER", {**ins(InputTensor=("x", x), UpdatesTensor=("u", updates)),
                                      "IndicesTensor": ("i", where, "UINT32")},
                          out(scattered(x, where, updates, 3), "t"), Axis=3)
    lengths = Tensor([1, 2, 2, 1], [2, 3, 1, 0])
    yield "reverse", Node("REVERSE_SUBSEQUENCES", {**ins(InputTensor=("x", x)),
                                                   "SequenceLengthsTensor": ("l", lengths, "UINT32")},
                          out(reversed_front(x, lengths, 3), "t"), Axis=3)
    condition = Tensor(MIDDLE, [i % 3 == 0 for i in range(12)])
    yield "if", Node("ELEMENT_WISE_IF", {
        "ConditionTensor": ("c", Tensor(MIDDLE, [int(c) for c in condition.values]), "UINT8"),
        **ins(ATensor=("a", a), BTensor=("b", b))},
                     out(elementwise(lambda c, p, q: p if c else q, condition, a, b), "t"))
    indices = Tensor([1, 2, 2, 1], [2, 0, 1, 2])
    yield "one-hot", Node("ONE_HOT", {"IndicesTensor": ("i", indices, "UINT32"),
                                      "ValuesTensor": ("v", Tensor([1, 1, 1, 2], [-3, 7]), FLOAT)},
                          out(build(MIDDLE, lambda at: 7 if indices[changed(at, 3, 0)] == at[3] else -3), "t"), Axis=3)
    x = sample([1, 12, 1, 1], 5)
    yield "depth-to-space", Node("DEPTH_TO_SPACE1", ins(InputTensor=("x", x)), out(depth_to_space(x, 2), "t"),
                                 BlockSize=2, Order="DEPTH_COLUMN_ROW")
    x = sample([1, 3, 2, 2], 5)
    yield "space-to-depth", Node("SPACE_TO_DEPTH1", ins(InputTensor=("x", x)), out(space_to_depth(x, 2), "t"),
                                 BlockSize=2, Order="DEPTH_COLUMN_ROW")
    yield "batch-normalisation", batch_normalised(sample(MIDDLE, 5), "x", "t")
    yield "hardmax", Node("ACTIVATION_HARDMAX1", ins(InputTensor=("a", a)), out(hardmax(a, 3), "t"), Axes=[3])
    yield "recurrent", recurrent(sample([1, 4, 1, 2], 5, 0, 5), 3, "x", "t")
    value = sample([2, 2, 3], 5)
    yield "attention", attention(value, Tensor([2, 2, 3], [0] * 12), "v", "t")
    x = sample([1, 2, 4, 6], 7)
    yield "region-pooling", Node("ROI_POOLING", ins(InputTensor=("x", x), ROITensor=("r", Tensor(
        [1, 1, 1, 5], [0, 0, 0, 5, 3]))), out(pooled(x, (2, 2), max), "t"), SpatialScale=1,
                                 PooledSize={"Width": 3, "Height": 2})
    x, w = sample([1, 2, 2, 4], 5), sample([1, 2, 4, 3], 3, 1, 5)
    product = gemm(elementwise(lambda p: p - 1, x), elementwise(lambda p: p + 2, w))
    yield "integer-product", Node("MATRIX_MULTIPLY_INTEGER_TO_FLOAT", {
        "ATensor": ("x", x, "INT8"), "AScaleTensor": ("s", Tensor([1, 1, 1, 1], [0.5]), FLOAT),
        "AZeroPointTensor": ("z", Tensor([1, 1, 1, 1], [1]), "INT8"), "BTensor": ("w", w, "INT8"),
        "BScaleTensor": ("s2", Tensor([1, 1, 1, 1], [2]), FLOAT),
        "BZeroPointTensor": ("z2", Tensor([1, 1, 1, 1], [-2]), "INT8")}, out(product, "t"))


def readers(t):
    """Nodes that read t, whose sizes are MIDDLE."""
    def of_t(**tensors):
        return ins(InputTensor=("t", t), **tensors)

    b = sample(MIDDLE, 3, 4, 7)
    yield "add", Node("ELEMENT_WISE_ADD", ins(ATensor=("t", t), BTensor=("e", b)),
                      out(elementwise(lambda p, q: p + q, t, b), "y"))
    yield "negate", Node("ELEMENT_WISE_NEGATE", of_t(), out(elementwise(lambda p: -p, t), "y"))
    yield "clip", Node("ELEMENT_WISE_CLIP", of_t(), out(elementwise(lambda p: clamp(p, -2, 3), t), "y"), Min=-2, Max=3)
    yield "relu", Node("ACTIVATION_RELU", of_t(), out(elementwise(lambda p: max(p, 0), t), "y"))
    w = sample([3, 2, 1, 2], 3, 1, 5)
    yield "convolution", Node("CONVOLUTION", of_t(FilterTensor=("f", w)), out(convolution(t, w), "y"),
                              **PLAIN_CONVOLUTION)
    w = sample([1, 2, 3, 2], 3, 1, 5)
    yield "gemm", Node("GEMM", ins(ATensor=("t", t), BTensor=("f", w)), out(gemm(t, w), "y"),
                       TransA="NONE", TransB="NONE", Alpha=1, Beta=0)
    yield "sum", Node("REDUCE", of_t(), out(reduced(t, 2, sum), "y"), Function="SUM", Axes=[2])
    yield "largest", Node("REDUCE", of_t(), out(reduced(t, 1, max), "y"), Function="MAX", Axes=[1])
    yield "argmax", Node("REDUCE", of_t(), out(reduced(t, 3, lambda v: v.index(max(v))), "y", "UINT32"),
                         Function="ARGMAX", Axes=[3])
    yield "max-pooling", Node("MAX_POOLING2", of_t(), out(pooled(t, (2, 1), max), "y"), **window([2, 1]),
                              Dilations=[1, 1])
    yield "average-pooling", Node("AVERAGE_POOLING", of_t(), out(pooled(t, (2, 1), lambda v: sum(v) / 2), "y"),
                                  **window([2, 1]), IncludePadding=False)
    other = sample([1, 1, 2, 3], 7, 1)
    yield "join", Node("JOIN", ins(**{"InputTensors[0]": ("e", other), "InputTensors[1]": ("t", t)}),
                       out(joined([other, t], 1), "y"), Axis=1)
    yield "slice", Node("SLICE1", of_t(), out(sliced(t, (0, 0, 0, 0), MIDDLE, (1, -1, 1, 2)), "y"),
                        InputWindowOffsets=[0, 0, 0, 0], InputWindowSizes=MIDDLE, InputWindowStrides=[1, -1, 1, 2])
    yield "padding", Node("PADDING1", of_t(), out(padded(t, (0, 0, 0, 1), (0, 1, 0, 0), 5), "y"),
                          PaddingMode="CONSTANT", PaddingValueDataType=FLOAT, PaddingValue=5,
                          StartPadding=[0, 0, 0, 1], EndPadding=[0, 1, 0, 0])
    yield "tile", Node("TILE", of_t(), out(tiled(t, (2, 1, 1, 2)), "y"), Repeats=[2, 1, 1, 2])
    yield "gather", Node("GATHER", {**of_t(), "IndicesTensor": ("g", Tensor([1, 1, 1, 4], [1, 0, 0, 1]), "UINT32")},
                         out(gathered(t, [1, 0, 0, 1], 2), "y"), Axis=2, IndexDimensions=1)
    values, positions = top(t, 3, 2)
    yield "top-k", Node("TOP_K1", of_t(), {**out(values, "y", FLOAT, "OutputValueTensor"),
                                           **out(positions, "at", "UINT32", "OutputIndexTensor")},
                        Axis=3, K=2, AxisDirection="DECREASING")
    yield "upsample", Node("UPSAMPLE_2D", of_t(), out(enlarged(t, (1, 1, 3, 2)), "y"),
                           ScaleSize={"Width": 2, "Height": 3}, InterpolationMode="NEAREST_NEIGHBOR")
    yield "running-sum", Node("CUMULATIVE_SUMMATION", of_t(), out(running_sum(t, 1), "y"),
                              Axis=1, AxisDirection="INCREASING", HasExclusiveSum=False)
    yield "running-product", Node("CUMULATIVE_PRODUCT", of_t(), out(running_product(t, 3), "y"),
                                  Axis=3, AxisDirection="INCREASING", HasExclusiveProduct=False)
    yield "cast", Node("CAST", of_t(), out(elementwise(math.trunc, t), "y", "INT32"))
    scale, zero = Tensor(MIDDLE, [0.25] * 12), Tensor(MIDDLE, [-7] * 12)
    yield "quantise", Node("ELEMENT_WISE_QUANTIZE_LINEAR", {
        **of_t(), "ScaleTensor": ("q", scale, FLOAT), "ZeroPointTensor": ("z0", zero, "INT8")},
                           out(elementwise(lambda p: clamp(round_half_even(p * 4) - 7, -128, 127), t), "y", "INT8"))
    yield "greater", Node("ELEMENT_WISE_LOGICAL_GREATER_THAN", ins(ATensor=("t", t), BTensor=("e", b)),
                          out(elementwise(lambda p, q: int(p > q), t, b), "y", "UINT8"))
    condition = Tensor(MIDDLE, [int(i % 5 < 2) for i in range(12)])
    yield "if", Node("ELEMENT_WISE_IF", {"ConditionTensor": ("k", condition, "UINT8"),
                                         **ins(ATensor=("t", t), BTensor=("e", b))},
                     out(elementwise(lambda c, p, q: p if c else q, condition, t, b), "y"))
    where, updates = Tensor([1, 2, 1, 3], [1, 0, 1, 0, 0, 1]), sample([1, 2, 1, 3], 3, 20, 31)
    yield "scatter", Node("SCATTER", {**of_t(UpdatesTensor=("e", updates)), "IndicesTensor": ("g", where, "UINT32")},
                          out(scattered(t, where, updates, 2), "y"), Axis=2)
    lengths = Tensor([1, 2, 1, 3], [2, 1, 2, 0, 2, 1])
    yield "reverse", Node("REVERSE_SUBSEQUENCES", {**of_t(), "SequenceLengthsTensor": ("g", lengths, "UINT32")},
                          out(reversed_front(t, lengths, 2), "y"), Axis=2)
    as_depth, as_space = Tensor([1, 12, 1, 1], t.values), Tensor([1, 3, 2, 2], t.values)
    yield "depth-to-space", Node("DEPTH_TO_SPACE1", ins(InputTensor=("t", as_depth)),
                                 out(depth_to_space(as_depth, 2), "y"), BlockSize=2, Order="DEPTH_COLUMN_ROW")
    yield "space-to-depth", Node("SPACE_TO_DEPTH1", ins(InputTensor=("t", as_space)),
                                 out(space_to_depth(as_space, 2), "y"), BlockSize=2, Order="DEPTH_COLUMN_ROW")
    yield "batch-normalisation", batch_normalised(t, "t", "y")
    yield "hardmax", Node("ACTIVATION_HARDMAX1", of_t(), out(hardmax(t, 3), "y"), Axes=[3])
    yield "recurrent", recurrent(t, 2, "t", "y")
    yield "attention", attention(Tensor([2, 2, 3], t.values), Tensor([2, 1, 3], [0] * 6), "t", "y")
    yield "region-pooling", Node("ROI_POOLING", of_t(ROITensor=("roi", Tensor([1, 1, 1, 5], [0, 0, 0, 2, 1]))),
                                 out(build([1, 2, 1, 1], lambda at: max(
                                     t[0, at[1], h, w] for h in range(2) for w in range(3))), "y"),
                                 SpatialScale=1, PooledSize={"Width": 1, "Height": 1})


# ---- the case file -----------------------------------------------------------------------------------------------


def cases():
    for number, (name, producer) in enumerate(producers()):
        produced = next(tensor for value, tensor, _ in producer.outputs.values() if value == "t")
        swept = []
        for reader_number, (_, reader) in enumerate(readers(Tensor(MIDDLE, produced.values))):
            if (number + reader_number) % 2 != 0:
                continue  # half of the pairs are enough: every family meets half of the others
            data = {**producer.data(), **reader.data()}
            assert len(data) == len(producer.data()) + len(reader.data()), "two inputs have one name"
            expected = {value: tensor.values for value, tensor, _ in reader.outputs.values()}
            swept.append({"node": reader.json("reader"), "outputs": list(expected),
                          "inputs": data, "expected": expected})
        yield {"name": f"{name}-to", "sweep": {"reader": swept},
               "graph": {"nodes": [producer.json("producer"), "${reader.node}"], "outputs": "${reader.outputs}"},
               "inputs": "${reader.inputs}", "expected": "${reader.expected}"}


def inline(value):
    if isinstance(value, dict) and value:
        return "{ " + ", ".join(f"{json.dumps(key)}: {inline(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(inline(item) for item in value) + "]"
    return json.dumps(value)


def text_of(value, indent=0, before=0):
    """JSON with lists and objects on one line where they fit. `before` characters are on the line already."""
    width = 119
    line = inline(value)
    if indent + before + len(line) <= width or not isinstance(value, (dict, list)):
        return line
    space = " " * (indent + 2)
    if isinstance(value, dict):
        members = [f"{space}{json.dumps(key)}: {text_of(item, indent + 2, len(json.dumps(key)) + 2)}"
                   for key, item in value.items()]
        return "{\n" + ",\n".join(members) + "\n" + " " * indent + "}"
    if any(isinstance(item, (dict, list)) for item in value):
        return "[\n" + ",\n".join(space + text_of(item, indent + 2) for item in value) + "\n" + " " * indent + "]"
    lines = [""]
    for item in map(inline, value):
        if lines[-1] and indent + 2 + len(lines[-1]) + len(item) + 3 > width:
            lines.append("")
        lines[-1] += f"{item}, "
    lines[-1] = lines[-1][:-2]
    return "[\n" + "\n".join(space + part.rstrip() for part in lines) + "\n" + " " * indent + "]"


def random_numbers():
    """The known answer of Philox 4x32-10 for a state of ones, between operators that invert all bits."""
    ones = 2**32 - 1
    state, words = Tensor([1, 1, 1, 6], [0] * 6), Tensor([1, 1, 1, 4], [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd])
    inverted = elementwise(lambda w: w ^ ones, words)
    nodes = [
        Node("ELEMENT_WISE_BIT_NOT", {"InputTensor": ("x", state, "UINT32")},
             out(elementwise(lambda w: w ^ ones, state), "state", "UINT32")),
        Node("RANDOM_GENERATOR", {"InputStateTensor": ("state", state, "UINT32")}, out(words, "t", "UINT32"),
             Type="PHILOX_4X32_10"),
        Node("ELEMENT_WISE_BIT_NOT", {"InputTensor": ("t", words, "UINT32")}, out(inverted, "y", "UINT32"))]
    return {"name": "random-numbers", "graph": {
        "nodes": [node.json(name) for name, node in zip(("before", "random", "after"), nodes)], "outputs": ["y"]},
            "inputs": {"x": state.values}, "expected": {"y": inverted.values}}


def document():
    return text_of({
        "$schema": "../../schemas/case-file.schema.json",
        "description": "Every family as producer and as reader. Expected: tests/second_program/graph_pairs.py.",
        "cases": [*cases(), random_numbers()]}) + "\n"


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--check":
        with open(sys.argv[2], encoding="utf-8") as file:
            if file.read() != document():
                sys.exit(f"{sys.argv[2]} is not what tests/second_program/graph_pairs.py prints")
        return
    sys.stdout.write(document())


if __name__ == "__main__":
    main()
