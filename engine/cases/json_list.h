// Reads large JSON documents that consist of one long list element by element, such as results and benchmarks.
#pragma once

#include <functional>
#include <istream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "engine/core/error.h"

namespace dmlconform::cases {

/// Receives an element, which it may keep, and the index of the element. An error stops the reading.
using JsonListVisitor = std::function<core::Result<void>(nlohmann::ordered_json& element, std::size_t index)>;

/// Reads a document that is an object whose member `list` is an array, and passes each element of the array to `visit`.
/// Returns the rest of the document, with an empty array as the list. Any other document is returned unchanged. Memory
/// does not grow with the number of elements.
///
/// `path` is for messages. Fails for text that is not a complete JSON document or not UTF-8, a duplicate key, more than
/// 64 levels of nesting, and an element or a rest of more than 64 MiB; and if `visit` fails.
[[nodiscard]] core::Result<nlohmann::ordered_json> read_json_list(const std::string& path, std::istream& stream,
                                                                  std::string_view list, const JsonListVisitor& visit);

}  // namespace dmlconform::cases
