// Computes each softmax, hardmax and gradient by the kernel of every other operator of the family with the same fields.
// A case of the operator must detect the replacement.
#include <gtest/gtest.h>

#include <string_view>

#include "tests/mutants/computing_engine.h"

namespace dmlconform::tests::kernel_mutants_test {
namespace {

/// By the names of operators, because files of kernels are named without their folder.
bool is_of_the_family(std::string_view name) {
    return name.find("SOFTMAX") != name.npos || name.find("HARDMAX") != name.npos ||
           name.starts_with("BATCH_NORMALIZATION");
}

std::vector<const cpu::Kernel*> family() {
    std::vector<const cpu::Kernel*> kernels;
    for (const auto& file : cpu::kernels) {
        for (const cpu::Kernel& kernel : file.rows()) {
            if (is_of_the_family(kernel.name)) {
                kernels.push_back(cpu::find_kernel(kernel.name));
            }
        }
    }
    return kernels;
}

bool have_same_fields(const cpu::Kernel& a, const cpu::Kernel& b) {
    return std::ranges::equal(operators::find_operator(a.name)->fields, operators::find_operator(b.name)->fields,
                              [](const operators::Field& left, const operators::Field& right) {
                                  return left.name == right.name && left.type == right.type;
                              });
}

TEST(KernelMutants, AreCaught) {
    std::size_t mutants = 0;
    for (const cpu::Kernel* kernel : family()) {
        const std::vector<cases::Case> subjects = cases_of(kernel->name);
        ASSERT_FALSE(subjects.empty()) << kernel->name;
        ASSERT_EQ(catching(subjects, kernel->compute), "") << "fails without a mutant";
        for (const cpu::Kernel* other : family()) {
            if (other != kernel && have_same_fields(*kernel, *other)) {
                EXPECT_NE(catching(subjects, other->compute), "")
                    << "no case of " << kernel->name << " tells it from " << other->name;
                ++mutants;
            }
        }
    }
    // Three softmaxes and hardmaxes replace each other, with axes and without, and so do the two gradients.
    EXPECT_EQ(mutants, 2u * 3 * 2 + 2);
}

}  // namespace
}  // namespace dmlconform::tests::kernel_mutants_test
