// Reads result files one result at a time, because they may be large.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/error.h"
#include "engine/run/result.h"

namespace dmlconform::report {

/// The status of that name.
[[nodiscard]] std::optional<run::Status> status_named(std::string_view name);

/// An engine as described in a result file.
struct StoredEngine {
    std::string name;
    std::string adapter;
    /// Empty if there is none.
    std::string driver;
};

/// The members of a result file that describe the whole run.
struct ResultHeader {
    std::vector<StoredEngine> engines;
    /// UTC, ISO 8601.
    std::string started;
    /// The processor's name; empty if the file does not have it.
    std::string machine;
};

/// Called with each result after checking it: the members that docs/result-format.md requires are present with the
/// right types, and times are not negative. An error stops the reading.
using ResultVisitor = std::function<core::Result<void>(nlohmann::ordered_json& result)>;

/// Reads a file that `dmlconform run --json` wrote. Memory does not grow with the number of results. Errors name the
/// file and the member: the file is unreadable, in another format or version, truncated, or has duplicate or invalid
/// members. If `everything` is given, it becomes the document with an empty list of results.
[[nodiscard]] core::Result<ResultHeader> read_result_file(const std::string& path, const ResultVisitor& visit,
                                                          nlohmann::ordered_json* everything = nullptr);

/// True if the file begins like a result file. False if it cannot be read.
[[nodiscard]] bool is_result_file(const std::string& path);

}  // namespace dmlconform::report
