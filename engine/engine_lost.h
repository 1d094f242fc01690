// The end of an engine that runs outside of this process: it crashed, hangs, or does not keep to its protocol.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace dmlconform {

/// Thrown by any call to an engine, or to an executable of its, that runs in another process. Executables are lost with
/// it; the engine itself starts anew with the next descriptor.
class EngineLost : public std::runtime_error {
public:
    enum class Kind : std::uint8_t {
        crashed,      // the process ended
        timed_out,    // it did not answer in time, and was ended
        broken,       // it answered what it must not, or could not be started again
        interrupted,  // the user ends the run, and it would have to be waited for
    };

    EngineLost(Kind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}

    [[nodiscard]] Kind kind() const { return kind_; }

private:
    Kind kind_;
};

}  // namespace dmlconform
