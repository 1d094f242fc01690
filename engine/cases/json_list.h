// Large JSON documents that are one long list, read element by element: results, and benchmarks.
#pragma once

#include <functional>
#include <istream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "engine/core/error.h"

namespace dmlconform::cases {

/// Is given an element and its index, and may keep the element. An error ends the reading.
using JsonListVisitor = std::function<core::Result<void>(nlohmann::ordered_json& element, std::size_t index)>;

/// Reads a document that is an object with the member `list`, an array. Each of its elements is shown to `visit`; the
/// result is everything else, with an empty array in its place. (A document that is something else is the result as a
/// whole.) Memory does not grow with the number of elements.
///
/// `path` is for messages. Errors: what is not JSON or not all of it, text that is not UTF-8, a key twice in one
/// object, more than 64 levels of nesting, an element, or all the rest, that takes more than 64 MiB; and those of
/// `visit`.
[[nodiscard]] core::Result<nlohmann::ordered_json> read_json_list(const std::string& path, std::istream& stream,
                                                                  std::string_view list, const JsonListVisitor& visit);

}  // namespace dmlconform::cases
