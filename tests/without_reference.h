// Hides the references of operators during the object's lifetime, so that tests of operators without a reference do not
// depend on which operators have one.
#pragma once

#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): setenv is not in <cstdlib>

#include "engine/cpu/left_out.h"

namespace dmlconform::tests {

class WithoutReference {
public:
    /// Names of operators, separated by commas.
    explicit WithoutReference(const char* operators) { leave_out(operators); }
    ~WithoutReference() { leave_out(""); }
    WithoutReference(const WithoutReference&) = delete;
    WithoutReference& operator=(const WithoutReference&) = delete;
    WithoutReference(WithoutReference&&) = delete;
    WithoutReference& operator=(WithoutReference&&) = delete;

private:
    /// Applies to this process, and to those that it starts.
    static void leave_out(const char* operators) {
        cpu::leave_out(operators);
        setenv("DMLCONFORM_WITHOUT_REFERENCE", operators, 1);
    }
};

}  // namespace dmlconform::tests
