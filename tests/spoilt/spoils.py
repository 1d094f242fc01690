"""Ways to spoil an output: each function takes the right values and returns wrong ones, or None where it has none."""
import itertools
import math

import numpy

# The possible outcomes for an output. The first two mean that nothing was spoilt.
FATES = ["nothing to spoil", "same values", "only values that mean nothing", "only the sign of zeros",
         "within the ranges", "beyond the ranges"]


def is_float(values):
    return values.dtype.kind == "f"


class Bounds:
    """What the reference accepts for each element."""

    def __init__(self, slack, values):
        self.values = values.reshape(-1)
        arrays = {name: numpy.frombuffer(slack[name], kind) for name, kind in
                  (("below", "f8"), ("above", "f8"), ("nan", "u1"), ("finite", "u1"), ("alternatives", "u8"))}
        none = numpy.zeros(self.values.size)
        self.below, self.above, self.nan, self.finite = (
            arrays[name] if arrays[name].size else none for name in ("below", "above", "nan", "finite"))
        self.alternatives = set(zip(arrays["alternatives"][0::2].tolist(), arrays["alternatives"][1::2].tolist()))
        self.meaningful = slack["meaningful"]

    def bits(self, values):
        return values.view("u" + str(values.itemsize))

    def changed(self, values):
        values = values.reshape(-1)
        both = (numpy.isnan(values) & numpy.isnan(self.values)) if is_float(values) else False
        return numpy.flatnonzero((self.bits(values) != self.bits(self.values)) & ~both)

    def accepts(self, indices, values):
        """For each value, whether it may stand at that index: as engine/compare/element_difference.h."""
        wanted = self.values[indices]
        if not is_float(wanted):
            # Only integers of up to 32 bits have ranges.
            difference = values.astype("i8") - wanted.astype("i8")
            accepted = (difference >= -self.below[indices]) & (difference <= self.above[indices])
            return (values == wanted) | (accepted & (wanted.itemsize < 8)) | self.are_alternatives(indices, values)
        largest = float(numpy.finfo(wanted.dtype).max)
        right, actual = wanted.astype("f8"), values.astype("f8")
        below, above, nan = self.below[indices], self.above[indices], self.nan[indices]
        bound = numpy.where(actual > right, above, below)
        same = (actual == right) & (~numpy.isinf(actual) | (numpy.signbit(actual) == numpy.signbit(right)))
        other_sign = numpy.signbit(actual) != numpy.signbit(right)
        accepted = numpy.select(
            [numpy.isnan(actual), numpy.isnan(right), same, numpy.isinf(right), numpy.isinf(actual)],
            [numpy.isnan(right) | (nan == 1), (nan == 2) & (-below <= actual) & (actual <= above), same,
             (self.finite[indices] != 0) & numpy.where(other_sign, numpy.isinf(bound),
                                                       largest - numpy.abs(actual) <= bound),
             numpy.isinf(bound)], numpy.abs(actual - right) <= bound)
        return accepted | self.are_alternatives(indices, values)

    def are_alternatives(self, indices, values):
        if not self.alternatives:
            return numpy.zeros(len(indices), bool)
        bits, right = self.bits(values).tolist(), self.bits(self.values[indices]).tolist()
        return numpy.array([(i, a) in self.alternatives and (i, b) in self.alternatives
                            for i, a, b in zip(indices.tolist(), bits, right)], bool)

    def fate(self, spoilt):
        spoilt = numpy.ascontiguousarray(spoilt).reshape(-1)
        changed = self.changed(spoilt)
        if not changed.size:
            return FATES.index("same values")
        changed = changed[changed < self.meaningful]
        if not changed.size:
            return FATES.index("only values that mean nothing")
        for start in range(0, changed.size, 4096):
            some = changed[start:start + 4096]
            if not self.accepts(some, spoilt[some]).all():
                return FATES.index("beyond the ranges")
        is_zero = is_float(spoilt) and not (spoilt[changed].any() or self.values[changed].any())
        return FATES.index("only the sign of zeros" if is_zero else "within the ranges")


