#!/usr/bin/env python3
"""spoils.py and survivors.py: what they call spoilt, accepted and explained, with values worked out by hand."""
import sys
import unittest

sys.dont_write_bytecode = True
try:
    import numpy
    import spoils
except ImportError as missing:
    print(missing)
    sys.exit(77)
import survivors


def raw(kind, *values):
    return numpy.array(values, kind).tobytes()


def bounds(values, below=(), above=(), nan=(), finite=(), alternatives=(), meaningful=2 ** 64 - 1):
    return spoils.Bounds({"below": raw("f8", *below), "above": raw("f8", *above), "nan": raw("u1", *nan),
                          "finite": raw("u1", *finite), "alternatives": raw("u8", *alternatives),
                          "meaningful": meaningful}, values)


class Spoils(unittest.TestCase):
    def fate(self, right, wrong, **slack):
        return spoils.FATES[bounds(right, **slack).fate(wrong)]

    def test_fates(self):
        right = numpy.array([1, 2, -0.0, numpy.nan], "f4")
        zeros = [0, 0, 0, 0]
        self.assertEqual(self.fate(right, right.copy()), "same values")
        self.assertEqual(self.fate(right, numpy.array([1, 2, 0.0, numpy.nan], "f4")), "only the sign of zeros")
        near = numpy.array([1, 2.5, -0.0, numpy.nan], "f4")
        self.assertEqual(self.fate(right, near), "beyond the ranges")
        self.assertEqual(self.fate(right, near, below=zeros, above=[0, 0.5, 0, 0]), "within the ranges")
        self.assertEqual(self.fate(right, near, below=[0, 0.5, 0, 0], above=zeros), "beyond the ranges")
        self.assertEqual(self.fate(right, near, meaningful=1), "only values that mean nothing")
        self.assertEqual(self.fate(right, numpy.array([numpy.nan, 2, -0.0, numpy.nan], "f4"), nan=[1, 0, 0, 0]),
                         "within the ranges")
        infinite = numpy.array([numpy.inf, 2, -0.0, numpy.nan], "f4")
        self.assertEqual(self.fate(right, infinite, below=zeros, above=[1e300, 0, 0, 0]), "beyond the ranges")
        self.assertEqual(self.fate(right, infinite, below=zeros, above=[numpy.inf, 0, 0, 0]), "within the ranges")

    def test_fates_of_integers(self):
        right = numpy.array([255, 3], "u1")
        self.assertEqual(self.fate(right, numpy.array([254, 3], "u1"), below=[1, 0], above=[0, 0]),
                         "within the ranges")
        self.assertEqual(self.fate(right, numpy.array([253, 3], "u1"), below=[1, 0], above=[0, 0]),
                         "beyond the ranges")
        self.assertEqual(self.fate(right, numpy.array([7, 3], "u1"), alternatives=[0, 7, 0, 255]),
                         "within the ranges")
        large = numpy.array([2 ** 63 - 1], "i8")
        self.assertEqual(self.fate(large, numpy.array([2 ** 63 - 2], "i8")), "beyond the ranges")

    def test_just_outside(self):
        right = numpy.array([1], "f4")
        slack = bounds(right, below=[2 ** -24], above=[3 * 2 ** -23])
        luck = spoils.Luck(1, slack, 32)
        self.assertEqual(spoils.one_above_its_range(right, luck)[0], 1 + 4 * 2 ** -23)
        self.assertEqual(spoils.one_below_its_range(right, luck)[0], 1 - 2 * 2 ** -24)
        byte = numpy.array([255], "u1")
        luck = spoils.Luck(1, bounds(byte, below=[1], above=[0]), 8)
        self.assertIsNone(spoils.one_above_its_range(byte, luck))
        self.assertEqual(spoils.one_below_its_range(byte, luck)[0], 253)

    def test_values(self):
        x = numpy.array([[1 + 2 ** -11, -2], [3, 4]], "f4")
        luck = spoils.Luck(1, bounds(x), 32)
        self.assertEqual(spoils.rounded_to_tf32(x, luck)[0, 0], 1)  # a tie, rounded to even
        self.assertEqual(spoils.rounded_to_fp16(x, luck)[0, 0], 1)
        self.assertEqual(spoils.rounded_to_bf16(x + numpy.float32(2 ** -7), luck)[0, 0], 1 + 2 ** -7)
        self.assertEqual(spoils.transposed(x, luck).tolist()[0][1], 3)
        self.assertEqual(spoils.reversed_order(x, luck).tolist()[0], [4, 3])
        self.assertEqual(spoils.shifted(x, luck).tolist()[0][0], 4)
        self.assertEqual(spoils.untouched(x, luck).tobytes(), b"\xcd" * 16)
        self.assertEqual(spoils.one_more(numpy.array([255, 3], "u1"), spoils.Luck(1, bounds(x), 8)).tolist(), [254, 4])

    def test_each_way_changes_something(self):
        for kind in ("f4", "f2", "i4", "u1", "f8", "i8"):
            right = numpy.arange(1, 13).reshape(3, 4).astype(kind) * numpy.array(3, kind)
            luck = spoils.Luck(5, bounds(right), right.itemsize * 8)
            for way in spoils.WAYS:
                if way == "swapped_outputs":
                    continue  # needs an operator with several outputs
                wrong = getattr(spoils, way)(right.copy(), luck)
                with self.subTest(kind=kind, way=way):
                    if wrong is not None:
                        self.assertEqual((wrong.dtype, wrong.shape), (right.dtype, right.shape))
                    small = (way in ("rounded_to_fp16", "rounded_to_bf16", "rounded_to_tf32", "saturated", "absolute",
                                     "without_nan", "truncated"))
                    float_only = kind[0] != "f" and way in ("one_nan", "one_infinity", "scaled", "doubled")
                    if not small and not float_only and not (kind[0] == "f" and way == "one_more") \
                            and not (kind == "u1" and way == "other_signs"):
                        self.assertEqual(spoils.FATES[bounds(right).fate(wrong)], "beyond the ranges")


