// Failures of engines in other processes: they crash, hang, or violate the protocol.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace dmlconform {

/// Thrown by any call to an engine in another process or to its executables. The executables are lost; the engine
/// restarts with the next descriptor.
class EngineLost : public std::runtime_error {
public:
    enum class Kind : std::uint8_t {
        crashed,      // the process ended
        timed_out,    // it did not answer in time and was ended
        broken,       // it sent an invalid answer, or could not be restarted
        interrupted,  // the user interrupts the run while the engine is busy
    };

    EngineLost(Kind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}

    [[nodiscard]] Kind kind() const { return kind_; }

private:
    Kind kind_;
};

}  // namespace dmlconform
