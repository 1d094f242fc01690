// Writing cases as case files that a person can read and this program reads back.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "engine/cases/case.h"
#include "engine/core/error.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::cases {

struct WriteOptions {
    /// Tensors of more elements than this are handed to `store`, if there is one; the others are lists in the file.
    std::size_t most_inline = 256;
    /// Puts a tensor into a file, and returns its path relative to the case file. `what` is "inputs" or "expected",
    /// `name` the tensor's, as in TensorSlot.
    std::function<core::Result<std::string>(std::string_view what, const std::string& name, const core::Tensor&)>
        store{};
};

/// The case as an object of a case file's "cases". Its name is what comes after the first "/" of the id, with "-" for
/// what a name cannot hold: the brackets of a sweep's expansion. An error where data of the case cannot be read, or
/// would take more than a gigabyte.
[[nodiscard]] core::Result<nlohmann::ordered_json> case_to_json(const Case& subject, const WriteOptions& options = {});

/// What becomes of counts that only repeat the length of an array.
enum class Counts : std::uint8_t { left_out, written };

/// The descriptor as it is written under "desc": absent tensors and whatever is as it is by default left out.
[[nodiscard]] nlohmann::ordered_json desc_to_json(const operators::Descriptor& descriptor,
                                                  Counts counts = Counts::left_out);

/// A whole case file, with a line break at its end.
[[nodiscard]] std::string case_file_text(const std::string& description, std::span<const nlohmann::ordered_json> cases);

/// The part of an id before the first "/": the stem of the file that such a case has to be in.
[[nodiscard]] std::string file_stem(const std::string& id);

/// What comes after it, as case_to_json writes it.
[[nodiscard]] std::string case_name(const std::string& id);

}  // namespace dmlconform::cases
