// Reads and evaluates conditions on tensors.
#include "engine/expectations/tensor_condition.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "engine/cases/tensor_desc_reader.h"
#include "engine/core/element.h"
#include "engine/core/parse_number.h"
#include "engine/core/utf8.h"

namespace dmlconform::expectations {
namespace {

using cases::JsonValue;
using cases::ProblemSink;
using Layout = TensorCondition::Layout;

constexpr std::array<const char*, 7> layout_names{"absent",    "given",      "packed", "strided",
                                                  "repeating", "transposed", "unequal"};

bool repeats(const core::TensorDesc& desc) {
    for (std::size_t i = 0; desc.strides && i < desc.sizes.size(); ++i) {
        if (desc.sizes[i] > 1 && (*desc.strides)[i] == 0) {
            return true;
        }
    }
    return false;
}

/// Dimensions of one element and those that repeat have no order.
bool is_transposed(const core::TensorDesc& desc) {
    std::uint32_t before = std::numeric_limits<std::uint32_t>::max();
    for (std::size_t i = 0; desc.strides && i < desc.sizes.size(); ++i) {
        const std::uint32_t stride = (*desc.strides)[i];
        if (desc.sizes[i] == 1 || stride == 0) {
            continue;
        }
        if (stride > before) {
            return true;
        }
        before = stride;
    }
    return false;
}

/// Those of dimensions of one element count, too.
bool has_unequal_strides(const core::TensorDesc& desc) {
    return desc.strides && std::ranges::adjacent_find(*desc.strides, std::not_equal_to<>()) != desc.strides->end();
}

double addresses_per_element(const core::TensorDesc& desc) {
    double addresses = 1;
    double elements = 1;
    const auto strides = core::signed_strides(desc);
    for (std::size_t i = 0; i < desc.sizes.size(); ++i) {
        addresses += (static_cast<double>(desc.sizes[i]) - 1) * static_cast<double>(strides[i]);
        elements *= desc.sizes[i];
    }
    return addresses / elements;
}

bool has_layout(const core::TensorDesc& desc, Layout layout) {
    switch (layout) {
        case Layout::absent:
            return !desc.strides;
        case Layout::given:
            return desc.strides.has_value();
        case Layout::packed:
            return !desc.strides || core::is_packed(desc);
        case Layout::strided:
            return desc.strides && !core::is_packed(desc);
        case Layout::transposed:
            return is_transposed(desc);
        case Layout::unequal:
            return has_unequal_strides(desc);
        case Layout::repeating:
        default:
            return repeats(desc);
    }
}

double significant_dimensions(const core::TensorDesc& desc) {
    const auto first = std::find_if(desc.sizes.begin(), desc.sizes.end(), [](std::uint32_t size) { return size != 1; });
    return static_cast<double>(desc.sizes.end() - first);
}

bool has_sizes(const core::TensorDesc& desc, const std::map<std::uint32_t, NumberCondition>& wanted) {
    return std::all_of(wanted.begin(), wanted.end(), [&](const auto& entry) {
        return entry.first < desc.sizes.size() && entry.second.holds(desc.sizes[entry.first]);
    });
}

bool has_value(const core::Tensor* tensor, const NumberCondition& wanted) {
    if (tensor == nullptr) {
        return false;
    }
    const core::DataType type = tensor->desc.data_type;
    const std::uint64_t count = *core::element_count(tensor->desc.sizes);
    for (std::uint64_t i = 0; i < count; ++i) {
        if (wanted.holds(core::decode_element(type, core::load_element(tensor->buffer.bytes(), type, i)))) {
            return true;
        }
    }
    return false;
}

class Reader {
public:
    Reader(std::string_view name, ProblemSink& problems) : name_(name), problems_(problems) {}

