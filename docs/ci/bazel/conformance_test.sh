#!/bin/sh
# Runs the shard that Bazel asks for: dmlconform reads TEST_TOTAL_SHARDS, TEST_SHARD_INDEX, XML_OUTPUT_FILE and
# TESTBRIDGE_TEST_ONLY itself. The complete result is kept among the test's outputs.
#
# usage: conformance_test.sh DMLCONFORM PATH… [OPTION…]
set -eu

program=$1
shift
exec "$program" run "$@" --json "${TEST_UNDECLARED_OUTPUTS_DIR:-${TEST_TMPDIR:-.}}/result.json"
