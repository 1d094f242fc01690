// Reading of initialisers, and filling tensors from them.
#include "engine/cases/initialiser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/cases/element_reader.h"
#include "engine/cases/tensor_desc_reader.h"
#include "engine/core/checked.h"
#include "engine/core/element.h"

namespace dmlconform::cases {
namespace {

// ---- lists -------------------------------------------------------------------------------------------------------

class ListReader {
public:
    ListReader(const core::TensorDesc& desc, ProblemSink& problems) : desc_(desc), problems_(problems) {}

    std::optional<Initialiser> read(const JsonValue& list) {
        const std::size_t before = problems_.count();
        const auto& items = *list.array();
        if (items.empty() || items.front().array() == nullptr) {
            check_count(list, items.size(), core::element_count(desc_.sizes), core::to_string(desc_.sizes));
            read_elements(items);
        } else {
            read_nested(list, 0);
        }
        if (problems_.count() == before) {
            check_repeated(list);
        }
        if (problems_.count() != before) {
            return std::nullopt;
        }
        return Initialiser(ListData{std::make_shared<const std::vector<std::byte>>(std::move(bytes_))});
    }

private:
    void check_count(const JsonValue& list, std::size_t found, std::optional<std::uint64_t> wanted,
                     const std::string& what) {
        if (wanted != found) {
            problems_.add(list.offset, fmt::format("{} elements for {}", found, what),
                          wanted ? fmt::format("it takes {}", *wanted) : "that product does not fit 64 bits");
        }
    }

    void read_nested(const JsonValue& list, std::size_t depth) {
        const auto* items = list.array();
        if (items == nullptr) {
            return problems_.add(list.offset,
                                 fmt::format("expected an array of dimension {}, found {}", depth, list.kind_name()),
                                 "nest arrays as deep as the tensor has dimensions, or list all elements flat");
        }
        if (depth == desc_.sizes.size()) {
            return problems_.add(list.offset, fmt::format("nested deeper than the {} dimensions of the tensor", depth));
        }
        check_count(list, items->size(), desc_.sizes[depth],
                    fmt::format("dimension {} of {}", depth, core::to_string(desc_.sizes)));
        if (depth + 1 == desc_.sizes.size()) {
            return read_elements(*items);
        }
        for (const JsonValue& item : *items) {
            read_nested(item, depth + 1);
        }
    }

    void read_elements(const JsonValue::Array& items) {
        const std::size_t width = core::bytes_of(desc_.data_type);
        bytes_.reserve(bytes_.size() + items.size() * width);
        for (const JsonValue& item : items) {
            const auto bits = read_element(item, desc_.data_type);
            if (!bits) {
                problems_.add(item.offset, bits.error().message, bits.error().hint);
                continue;
            }
            std::array<std::byte, sizeof(std::uint64_t)> element{};
            std::memcpy(element.data(), &*bits, sizeof(std::uint64_t));
            bytes_.insert(bytes_.end(), element.begin(), element.begin() + static_cast<std::ptrdiff_t>(width));
        }
    }

    /// Elements that a stride of 0 repeats are one in memory: a list that gives them several values means something
    /// else.
    void check_repeated(const JsonValue& list) {
        if (!desc_.strides || desc_.strides->size() != desc_.sizes.size()) {
            return;
        }
        const auto packed = core::packed_strides(desc_.sizes);
        core::Strides originals(packed.begin(), packed.end());
        for (std::size_t d = 0; d < originals.size(); ++d) {
            originals[d] = (*desc_.strides)[d] == 0 ? 0 : originals[d];
        }
        const core::StridedRuns<1> runs(desc_.sizes, {originals});
        const std::uint64_t count = bytes_.size() / core::bytes_of(desc_.data_type);
        for (std::uint64_t i = 0; i < count; ++i) {
            const auto original = static_cast<std::uint64_t>(runs.offsets_of(static_cast<std::int64_t>(i))[0]);
            if (core::load_element(bytes_, desc_.data_type, i) !=
                core::load_element(bytes_, desc_.data_type, original)) {
                problems_.add(list.offset,
                              fmt::format("elements {} and {} differ, but a stride of 0 makes them one", original, i));
                return;
            }
        }
    }

