// What folders and files are called that hold the data of a case: names that are the same on every system, and that
// lead nowhere else.
#pragma once

#include <string>

#include "engine/core/tensor_desc.h"

namespace dmlconform::cases {

/// Letters, digits and `_ . -` of the text, and `-` for everything else. Neither empty, nor hidden, nor "..", nor with
/// an end that Windows would cut off.
[[nodiscard]] std::string harmless_name(const std::string& text);

/// A folder for each case: "slice1-basic-T-FLOAT16-3f0a8c1d2b4e5f60". The end is a hash of the id, so that ids that
/// differ only in what a name cannot hold have folders of their own. At most 100 characters.
[[nodiscard]] std::string case_folder_name(const std::string& id);

/// A tensor's name, as TensorSlot has it, as a file: "OutputTensor.npy", "OutputTensors-1.npy". See data_file_ending. A
/// name that a file cannot have, of a graph's value, gets a hash at its end.
[[nodiscard]] std::string tensor_file_name(std::string name, core::DataType type);

}  // namespace dmlconform::cases
