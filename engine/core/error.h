// Errors that a user can cause. They are values with a reason and a hint, never exceptions.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace dmlconform::core {

/// `message`: what went wrong, in one sentence. `hint`: what the reader can do about it; may be empty.
struct Error {
    std::string message;
    std::string hint;
};

template <class T>
using Result = tl::expected<T, Error>;

[[nodiscard]] inline tl::unexpected<Error> fail(std::string message, std::string hint = {}) {
    return tl::unexpected(Error{std::move(message), std::move(hint)});
}

}  // namespace dmlconform::core
