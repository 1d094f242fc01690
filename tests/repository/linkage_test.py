#!/usr/bin/env python3
"""Tests of linkage.py: what no header declares is found, and nothing else."""
import unittest

import linkage

HEADER = """
namespace dmlconform::cases {
class Reader {
public:
    Reader();
    ~Reader();
    int read(int (*how)());
    bool operator==(const Reader&) const;
};
extern const int limit;
// A comment does not declare forgotten().
std::string name_of(int kind);
}  // namespace dmlconform::cases
"""


def line(kind, name):
    return f"{0:016x} {kind} {name}\n"


class Linkage(unittest.TestCase):
    def test_symbols(self):
        for kind, name, found in [
                ("T", "dmlconform::cases::name_of[abi:cxx11](int)", False),
                ("T", "dmlconform::cases::forgotten(std::vector<int, std::allocator<int> > const&)", True),
                ("t", "dmlconform::cases::forgotten()", False),
                ("W", "dmlconform::cases::forgotten<int>()", False),
                ("T", "dmlconform::cases::(anonymous namespace)::forgotten()", False),
                ("T", "dmlconform::run::name_of(int)", True),
                ("T", "dmlconform::cases::Reader::read(int (*)())", False),
                ("T", "dmlconform::cases::Reader::~Reader()", False),
                ("T", "dmlconform::cases::Reader::operator==(dmlconform::cases::Reader const&) const", False),
                ("T", "dmlconform::cases::Writer::read(int)", True),
                ("R", "dmlconform::cases::limit", False),
                ("B", "dmlconform::cases::counter", True),
                ("T", "other::forgotten()", False)]:
            with self.subTest(kind=kind, name=name):
                self.assertEqual(linkage.accidental(line(kind, name), [HEADER]), [name] if found else [])

    def test_what_the_build_writes(self):
        source = """namespace dmlconform::cases {
Rows slice1_rows();
namespace {
const std::array<Text, 1> texts{{{"a.json", R"(counter)"}}};
}  // namespace
extern const std::span<const core::EmbeddedText> embedded;
const std::span<const core::EmbeddedText> embedded = texts;
}  // namespace dmlconform::cases
"""
        declared = linkage.declarations_of(source)
        listing = "".join(line("R", "dmlconform::cases::" + name) for name in ("embedded", "slice1_rows()", "counter"))
        self.assertEqual(linkage.accidental(listing, [declared]), ["dmlconform::cases::counter"])


if __name__ == "__main__":
    unittest.main()