    const core::TensorDesc& desc_;
    ProblemSink& problems_;
    std::vector<std::byte> bytes_;
};

// ---- sequences ---------------------------------------------------------------------------------------------------

std::uint64_t two_complement(core::Integer value) {
    return value.negative ? std::uint64_t{0} - value.magnitude : value.magnitude;
}

/// Whether start + step * i stays in the range of the type for all elements. `start` is in range.
bool integers_fit(core::DataType type, core::Integer start, core::Integer step, std::uint64_t count) {
    const auto distance = core::checked_multiply(step.magnitude, count == 0 ? 0 : count - 1);
    const std::uint32_t bits = core::bits_of(type);
    const std::uint64_t all = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
    const std::uint64_t lowest = core::is_signed_integer(type) ? (all >> 1) + 1 : 0;  // magnitude of the smallest
    // How far above the type's smallest value the sequence starts; of `all` there is room for.
    const std::uint64_t above = lowest + two_complement(start);
    return distance && *distance <= (step.negative ? above & all : all - (above & all));
}

std::optional<Initialiser> read_sequence(const JsonValue& start, const JsonValue& step, const core::TensorDesc& desc,
                                         ProblemSink& problems) {
    const auto first = read_element(start, desc.data_type);
    if (!first) {
        problems.add(start.offset, first.error().message, first.error().hint);
        return std::nullopt;
    }
    const std::uint64_t count = core::element_count(desc.sizes).value_or(0);
    const auto out_of_range = [&] {
        problems.add(step.offset, fmt::format("the sequence leaves the range of {} within {} elements ({})",
                                              core::name(desc.data_type), count, core::range_of(desc.data_type)));
        return std::nullopt;
    };
    if (core::is_floating_point(desc.data_type)) {
        const auto from = number_of(start);
        const auto by = number_of(step);
        if (!from || !by) {
            problems.add(by ? start.offset : step.offset, "start and step must be numbers");
            return std::nullopt;
        }
        const double last = *from + static_cast<double>(count == 0 ? 0 : count - 1) * *by;
        return core::encode_element(desc.data_type, last) ? std::optional(Initialiser(SequenceData{0, 0, *from, *by}))
                                                          : out_of_range();
    }
    const auto from = integer_of(start);
    const auto by = integer_of(step);
    if (!from || !by) {
        problems.add(by ? start.offset : step.offset,
                     fmt::format("start and step must be integers for {}", core::name(desc.data_type)));
        return std::nullopt;
    }
    if (!integers_fit(desc.data_type, *from, *by, count)) {
        return out_of_range();
    }
    return Initialiser(SequenceData{two_complement(*from), two_complement(*by), 0, 0});
}

// ---- the object forms --------------------------------------------------------------------------------------------

const JsonValue* either(const JsonValue& object, std::string_view key, std::string_view synonym) {
    const JsonValue* value = object.find(key);
    return value != nullptr ? value : object.find(synonym);
}

std::optional<Initialiser> read_object(const JsonValue& object, const core::TensorDesc& desc, ProblemSink& problems) {
    static const std::array<std::string, 5> keys{"value", "start", "step", "valueStart", "valueDelta"};
    for (const std::string_view later : {"random", "file"}) {
        if (object.find(later) != nullptr) {
            problems.add(object.offset, fmt::format("\"{}\" initialisers are not supported yet", later),
                         R"(use a list of elements, {"value": …} or {"start": …, "step": …})");
            return std::nullopt;
        }
    }
    if (!check_keys(object, keys, "a data initialiser", problems)) {
        return std::nullopt;
    }
    const JsonValue* value = object.find("value");
    const JsonValue* start = either(object, "start", "valueStart");
    const JsonValue* step = either(object, "step", "valueDelta");
    if (value != nullptr && start == nullptr && step == nullptr) {
        const auto bits = read_element(*value, desc.data_type);
        if (bits) {
            return Initialiser(ConstantData{*bits});
        }
        problems.add(value->offset, bits.error().message, bits.error().hint);
        return std::nullopt;
    }
    if (value == nullptr && start != nullptr && step != nullptr) {
        return read_sequence(*start, *step, desc, problems);
    }
    problems.add(object.offset, "a data initialiser has either \"value\", or \"start\" and \"step\"");
    return std::nullopt;
}

// ---- filling -----------------------------------------------------------------------------------------------------

template <class T>
struct ElementSource {
    const Initialiser::Data& data;

    T operator()(std::size_t index) const {
        if (const auto* list = std::get_if<ListData>(&data)) {
            T element{};
            std::memcpy(static_cast<void*>(&element), list->elements->data() + index * sizeof(T), sizeof(T));
            return element;
        }
        if (const auto* constant = std::get_if<ConstantData>(&data)) {
            T element{};
            std::memcpy(static_cast<void*>(&element), &constant->bits, sizeof(T));
            return element;
        }
        const auto& sequence = std::get<SequenceData>(data);
        if constexpr (std::is_integral_v<T>) {
            return static_cast<T>(sequence.integer_start + index * sequence.integer_step);
        } else {
            return static_cast<T>(sequence.start + static_cast<double>(index) * sequence.step);
        }
    }
};

}  // namespace

void Initialiser::fill(core::Tensor& tensor) const {
    const core::TensorDesc& desc = tensor.desc;
    const bool packed = core::is_packed(desc);
    const auto count = static_cast<std::size_t>(*core::element_count(desc.sizes));
    const auto used = packed ? count * core::bytes_of(desc.data_type) : 0;
    // A pattern that is a NaN in each floating-point type, so that a kernel that reads a gap is noticed.
    std::ranges::fill(tensor.buffer.bytes().subspan(used), std::byte{0xff});
    core::with_type(desc.data_type, [&]<class T>() {
        const ElementSource<T> source{data_};
        T* const target = tensor.as<T>().data();
        if (packed) {
            for (std::size_t i = 0; i < count; ++i) {
                target[i] = source(i);
            }
            return;
        }
        const core::StridedRuns<1> runs(desc.sizes, {core::signed_strides(desc)});
        // Backwards, so that of elements that share memory the first is written last.
        for (std::size_t i = count; i-- > 0;) {
            target[runs.offsets_of(static_cast<std::int64_t>(i))[0]] = source(i);
        }
    });
}

std::optional<Initialiser> read_initialiser(const JsonValue& value, const core::TensorDesc& desc,
                                            ProblemSink& problems) {
    if (core::bytes_of(desc.data_type) == 0) {
        problems.add(value.offset, fmt::format("data of type {} is not supported", core::name(desc.data_type)));
        return std::nullopt;
    }
    if (value.array() != nullptr) {
        return ListReader(desc, problems).read(value);
    }
    if (value.object() != nullptr) {
        return read_object(value, desc, problems);
    }
    problems.add(value.offset, fmt::format("expected a data initialiser, found {}", value.kind_name()),
                 R"(use a list of elements, {"value": …} or {"start": …, "step": …})");
    return std::nullopt;
}

}  // namespace dmlconform::cases
