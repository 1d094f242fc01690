// Computes parts that fit the smallest cache.
#include "engine/cpu/chain_of_runs.h"

#include <algorithm>
#include <array>

#include "engine/cpu/parallel.h"
#include "engine/cpu/prefetch.h"
#include "engine/cpu/wide_registers.h"

namespace dmlconform::cpu {
namespace {

/// Elements of all runs: [run][element].
struct alignas(register_bytes) Part {
    std::array<float, most_part_elements * ChainOfRuns::most_runs> elements;
};

void collect(std::span<const float* const> from, std::int64_t first, std::int64_t count, float* to) {
    for (const float* const elements : from) {
        to = std::copy_n(elements + first, count, to);
    }
}

}  // namespace

void ChainOfRuns::compute(std::int64_t first, std::int64_t count, std::size_t runs, float* elements) const {
    // Zeros would take long, and what is read is written before.
    std::array<Part, most_inputs> given;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    std::array<Part, 2> computed;         // NOLINT(cppcoreguidelines-pro-type-member-init)
    std::array<const float*, most_inputs> in{};
    const float* before = elements;
    float* after = computed[0].elements.data();
    float* next = computed[1].elements.data();
    for (const ChainLink& link : links_) {
        for (std::size_t i = 0; i < link.given.size(); ++i) {
            in[i] = before;
            if (!link.given[i].empty()) {
                collect(link.given[i], first, count, given[i].elements.data());
                in[i] = given[i].elements.data();
            }
        }
        link.formula->compute(first, count, runs, std::span(in).first(link.given.size()), after);
        if (link.noise != nullptr) {
            link.noise->add_to_part(first, count, runs, after);
        }
        before = after;
        std::swap(after, next);
    }
    std::copy_n(before, static_cast<std::size_t>(count) * runs, elements);
}

void ChainOfRuns::prefetch(std::int64_t first, std::int64_t count) const {
    for (const ChainLink& link : links_) {
        for (const auto& of_runs : link.given) {
            for (const float* const elements : of_runs) {
                prefetch_all(elements + first, count);
            }
        }
        if (link.noise != nullptr) {
            link.noise->prefetch_part(first, count);
        }
    }
}

void ChainOfRuns::compute_all(std::int64_t count, std::span<float* const> outputs) const {
    const std::int64_t parts = (count + most_part_elements - 1) / most_part_elements;
    const auto cost = static_cast<std::int64_t>(outputs.size() * links_.size()) * most_part_elements * 20;
    parallel_for(parts, cost, [&](std::int64_t first_part, std::int64_t last_part) {
        Part part;  // NOLINT(cppcoreguidelines-pro-type-member-init)
        for (std::int64_t first = first_part * most_part_elements;
             first < std::min(count, last_part * most_part_elements); first += most_part_elements) {
            const std::int64_t here = std::min(most_part_elements, count - first);
            compute(first, here, outputs.size(), part.elements.data());
            const float* from = part.elements.data();
            for (float* const output : outputs) {
                std::copy_n(from, here, output + first);
                from += here;
            }
        }
    });
}

}  // namespace dmlconform::cpu
