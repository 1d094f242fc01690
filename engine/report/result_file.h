// Reading of result files, one result at a time: there may be many.
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

/// An engine, as a result file names it.
struct StoredEngine {
    std::string name;
    std::string adapter;
    /// Empty where there is none.
    std::string driver;
};

/// What a result file says of the run as a whole.
struct ResultHeader {
    std::vector<StoredEngine> engines;
    /// UTC, ISO 8601.
    std::string started;
    /// The processor's name; empty in files that do not have it.
    std::string machine;
};

/// Is given each result as it is in the file, checked: the members that docs/result-format.md calls for are there, with
/// the types that they should have, and times are not negative. An error ends the reading.
using ResultVisitor = std::function<core::Result<void>(nlohmann::ordered_json& result)>;

/// Reads a file that `dmlconform run --json` wrote. Memory does not grow with the number of results. Errors name the
/// file and the member: what cannot be read, is not such a file, is of another version, is cut off, has a member twice,
/// or has no sense.
/// `everything`, if given, becomes the document with an empty list of results.
[[nodiscard]] core::Result<ResultHeader> read_result_file(const std::string& path, const ResultVisitor& visit,
                                                          nlohmann::ordered_json* everything = nullptr);

/// Whether the file begins as a result file does. False when it cannot be read.
[[nodiscard]] bool is_result_file(const std::string& path);

}  // namespace dmlconform::report
