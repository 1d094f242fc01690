// Notes which operations an interval went through: see IntervalHistory.
#pragma once

#include <string_view>

#include "engine/cpu/interval.h"

namespace dmlconform::cpu {

struct IntervalNotes {
    static void add(std::string_view operation, std::string_view error) {
        if (current != nullptr) {
            write(operation, error);
        }
    }

private:
    friend class IntervalHistory;

    static void write(std::string_view operation, std::string_view error);

    /// Null if nobody wants to know.
    static constinit thread_local IntervalHistory* current;
};

}  // namespace dmlconform::cpu
