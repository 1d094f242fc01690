// Initialiser with an arithmetic sequence: element i is start + i * step. It is exact for integers and rounded once for
// floating point.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "engine/cases/element_reader.h"
#include "engine/cases/sources/sources.h"
#include "engine/cases/tensor_desc_reader.h"
#include "engine/core/checked.h"
#include "engine/core/element.h"

namespace dmlconform::cases {
namespace {

/// T is an integer type. Arithmetic modulo 2^64 in two's complement gives each element exactly.
class IntegerSequence final : public ElementSource {
public:
    IntegerSequence(std::uint64_t start, std::uint64_t step) : start_(start), step_(step) {}

    [[nodiscard]] core::Result<void> write(core::DataType type, std::span<std::byte> elements) const override {
        if (core::bytes_of(type) == 0) {
            for (std::size_t i = 0; i < 2 * elements.size(); ++i) {
                core::store_element(elements, type, i, start_ + i * step_);
            }
            return {};
        }
        core::with_type(type, [&]<class T>() {
            if constexpr (std::is_integral_v<T>) {
                T* const target = reinterpret_cast<T*>(elements.data());
                for (std::size_t i = 0; i < elements.size() / sizeof(T); ++i) {
                    target[i] = static_cast<T>(start_ + i * step_);
                }
            }
        });
        return {};
    }

private:
    std::uint64_t start_;
    std::uint64_t step_;
};

class FloatSequence final : public ElementSource {
public:
    FloatSequence(double start, double step) : start_(start), step_(step) {}

    [[nodiscard]] core::Result<void> write(core::DataType type, std::span<std::byte> elements) const override {
        core::with_type(type, [&]<class T>() {
            T* const target = reinterpret_cast<T*>(elements.data());
            for (std::size_t i = 0; i < elements.size() / sizeof(T); ++i) {
                target[i] = static_cast<T>(start_ + static_cast<double>(i) * step_);
            }
        });
        return {};
    }

private:
    double start_;
    double step_;
};

std::uint64_t two_complement(core::Integer value) {
    return value.negative ? std::uint64_t{0} - value.magnitude : value.magnitude;
}

/// True if start + step * i is in the range of the type for all elements. `start` must be in range.
bool integers_fit(core::DataType type, core::Integer start, core::Integer step, std::uint64_t count) {
    const auto distance = core::checked_multiply(step.magnitude, count == 0 ? 0 : count - 1);
    const std::uint32_t bits = core::bits_of(type);
    const std::uint64_t all = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
    const std::uint64_t lowest = core::is_signed_integer(type) ? (all >> 1) + 1 : 0;  // magnitude of the smallest value
    // Distance of the start from the type's smallest value; `all` is the distance of the largest one.
    const std::uint64_t above = lowest + two_complement(start);
    return distance && *distance <= (step.negative ? above & all : all - (above & all));
}

const JsonValue* either(const JsonValue& object, std::string_view key, std::string_view synonym) {
    const JsonValue* value = object.find(key);
    return value != nullptr ? value : object.find(synonym);
}

SourcePointer read_numbers(const JsonValue& start, const JsonValue& step, core::DataType type, std::uint64_t count,
                           ProblemSink& problems) {
    const bool integers = !core::is_floating_point(type);
    for (const JsonValue* value : {&start, &step}) {
        if (integers ? !integer_of(*value) : !number_of(*value)) {
            problems.add(value->offset, fmt::format("start and step must be {} for {}",
                                                    integers ? "integers" : "numbers", core::name(type)));
            return nullptr;
        }
    }
    if (const auto first = read_element(start, type); !first) {
        problems.add(start.offset, first.error().message, first.error().hint);
        return nullptr;
    }
    const double last = *number_of(start) + static_cast<double>(count == 0 ? 0 : count - 1) * *number_of(step);
    const bool fits = integers ? integers_fit(type, *integer_of(start), *integer_of(step), count)
                               : std::isfinite(last) && core::encode_element(type, last).has_value();
    if (!fits) {
        problems.add(step.offset, fmt::format("the sequence leaves the range of {} within {} elements ({})",
                                              core::name(type), count, core::range_of(type)));
        return nullptr;
    }
    if (integers) {
        return std::make_shared<IntegerSequence>(two_complement(*integer_of(start)), two_complement(*integer_of(step)));
    }
    return std::make_shared<FloatSequence>(*number_of(start), *number_of(step));
}

}  // namespace

SourcePointer read_sequence(const JsonValue& object, const core::TensorDesc& desc, ProblemSink& problems) {
    static const std::array<std::string, 4> keys{"start", "step", "valueStart", "valueDelta"};
    const JsonValue* start = either(object, "start", "valueStart");
    const JsonValue* step = either(object, "step", "valueDelta");
    if (start == nullptr || step == nullptr || object.object()->size() != 2) {
        check_keys(object, keys, "a sequence", problems);
        problems.add(object.offset, "a sequence has a \"start\" and a \"step\", and nothing else");
        return nullptr;
    }
    return read_numbers(*start, *step, desc.data_type, core::element_count(desc.sizes).value_or(0), problems);
}

}  // namespace dmlconform::cases
