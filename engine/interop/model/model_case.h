// Converts a model to a case: its graph, data for its inputs, and expected outputs if there are any.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "engine/cases/case.h"
#include "engine/interop/model/importer.h"

namespace dmlconform::interop {

struct ModelCaseOptions {
    /// Sizes of symbolic dimensions.
    std::map<std::string, std::uint32_t> dimensions = {};
    /// Sizes of inputs without a file, by the model's names; they override those of the model.
    std::map<std::string, core::Dimensions> input_sizes = {};
    /// Data files by the model's name of an input, or of the output of a node that is not in the graph.
    std::map<std::string, std::filesystem::path> inputs = {};
    /// Seed of random data.
    std::uint64_t seed = 1;
    /// The case will be run, and its nodes judged: see memory_limit.h.
    bool is_judged = false;
};

struct ModelCase {
    std::shared_ptr<const cases::Case> subject;
    ImportedModel model;
};

/// Reads a model. Inputs without a file use the data of test_data_set_0 beside the model, otherwise random data. The
/// case is called "<file stem>/model". Errors do not contain the file's name.
[[nodiscard]] core::Result<ModelCase> read_model_case(const std::filesystem::path& path,
                                                      const ModelCaseOptions& options = {});

}  // namespace dmlconform::interop
