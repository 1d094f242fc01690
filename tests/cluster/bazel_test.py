#!/usr/bin/env python3
"""Runs docs/ci/bazel with a real Bazel and without the network: each shard is a test of its own.

usage: bazel_test.py PROGRAM ROOT

Debian's Bazel wants three repositories from the network before it runs any test. For an sh_test on Linux it uses
nothing of what is in them, so ones with the names alone stand in for them. Ends with exit code 77 where Bazel is not
installed.
"""
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest
import zipfile

import merged_result

PROGRAM, ROOT = pathlib.Path(sys.argv[1]).absolute(), pathlib.Path(sys.argv[2]).absolute()
CASES = ("gemm", "reduce")
# A case that fails on the CPU engine, in one of the shards.
WRONG = """{ "cases": [ { "name": "wrong", "operator": "ACTIVATION_IDENTITY",
  "desc": { "InputTensor": { "DataType": "FLOAT32", "Sizes": [2] },
            "OutputTensor": { "DataType": "FLOAT32", "Sizes": [2] } },
  "inputs": { "InputTensor": [1, 2] }, "expected": { "OutputTensor": [1, 3] } } ] }
"""
NATIVE_RULES = {
    "rules_cc": ("cc", ["cc_binary", "cc_library", "cc_import", "cc_test", "cc_toolchain", "cc_toolchain_suite",
                        "cc_proto_library", "objc_library"]),
    "rules_java": ("java", ["java_binary", "java_import", "java_library", "java_plugin", "java_runtime",
                            "java_toolchain", "java_test", "java_package_configuration", "java_proto_library"]),
}
SHARDS = 4


def write(path, text=""):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def delete(folder):
    """Bazel makes folders that may not be written to."""
    for parent, _, _ in os.walk(folder):
        os.chmod(parent, stat.S_IRWXU)
    shutil.rmtree(folder)


class Bazel(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="bazel-")).resolve()
        self.addCleanup(delete, self.folder)
        self.workspace = self.folder / "workspace"
        shutil.copytree(ROOT / "docs/ci/bazel", self.workspace)
        write(self.workspace / "WORKSPACE")
        for name in CASES:
            shutil.copytree(ROOT / "cases" / name, self.workspace / "cases" / name)
        write(self.workspace / "cases/wrong.json", WRONG)
        write(self.workspace / "cases/BUILD.bazel",
              'filegroup(name = "cases", srcs = glob(["**/*.json"]), visibility = ["//visibility:public"])\n')
        self.repositories = {}
        self.repository("dmlconform", 'exports_files(["dmlconform"])\n')
        shutil.copy(PROGRAM, self.repositories["dmlconform"])
        self.repository("remote_coverage_tools",
                        'filegroup(name = "coverage_report_generator", visibility = ["//visibility:public"])\n')
        for name, (package, rules) in NATIVE_RULES.items():
            folder = self.repository(name, "")
            write(folder / package / "BUILD.bazel")
            write(folder / package / "defs.bzl", "".join(f"{rule} = native.{rule}\n" for rule in rules))

    def repository(self, name, build):
        folder = self.repositories[name] = self.folder / name
        write(folder / "WORKSPACE")
        write(folder / "BUILD.bazel", build)
        return folder

    def bazel(self, *options):
        """What `bazel test` ends with; its server ends with it. Debian's needs the settings of its own bazelrc."""
        command = ["bazel", f"--output_user_root={self.folder}/output", "--batch", "--nohome_rc", "test",
                   "//:conformance", "--test_output=errors", "--verbose_failures", *options]
        command += [f"--override_repository={name}={folder}" for name, folder in self.repositories.items()]
        return subprocess.run(command, cwd=self.workspace, capture_output=True, text=True, timeout=240, check=False,
                              env=os.environ | {"PATH": merged_result.search_path(), "HOME": str(self.folder)})

    def shard(self, number):
        return self.workspace / f"bazel-testlogs/conformance/shard_{number}_of_{SHARDS}"

    def results(self):
        """The results of all shards, which Bazel has put into archives."""
        for number in range(1, SHARDS + 1):
            result = self.folder / f"shard-{number}.json"
            with zipfile.ZipFile(self.shard(number) / "test.outputs/outputs.zip") as archive:
                result.write_bytes(archive.read("result.json"))
            yield result

    def run_program(self, *words):
        # Bazel's sandbox contains the cases below the program's working directory, so use the same layout here.
        return subprocess.run([PROGRAM, *words], cwd=self.workspace, capture_output=True, text=True, check=False)

    def test_a_failure_is_that_of_one_shard_and_of_the_merged_result(self):
        done = self.bazel()
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertIn("FAILED in 1 out of 4", done.stdout)
        failed = [number for number in range(1, SHARDS + 1)
                  if re.search(r'failures="[1-9]', (self.shard(number) / "test.xml").read_text(encoding="utf-8"))]
        self.assertEqual(len(failed), 1)
        self.assertIn('name="wrong/wrong"', (self.shard(failed[0]) / "test.xml").read_text(encoding="utf-8"))
        merged, single = self.folder / "merged.json", self.folder / "single.json"
        self.assertEqual(self.run_program("merge", *self.results(), "--json", merged).returncode, 1)
        self.assertEqual(self.run_program("run", "cases", "--engine=cpu", "--json", single).returncode, 1)
        self.assertEqual(merged_result.differences(merged, single), [])

        done = self.bazel("--test_filter=examples/gemm/*")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        merged = self.folder / "filtered.json"
        self.assertEqual(self.run_program("merge", *self.results(), "--json", merged).returncode, 0)
        self.assertEqual(self.run_program("run", "cases", "--engine=cpu", "--filter=examples/gemm/*", "--json",
                                          single).returncode, 0)
        self.assertEqual(merged_result.differences(merged, single), [])


def main():
    merged_result.skip_without("bazel")
    unittest.main(argv=sys.argv[:1])


if __name__ == "__main__":
    main()