class Luck:
    """Chooses elements: the same ones for the same output."""

    def __init__(self, seed, bounds, bits):
        self.seed, self.bounds, self.bits = seed, bounds, bits
        self.count = min(bounds.values.size, bounds.meaningful)

    def order(self, most=256):
        """Indices of elements, each at most once."""
        if self.count == 0:
            return
        step = next(step for step in itertools.count(self.seed % self.count or 1)
                    if math.gcd(step, self.count) == 1)
        for k in range(min(self.count, most)):
            yield (self.seed // 7 + k * step) % self.count

    def extremes(self, kind):
        if kind.kind == "f":
            return -math.inf, math.inf
        if self.bits == 4:
            return (-8, 7) if kind.kind == "i" else (0, 15)
        return numpy.iinfo(kind).min, numpy.iinfo(kind).max


def with_one(values, i, value):
    spoilt = values.copy()
    spoilt.reshape(-1)[i] = value
    return spoilt


def just_outside(values, luck, direction):
    """Of an element whose range ends, what comes next."""
    flat, bounds = values.reshape(-1), luck.bounds
    lowest, highest = luck.extremes(values.dtype)
    for i in luck.order():
        reach = float((bounds.above if direction > 0 else bounds.below)[i])
        if not math.isfinite(reach) or (is_float(values) and not numpy.isfinite(flat[i])):
            continue
        if is_float(values):
            value = values.dtype.type(float(flat[i]) + direction * reach)
            candidates = [value]
            for _ in range(3):
                candidates.append(numpy.nextafter(candidates[-1], values.dtype.type(direction * math.inf)))
        else:
            first = int(flat[i]) + direction * math.floor(reach)
            candidates = [first + direction * k for k in range(1, 4)]
        for value in candidates:
            if lowest <= value <= highest and not bounds.accepts(numpy.array([i]), numpy.array([value], values.dtype))[0]:
                return with_one(values, i, value)
    return None


# ---- one element -------------------------------------------------------------------------------------------------


def one_above_its_range(values, luck):
    return just_outside(values, luck, 1)


def one_below_its_range(values, luck):
    return just_outside(values, luck, -1)


def one_nan(values, luck):
    if not is_float(values):
        return None
    return next((with_one(values, i, math.nan) for i in luck.order() if not numpy.isnan(values.reshape(-1)[i])), None)


def one_infinity(values, luck):
    if not is_float(values):
        return None
    return next((with_one(values, i, -math.inf if values.reshape(-1)[i] > 0 else math.inf) for i in luck.order()),
                None)


def one_of_the_other_sign(values, luck):
    flat = values.reshape(-1)
    if values.dtype.kind == "u":
        return next((with_one(values, i, int(flat[i]) ^ 1 << (luck.bits - 1)) for i in luck.order()), None)
    return next((with_one(values, i, -flat[i]) for i in luck.order() if flat[i] != 0), None)


def one_bit(values, luck):
    """The lowest bit of the exponent, or of an integer."""
    fraction = numpy.finfo(values.dtype).nmant if is_float(values) else 0
    for i in luck.order():
        spoilt = values.copy()
        bits = spoilt.reshape(-1).view("u" + str(values.itemsize))
        bits[i] ^= bits.dtype.type(1 << fraction)
        return spoilt
    return None


def first_zero(values, luck):
    return with_one(values, 0, 0) if luck.count else None


def last_zero(values, luck):
    return with_one(values, luck.count - 1, 0) if luck.count else None


def last_untouched(values, luck):
    if not luck.count:
        return None
    spoilt = values.copy()
    spoilt.reshape(-1).view("u1").reshape(-1, values.itemsize)[luck.count - 1] = 0xcd
    return spoilt


def neighbours_swapped(values, luck):
    flat = values.reshape(-1)
    for i in luck.order():
        if i + 1 < luck.count and flat[i] != flat[i + 1]:
            spoilt = values.copy()
            spoilt.reshape(-1)[[i, i + 1]] = flat[[i + 1, i]]
            return spoilt
    return None


# ---- all elements: positions -------------------------------------------------------------------------------------


def reversed_order(values, _):
    return values.reshape(-1)[::-1].reshape(values.shape)


def shifted(values, _):
    return numpy.roll(values.reshape(-1), 1).reshape(values.shape)


def rows_shifted(values, _):
    return numpy.roll(values, 1, axis=-2) if values.ndim > 1 else None


def transposed(values, _):
    return values.swapaxes(-1, -2).reshape(values.shape) if values.ndim > 1 else None


def first_row_everywhere(values, _):
    return numpy.broadcast_to(values[..., :1, :], values.shape).copy() if values.ndim > 1 else None


def first_half_twice(values, _):
    flat = values.reshape(-1)
    half = flat.size // 2
    return numpy.concatenate([flat[:half], flat[:half], flat[2 * half:]]).reshape(values.shape) if half else None


# ---- all elements: values ----------------------------------------------------------------------------------------


def zeros(values, _):
    return numpy.zeros_like(values)


def one_constant(values, _):
    return numpy.full_like(values, values.reshape(-1)[values.size // 2])


def untouched(values, _):
    spoilt = values.copy()
    spoilt.reshape(-1).view("u1")[...] = 0xcd
    return spoilt


def last_row_untouched(values, luck):
    row = values.shape[-1]
    if luck.count < values.size or values.size == row:
        return None
    spoilt = values.copy()
    spoilt.reshape(-1)[-row:].view("u1")[...] = 0xcd
    return spoilt


def second_half_zero(values, _):
    spoilt = values.copy()
    spoilt.reshape(-1)[(values.size + 1) // 2:] = 0
    return spoilt


def other_signs(values, _):
    return None if values.dtype.kind == "u" else -values


def absolute(values, _):
    return None if values.dtype.kind == "u" else numpy.abs(values)


def rounded(values, kept):
    """FLOAT32 numbers with that many bits of their fraction."""
    if values.dtype != "f4":
        return None
    cut = 23 - kept
    raw = values.view("u4")
    bits = ((raw + ((1 << (cut - 1)) - 1) + ((raw >> cut) & 1)) >> cut << cut).astype("u4")
    return numpy.where(numpy.isfinite(values), bits.view("f4"), values)


def rounded_to_fp16(values, _):
    return values.astype("f2").astype(values.dtype) if values.dtype in ("f4", "f8") else None


def rounded_to_bf16(values, _):
    return rounded(values, 7)


def rounded_to_tf32(values, _):
    return rounded(values, 10)


def truncated(values, _):
    """The lower third of the fraction, or the lowest bit of an integer, is gone."""
    if not is_float(values):
        return values & values.dtype.type(-2 if values.dtype.kind == "i" else numpy.iinfo(values.dtype).max - 1)
    kind = numpy.dtype("u" + str(values.itemsize))
    cut = numpy.finfo(values.dtype).nmant // 3
    bits = values.reshape(-1).view(kind) >> kind.type(cut) << kind.type(cut)
    return numpy.where(numpy.isfinite(values), bits.view(values.dtype).reshape(values.shape), values)


def scaled(values, _):
    return (values * values.dtype.type(1.001)) if is_float(values) else None


def doubled(values, _):
    return values + values if is_float(values) else None


def one_more(values, luck):
    """Each integer plus one; the largest minus one."""
    if is_float(values):
        return None
    highest = luck.extremes(values.dtype)[1]
    return numpy.where(values == highest, values - 1, values + 1).astype(values.dtype)


def saturated(values, luck):
    """Infinities and extremes are the next number towards zero."""
    if is_float(values):
        limit = numpy.finfo(values.dtype).max
        return numpy.where(numpy.isnan(values), values, numpy.clip(values, -limit, limit)).astype(values.dtype)
    lowest, highest = luck.extremes(values.dtype)
    return numpy.where(values == highest, values - 1, numpy.where(values == lowest, values + 1, values))\
        .astype(values.dtype)


def without_nan(values, _):
    return numpy.where(numpy.isnan(values), values.dtype.type(0), values) if is_float(values) else None


WAYS = [name for name, item in list(globals().items())
        if callable(item) and getattr(item, "__module__", "") == __name__ and name.islower()
        and name not in ("is_float", "with_one", "just_outside", "rounded")] + ["swapped_outputs"]
