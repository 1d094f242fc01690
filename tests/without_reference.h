// An operator whose reference is left out for as long as an object lives: how the program treats an operator that has
// none can be tested whether or not there still is one.
#pragma once

#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): setenv is not in <cstdlib>

namespace dmlconform::tests {

class WithoutReference {
public:
    /// Names of operators, with commas between them.
    explicit WithoutReference(const char* operators) { setenv(variable, operators, 1); }
    ~WithoutReference() { unsetenv(variable); }
    WithoutReference(const WithoutReference&) = delete;
    WithoutReference& operator=(const WithoutReference&) = delete;
    WithoutReference(WithoutReference&&) = delete;
    WithoutReference& operator=(WithoutReference&&) = delete;

    static constexpr const char* variable = "DMLCONFORM_WITHOUT_REFERENCE";
};

}  // namespace dmlconform::tests
