#!/usr/bin/env python3
"""Tests of portable_headers.py: conditions count as on Windows, and headers of headers are found."""
import pathlib
import tempfile
import unittest

import portable_headers


class PortableHeaders(unittest.TestCase):
    def test_conditions(self):
        for condition, expected in [
                ("defined(_WIN32)", True), ("defined _WIN32", True), ("!defined(_WIN32)", False), ("__linux__", False),
                ("defined(__linux__) && defined(DMLCONFORM_X)", False), ("defined(_WIN32) || DMLCONFORM_X", True),
                ("DMLCONFORM_X", None), ("!(defined(__APPLE__) || defined(__linux__))", True),
                ("__has_include(<a.h>)", None), ("DMLCONFORM_X DMLCONFORM_Y", None)]:
            with self.subTest(condition):
                self.assertIs(portable_headers.truth(condition), expected)

    def test_includes(self):
        for text, expected in [
                ("#include <unistd.h>\n", ["unistd.h"]),
                ("#ifdef _WIN32\n#include <io.h>\n#else\n#include <unistd.h>\n#endif\n", ["io.h"]),
                ("#ifndef _WIN32\n#include <unistd.h>\n#elif defined(A)\n#include <a.h>\n#else\n#include <b.h>\n#endif\n",
                 ["a.h", "b.h"]),
                ("#if defined(_MSC_VER)\n#include <a.h>\n#elif 1\n#include <b.h>\n#endif\n#include <c.h>",
                 ["a.h", "c.h"]),
                ("#ifdef __linux__\n#ifdef _WIN32\n#include <a.h>\n#endif\n#endif\n", []),
                ("#if DMLCONFORM_X\n#include <a.h>\n#else\n# include \"b.h\"\n#endif\n", ["a.h", "b.h"]),
                ("// #include <a.h>\n/* #include <b.h>\n*/\n", [])]:
            with self.subTest(text):
                self.assertEqual([name for _, name in portable_headers.includes(text)], expected)

    def test_chains(self):
        with tempfile.TemporaryDirectory() as folder:
            engine = pathlib.Path(folder, "engine")
            engine.mkdir()
            for name, text in [("a.cpp", '#include "engine/b.h"\n#include <vector>\n#include <fmt/format.h>\n'),
                               ("b.h", '#include "engine/a.h"\n#include <sys/wait.h>\n'),
                               ("a.h", '#include "engine/b.h"\n')]:
                (engine / name).write_text(text, encoding="utf-8")
            self.assertEqual(list(portable_headers.missing(folder, "engine/a.cpp", set())),
                             [["engine/a.cpp", "engine/b.h", "<sys/wait.h>"]])


if __name__ == "__main__":
    unittest.main()
