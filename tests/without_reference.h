// An operator whose reference is left out for as long as an object lives: how the program treats an operator that has
// none can be tested whether or not there still is one.
#pragma once

#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): setenv is not in <cstdlib>

#include "engine/cpu/left_out.h"

namespace dmlconform::tests {

class WithoutReference {
public:
    /// Names of operators, with commas between them.
    explicit WithoutReference(const char* operators) { leave_out(operators); }
    ~WithoutReference() { leave_out(""); }
    WithoutReference(const WithoutReference&) = delete;
    WithoutReference& operator=(const WithoutReference&) = delete;
    WithoutReference(WithoutReference&&) = delete;
    WithoutReference& operator=(WithoutReference&&) = delete;

private:
    /// In this process, and in those that it starts.
    static void leave_out(const char* operators) {
        cpu::leave_out(operators);
        setenv("DMLCONFORM_WITHOUT_REFERENCE", operators, 1);
    }
};

}  // namespace dmlconform::tests
