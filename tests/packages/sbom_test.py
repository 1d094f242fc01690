#!/usr/bin/env python3
"""Tests of scripts/package.d/sbom.py: what the program is made of is in its list, and the list is sound SPDX.

usage: sbom_test.py ROOT BUILD PROGRAM
"""
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT, BUILD, PROGRAM = sys.argv[1:4]


def made(*more):
    command = [sys.executable, "-B", f"{ROOT}/scripts/package.d/sbom.py", BUILD, PROGRAM, "1.2.3", *more]
    return subprocess.run(command, env=os.environ | {"SOURCE_DATE_EPOCH": "1700000000"}, capture_output=True, text=True,
                          check=True).stdout


class Sbom(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.shipped = pathlib.Path(folder, "dmlconform_1.2.3_amd64.deb")
        cls.shipped.write_bytes(b"a package")
        cls.text = made(str(cls.shipped))
        cls.document = json.loads(cls.text)
        cls.packages = {package["SPDXID"]: package for package in cls.document["packages"]}

    def related(self, kind, at):
        """The names of packages that the program has a relation to, or that have one to it."""
        ends = ("relatedSpdxElement", "spdxElementId")
        return {self.packages[relation[ends[at]]]["name"] for relation in self.document["relationships"]
                if relation["relationshipType"] == kind and relation[ends[1 - at]] == "SPDXRef-program"}

    def test_the_form(self):
        for member in ("spdxVersion", "dataLicense", "SPDXID", "name", "documentNamespace", "creationInfo"):
            self.assertIn(member, self.document)
        self.assertEqual(self.document["creationInfo"]["created"], "2023-11-14T22:13:20Z")
        self.assertEqual(len(self.packages), len(self.document["packages"]), "two packages have the same id")
        for name, package in self.packages.items():
            self.assertRegex(name, r"^SPDXRef-[A-Za-z0-9.-]+$")
            self.assertTrue(package["name"] and package["versionInfo"] and package["downloadLocation"])
        for relation in self.document["relationships"]:
            for end in ("spdxElementId", "relatedSpdxElement"):
                self.assertIn(relation[end], self.packages.keys() | {"SPDXRef-DOCUMENT"})

    def test_the_same_each_time(self):
        self.assertEqual(made(str(self.shipped)), self.text)

    def test_all_that_is_linked(self):
        linked = self.related("DYNAMIC_LINK", 0)
        needed = re.findall(r"\(NEEDED\).*\[lib(\w+)", subprocess.run(
            ["readelf", "-dW", PROGRAM], capture_output=True, text=True, check=True).stdout)
        self.assertGreater(len(needed), 3)
        # Most packages are named after their library.
        for library in needed:
            with self.subTest(library):
                name = {"z": "zlib1g", "m": "libc6", "gcc_s": "libgcc-s1"}.get(library)
                name = name or "lib" + library.replace("_", "-")
                self.assertTrue(any(package.startswith(name.removesuffix("debian")) for package in linked), linked)

    def test_all_that_is_compiled_into_it(self):
        # Header-only libraries, which a linker cannot see.
        self.assertLessEqual({"libcli11-dev", "nlohmann-json3-dev", "libxtensor-dev", "libexpected-dev"},
                             self.related("BUILD_DEPENDENCY_OF", 1))
        self.assertNotIn("libgtest-dev", self.related("BUILD_DEPENDENCY_OF", 1), "tests are not in the program")

    def test_what_is_shipped(self):
        package, = [package for package in self.packages.values() if "packageFileName" in package]
        self.assertEqual(package["packageFileName"], self.shipped.name)
        self.assertEqual(package["checksums"][0]["checksumValue"], hashlib.sha256(b"a package").hexdigest())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