class Survivors(unittest.TestCase):
    def test_explanations(self):
        def found(way, reason, operator, *ids):
            return {"ways": {way: {"survivors": {reason: {operator: list(ids)}}}}}
        explained = {"ways": {"zeros": {"survivors": {"within the ranges": {"RELU": ["a"]}}},
                              "scaled": {"survivors": {"within the ranges": {"RELU": 3}}}}}
        for entry, lines in ((found("zeros", "within the ranges", "RELU", "a"), 0),
                             (found("zeros", "within the ranges", "RELU", "a", "b"), 1),
                             (found("zeros", "beyond the ranges of the reference", "RELU", "a"), 1),
                             (found("zeros", "only the sign of zeros", "ABS", "b"), 0),
                             (found("scaled", "within the ranges", "RELU", "b"), 0),
                             (found("scaled", "within the ranges", "ABS", "b"), 1),
                             (found("scaled", "beyond the ranges of the reference", "RELU", "b"), 1)):
            self.assertEqual(len(list(survivors.unexplained(entry, explained))), lines, entry)

    def test_shards_add_up(self):
        def one(shard, survivors):
            return {"shards": [shard], "cases": 10, "found": 7, "same values": 1, "survivors": survivors}
        earlier = {"ways": {"zeros": one("1/4", {"within the ranges": {"RELU": ["b"]}}), "one-bit": one("1/4", {}),
                            "scaled": one("1/4", {"within the ranges": {"RELU": 3}})}}
        found = {"ways": {"zeros": one("2/4", {"within the ranges": {"RELU": ["a"], "ABS": ["c"]}}),
                          "scaled": one("2/4", {"within the ranges": {"RELU": ["a", "b"]}})}}
        ways = survivors.written(found, earlier)["ways"]
        self.assertEqual(ways["zeros"], {
            "shards": ["1/4", "2/4"], "cases": 20, "found": 14, "same values": 2,
            "survivors": {"within the ranges": {"ABS": ["c"], "RELU": ["a", "b"]}}})
        self.assertEqual(ways["scaled"]["survivors"], {"within the ranges": {"RELU": 5}})
        self.assertEqual(ways["one-bit"], one("1/4", {}))


if __name__ == "__main__":
    unittest.main()