    TensorCondition read(const JsonValue& value) {
        static const std::array<std::string, 9> keys{"DataType",
                                                     "DimensionCount",
                                                     "elements",
                                                     "Sizes",
                                                     "Strides",
                                                     "GuaranteedBaseOffsetAlignment",
                                                     "values",
                                                     "addresses/elements",
                                                     "significantDimensions"};
        TensorCondition test;
        test.absent = value.is_null();
        if (test.absent) {
            return test;
        }
        if (value.object() == nullptr) {
            problems_.add(value.offset, fmt::format("the test of {} must be null for an absent tensor, or an object; "
                                                    "this is {}",
                                                    name_, value.kind_name()));
            return test;
        }
        cases::check_keys(value, keys, fmt::format("a test of {}", name_), problems_);
        read_types(value, test);
        read_sizes(value, test);
        read_layout(value, test);
        for (const auto& [key, into] :
             {std::pair{keys[1], &test.dimension_count}, std::pair{keys[2], &test.elements},
              std::pair{keys[5], &test.alignment}, std::pair{keys[6], &test.values},
              std::pair{keys[7], &test.addresses_per_element}, std::pair{keys[8], &test.significant_dimensions}}) {
            if (const JsonValue* found = value.find(key)) {
                *into = read_number_condition(*found, fmt::format("\"{}\"", key), nullptr, problems_);
            }
        }
        return test;
    }

private:
    void read_types(const JsonValue& value, TensorCondition& test) {
        const JsonValue* types = value.find("DataType");
        if (types == nullptr) {
            return;
        }
        if (types->array() == nullptr) {
            return read_type(*types, test);
        }
        if (types->array()->empty()) {
            problems_.add(types->offset, "\"DataType\" is one of nothing");
        }
        for (const JsonValue& type : *types->array()) {
            read_type(type, test);
        }
    }

    void read_type(const JsonValue& value, TensorCondition& test) {
        const auto type = value.string() == nullptr ? std::nullopt : core::parse_data_type(*value.string());
        if (!type) {
            return problems_.add(value.offset,
                                 value.string() == nullptr
                                     ? fmt::format("a data type must be a string; this is {}", value.kind_name())
                                     : fmt::format("\"{}\" is not a data type", core::shortened(*value.string())));
        }
        test.data_types.push_back(*type);
    }

    void read_sizes(const JsonValue& value, TensorCondition& test) {
        const JsonValue* sizes = value.find("Sizes");
        if (sizes == nullptr) {
            return;
        }
        if (sizes->object() == nullptr) {
            return problems_.add(sizes->offset,
                                 fmt::format("\"Sizes\" must be an object with dimensions as keys, such as "
                                             "{{ \"1\": 3 }}; this is {}",
                                             sizes->kind_name()));
        }
        for (const cases::JsonMember& member : *sizes->object()) {
            const auto dimension = core::parse_number<std::uint32_t>(member.key);
            if (!dimension || *dimension >= core::max_dimension_count) {
                problems_.add(member.key_offset,
                              fmt::format("\"{}\" is not a dimension: they are 0 to {}", core::shortened(member.key),
                                          core::max_dimension_count - 1));
            } else if (auto wanted = read_number_condition(member.value, "a size", nullptr, problems_)) {
                test.sizes.emplace(*dimension, std::move(*wanted));
            }
        }
    }

    void read_layout(const JsonValue& value, TensorCondition& test) {
        const JsonValue* layout = value.find("Strides");
        if (layout == nullptr) {
            return;
        }
        const auto found = layout->string() == nullptr
                               ? layout_names.end()
                               : std::find(layout_names.begin(), layout_names.end(), *layout->string());
        if (found == layout_names.end()) {
            return problems_.add(layout->offset, fmt::format("\"Strides\" may be {}", fmt::join(layout_names, ", ")));
        }
        test.layout = static_cast<Layout>(found - layout_names.begin());
    }

    std::string_view name_;
    ProblemSink& problems_;
};

}  // namespace

bool TensorCondition::holds(const TensorFact& tensor, CaseFacts& facts) const {
    if (tensor.desc == nullptr || absent) {
        return tensor.desc == nullptr && absent;
    }
    const core::TensorDesc& desc = *tensor.desc;
    const auto count = core::element_count(desc.sizes);
    return (data_types.empty() ||
            std::find(data_types.begin(), data_types.end(), desc.data_type) != data_types.end()) &&
           (!dimension_count || dimension_count->holds(static_cast<double>(desc.sizes.size()))) &&
           (!significant_dimensions || significant_dimensions->holds(expectations::significant_dimensions(desc))) &&
           (!elements || (count && elements->holds(static_cast<double>(*count)))) && has_sizes(desc, sizes) &&
           (!addresses_per_element || addresses_per_element->holds(expectations::addresses_per_element(desc))) &&
           (!layout || has_layout(desc, *layout)) && (!alignment || alignment->holds(desc.base_offset_alignment)) &&
           (!values || (tensor.input && has_value(facts.input(*tensor.input), *values)));
}

std::optional<TensorCondition> read_tensor_condition(const JsonValue& value, std::string_view name,
                                                     ProblemSink& problems) {
    const std::size_t before = problems.count();
    TensorCondition test = Reader(name, problems).read(value);
    return problems.count() == before ? std::optional(std::move(test)) : std::nullopt;
}

}  // namespace dmlconform::expectations
