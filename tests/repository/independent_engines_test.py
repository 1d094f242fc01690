#!/usr/bin/env python3
"""Tests of independent_engines.py: rules and the other engine's headers are found, descriptors are allowed."""
import unittest

import independent_engines


class IndependentEngines(unittest.TestCase):
    def test_includes(self):
        for engine, name, is_shared in [
                ("cpu", "engine/operators/rules/top_k1.h", True), ("d3d12", "engine/operators/rules.h", True),
                ("cpu", "engine/d3d12/top_k1/top_k_fields.h", True), ("d3d12", "engine/cpu/kernel.h", True),
                ("cpu", "engine/cpu/kernel.h", False), ("d3d12", "engine/operators/descriptor.h", False),
                ("d3d12", "engine/core/tensor.h", False), ("cpu", "engine/operators/enumerators.h", False)]:
            with self.subTest(engine=engine, name=name):
                text = f'// A comment.\n#include <vector>\n\n#include "{name}"\n'
                self.assertEqual(list(independent_engines.shared(engine, text)), [name] if is_shared else [])


if __name__ == "__main__":
    unittest.main()
