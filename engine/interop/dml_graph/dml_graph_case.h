// Converts a serialised DirectML graph to a case: the graph and data for its inputs.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/cases/case.h"
#include "engine/core/error.h"

namespace dmlconform::interop {

struct DmlGraphOptions {
    /// .npy files by the file's name of an input.
    std::map<std::string, std::filesystem::path> inputs;
    /// Seed of random data.
    std::uint64_t seed = 1;
};

struct DmlGraphCase {
    std::shared_ptr<const cases::Case> subject;
    /// The file's names of the inputs, in the order of Case::inputs; empty for a constant.
    std::vector<std::string> inputs;
    /// The file's names of the outputs, in the order of Case::expected.
    std::vector<std::string> outputs;
    /// Notes for the user.
    std::vector<std::string> notes;
};

/// Reads a graph. Inputs without a file use random data. The case is called "<file stem>/graph". Errors do not contain
/// the file's name.
[[nodiscard]] core::Result<DmlGraphCase> read_dml_graph_case(const std::filesystem::path& path,
                                                             const DmlGraphOptions& options = {});

}  // namespace dmlconform::interop
