// The options for sharded runs, and the environment variables of test runners and batch systems.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/command.h"
#include "engine/run/shard.h"

namespace dmlconform::app {

struct ShardOptions {
    std::string shard;
    /// A result to take durations from.
    std::string durations;

    void add_to(Command command);
};

/// The requested shard, by option or environment; empty for a run of all cases. Creates the file that tells a test
/// runner that shards are supported. Reports on stderr if the option overrides the environment.
[[nodiscard]] core::Result<std::optional<run::Shard>> choose_shard(const ShardOptions& options);

/// Keeps only the shard's cases in the selection, which must contain the ids.
[[nodiscard]] core::Result<run::ShardInfo> take_shard(const ShardOptions& options, const run::Shard& shard,
                                                      Selection& selection);

/// Sets the filter and the path of the JUnit file from the environment of Bazel or GoogleTest (TESTBRIDGE_TEST_ONLY,
/// XML_OUTPUT_FILE; GTEST_FILTER, GTEST_OUTPUT). Options take precedence.
[[nodiscard]] core::Result<void> apply_test_environment(std::vector<std::string>& filters, std::string& junit);

}  // namespace dmlconform::app
