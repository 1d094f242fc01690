// An engine that computes nothing: its outputs were computed elsewhere, and are in files.
#pragma once

#include <memory>
#include <string>

#include "engine/core/error.h"
#include "engine/engine.h"

namespace dmlconform::outputs {

/// The engine of that name, which is outputs_prefix and a folder. The folder has a folder for each case, called by
/// cases::case_folder_name, with a file for each output: "OutputTensor.npy" as cases::tensor_file_name calls it, or
/// "output_0.pb" by its number among the outputs that are not absent. A file "engine.json" beside these folders may say
/// what computed them, with the members adapter, driver, libraries and featureLevel of a worker's `info`. An error when
/// there is no such folder, or engine.json is not as it must be.
[[nodiscard]] core::Result<std::unique_ptr<Engine>> create_outputs_engine(const std::string& name,
                                                                          core::FeatureLevel feature_level);

}  // namespace dmlconform::outputs
