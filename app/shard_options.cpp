// Determines the shard from options, otherwise from the environment.
#include "app/shard_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "app/messages.h"
#include "app/standard_streams.h"
#include "engine/report/output_file.h"
#include "engine/report/recorded_times.h"

namespace dmlconform::app {
namespace {

std::optional<std::string> variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

/// The variable's value; empty if it is not set.
std::string text_of(const char* name) {
    return variable(name).value_or("");
}

core::Result<void> touch(const std::string& path) {
    const auto done = report::append_to_file(path, "");
    return done ? core::Result<void>()
                : core::fail("the file by which a test runner sees that shards are known: " + done.error().message,
                             done.error().hint);
}

/// Adds the patterns of GTEST_FILTER. Negative patterns are not supported.
core::Result<void> add_gtest_filters(const std::string& text, std::vector<std::string>& filters) {
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(':', begin), text.size());
        const std::string pattern = text.substr(begin, end - begin);
        if (pattern.starts_with("-")) {
            return core::fail(fmt::format("GTEST_FILTER={}: patterns to leave out are not known here", text),
                              "unset GTEST_FILTER, or give --filter");
        }
        if (!pattern.empty()) {
            filters.push_back(pattern);
        }
        begin = end + 1;
    }
    return {};
}

/// The path in "xml:PATH"; empty for other values. In a folder, the file gets the program's name.
std::string path_of_gtest_output(const std::string& text) {
    if (!text.starts_with("xml:")) {
        return "";
    }
    const std::string path = text.substr(4);
    return path.ends_with("/") ? path + "dmlconform.xml" : path;
}

}  // namespace

void ShardOptions::add_to(Command command) {
    command
        .add_option("--shard", shard,
                    "Run one of N parts of the cases, from 1/N to N/N. Default: the part that the environment's "
                    "TEST_SHARD_INDEX, GTEST_SHARD_INDEX or SLURM_ARRAY_TASK_ID asks for, or all cases")
        .type_name("I/N");
    command
        .add_option(
            "--durations", durations,
            "Divide the cases so that shards take equally long, by the times in this result (`--json`). Give all "
            "shards the same file")
        .path("RESULT");
}

core::Result<std::optional<run::Shard>> choose_shard(const ShardOptions& options) {
    const auto asked = run::shard_of_environment(variable);
    if (!options.shard.empty()) {
        const auto shard = run::parse_shard(options.shard);
        if (!shard) {
            return core::fail("--shard: " + shard.error().message, shard.error().hint);
        }
        if (!asked || (*asked && (*asked)->shard != *shard)) {
            warn("dmlconform: --shard {} counts, not the environment's {}\n", run::to_string(*shard),
                 asked ? (*asked)->source : "shard");
        }
        return *shard;
    }
    if (!asked) {
        return tl::unexpected(asked.error());
    }
    if (!*asked) {
        return options.durations.empty() ? core::Result<std::optional<run::Shard>>(std::nullopt)
                                         : core::fail("--durations is for shards", "give --shard I/N with it");
    }
    if (!(*asked)->status_file.empty()) {
        if (auto touched = touch((*asked)->status_file); !touched) {
            return tl::unexpected(touched.error());
        }
    }
    return (*asked)->shard;
}

core::Result<run::ShardInfo> take_shard(const ShardOptions& options, const run::Shard& shard, Selection& selection) {
    run::ShardInfo info{shard, selection.ids.size(), 0, run::fingerprint_of(selection.ids), !options.durations.empty()};
    if (options.durations.empty()) {
        selection.selector.shard = std::make_shared<const run::ShardPlan>(shard);
    } else {
        const auto durations = report::recorded_times(options.durations);
        if (!durations) {
            return tl::unexpected(durations.error());
        }
        selection.selector.shard = std::make_shared<const run::ShardPlan>(shard, selection.ids, *durations);
    }
    for (const std::uint64_t id : selection.ids) {
        info.cases += selection.selector.shard->contains(id) ? 1 : 0;
    }
    selection.count = info.cases;
    return info;
}

core::Result<void> apply_test_environment(std::vector<std::string>& filters, std::string& junit) {
    const std::string only = text_of("TESTBRIDGE_TEST_ONLY");
    const std::string gtest_filter = text_of("GTEST_FILTER");
    if (!filters.empty() && !(only.empty() && gtest_filter.empty())) {
        warn("dmlconform: --filter counts, not the environment's {}\n",
             only.empty() ? "GTEST_FILTER" : "TESTBRIDGE_TEST_ONLY");
    } else if (!only.empty()) {
        filters.push_back(only);
    } else if (auto added = add_gtest_filters(gtest_filter, filters); !added) {
        return added;
    }
    const std::string bazel = text_of("XML_OUTPUT_FILE");
    const std::string path = bazel.empty() ? path_of_gtest_output(text_of("GTEST_OUTPUT")) : bazel;
    if (!junit.empty() && !path.empty() && junit != path) {
        warn("dmlconform: --junit counts, not the environment's {}\n", path);
    } else if (junit.empty()) {
        junit = path;
    }
    return {};
}

}  // namespace dmlconform::app
