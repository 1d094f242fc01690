// libFuzzer target for reading and validating a case file. Any bytes must give either a suite or problems.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/cases/case_file.h"
#include "engine/operators/rules.h"

namespace {

/// Tensors up to this size are filled as well; larger ones would only slow down fuzzing.
constexpr std::uint64_t most_bytes = 1 << 16;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace dmlconform;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const cases::Suite suite =
        cases::read_case_file("fuzz.json", text, {.allow_external_data = false, .most_cases = 200});
    for (const cases::Problem& problem : suite.problems) {
        if (cases::to_string(problem).empty()) {
            __builtin_trap();
        }
    }
    for (const cases::Case& entry : suite.cases) {
        if (!suite.problems.empty() || operators::validate(*entry.descriptor, core::highest_feature_level)) {
            continue;
        }
        const auto slots = entry.descriptor->inputs();
        for (std::size_t i = 0; i < slots.size(); ++i) {
            if (slots[i].desc == nullptr || !entry.inputs[i] || slots[i].desc->total_bytes > most_bytes ||
                *core::element_count(slots[i].desc->sizes) > most_bytes) {
                continue;
            }
            core::Tensor tensor(*slots[i].desc);
            (void)entry.inputs[i]->fill(tensor);
        }
    }
    return 0;
}
