// Writes cases as case files that are readable for people and that the reader accepts.
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
    /// Tensors with more elements are passed to `store`, if it is set. Smaller ones become lists in the case file.
    std::size_t most_inline = 256;
    /// Writes a tensor to a file and returns its path relative to the case file. `what` is "inputs" or "expected",
    /// `name` is the tensor's name as in TensorSlot.
    std::function<core::Result<std::string>(std::string_view what, const std::string& name, const core::Tensor&)>
        store{};
};

/// The case as an element of a case file's "cases". Its name is the part of the id after the first "/", with "-" for
/// characters that names cannot have, such as the brackets of a sweep's expansion. Fails if the case's data cannot be
/// read or exceeds a gigabyte.
[[nodiscard]] core::Result<nlohmann::ordered_json> case_to_json(const Case& subject, const WriteOptions& options = {});

/// Whether to write counts, which only repeat the length of an array.
enum class Counts : std::uint8_t { left_out, written };

/// The descriptor in the form of a case file's "desc", without absent tensors and default values.
[[nodiscard]] nlohmann::ordered_json desc_to_json(const operators::Descriptor& descriptor,
                                                  Counts counts = Counts::left_out);

/// The text of a case file, with a final line break.
[[nodiscard]] std::string case_file_text(const std::string& description, std::span<const nlohmann::ordered_json> cases);

/// The part of an id before the first "/". The case must be in a file with this stem.
[[nodiscard]] std::string file_stem(const std::string& id);

/// The part of an id after the first "/", as case_to_json writes it.
[[nodiscard]] std::string case_name(const std::string& id);

}  // namespace dmlconform::cases
