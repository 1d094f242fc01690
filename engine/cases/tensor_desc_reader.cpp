// Reads tensor descriptors and the integers in them.
#include "engine/cases/tensor_desc_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "engine/cases/element_reader.h"
#include "engine/core/utf8.h"

namespace dmlconform::cases {
namespace {

const std::array<std::string, 7> tensor_keys{"DataType",
                                             "Sizes",
                                             "Strides",
                                             "Flags",
                                             "DimensionCount",
                                             "TotalTensorSizeInBytes",
                                             "GuaranteedBaseOffsetAlignment"};

core::DataType read_data_type(const JsonValue& object, ProblemSink& problems) {
    const JsonValue* value = object.find("DataType");
    const std::string* text = value == nullptr ? nullptr : value->string();
    if (value == nullptr) {
        problems.add(object.offset, "a tensor needs a \"DataType\"");
    } else if (text == nullptr) {
        problems.add(value->offset, fmt::format("expected the name of a data type, found {}", value->kind_name()),
                     "for example \"FLOAT32\"");
    } else if (const auto type = core::parse_data_type(*text)) {
        return *type;
    } else {
        std::vector<std::string> names;
        for (std::uint32_t i = 1; i < core::data_type_count; ++i) {
            names.emplace_back(core::name(static_cast<core::DataType>(i)));
        }
        problems.add(value->offset, fmt::format("\"{}\" is not a tensor data type", core::shortened(*text)),
                     suggestion(*text, names));
    }
    return core::DataType::unknown;
}

core::TensorFlags read_flags(const JsonValue& value, ProblemSink& problems) {
    static const std::array<std::string, 2> names{"NONE", "OWNED_BY_DML"};
    const std::string* text = value.string();
    if (text == nullptr) {
        problems.add(value.offset, fmt::format("expected \"NONE\" or \"OWNED_BY_DML\", found {}", value.kind_name()));
        return core::TensorFlags::none;
    }
    std::string_view name = *text;
    constexpr std::string_view prefix = "DML_TENSOR_FLAG_";
    if (name.starts_with(prefix)) {
        name.remove_prefix(prefix.size());
    }
    if (name != names[0] && name != names[1]) {
        problems.add(value.offset, fmt::format("\"{}\" is not a tensor flag", core::shortened(*text)),
                     suggestion(*text, names));
    }
    return name == names[1] ? core::TensorFlags::owned_by_dml : core::TensorFlags::none;
}

void read_layout(const JsonValue& object, core::TensorDesc& desc, ProblemSink& problems) {
    if (const JsonValue* strides = object.find("Strides"); strides != nullptr && !strides->is_null()) {
        desc.strides = read_dimensions(*strides, "Strides", problems);
        if (desc.strides && desc.strides->size() != desc.sizes.size()) {
            problems.add(strides->offset,
                         fmt::format("{} strides for {} sizes", desc.strides->size(), desc.sizes.size()));
        }
    }
    if (const JsonValue* count = object.find("DimensionCount")) {
        const auto number = read_unsigned(*count, "DimensionCount", largest_uint, problems);
        if (number && *number != desc.sizes.size()) {
            problems.add(count->offset,
                         fmt::format("DimensionCount is {}, but Sizes has {} entries", *number, desc.sizes.size()));
        }
    }
    // The default depends on the other members. If the extent exceeds 64 bits, the total size stays 0, which validation
    // rejects.
    desc.total_bytes =
        desc.strides && desc.strides->size() != desc.sizes.size() ? 0 : core::minimum_total_bytes(desc).value_or(0);
    if (const JsonValue* total = object.find("TotalTensorSizeInBytes")) {
        desc.total_bytes =
            read_unsigned(*total, "TotalTensorSizeInBytes", std::numeric_limits<std::uint64_t>::max(), problems)
                .value_or(0);
    }
    if (const JsonValue* alignment = object.find("GuaranteedBaseOffsetAlignment")) {
        desc.base_offset_alignment = static_cast<std::uint32_t>(
            read_unsigned(*alignment, "GuaranteedBaseOffsetAlignment", largest_uint, problems).value_or(0));
    }
}

/// The inner object of {"Type": "BUFFER", "Desc": {…}}, otherwise the value itself.
const JsonValue* without_long_form(const JsonValue& value, ProblemSink& problems) {
    static const std::array<std::string, 2> keys{"Type", "Desc"};
    const JsonValue* type = value.find("Type");
    if (type == nullptr) {
        return &value;
    }
    const std::string* name = type->string();
    if (name == nullptr || (*name != "BUFFER" && *name != "DML_TENSOR_TYPE_BUFFER")) {
        problems.add(type->offset, "a tensor's \"Type\" can only be \"BUFFER\"");
        return nullptr;
    }
    const JsonValue* inner = value.find("Desc");
    if (inner == nullptr) {
        problems.add(value.offset, "a tensor with a \"Type\" needs a \"Desc\"");
        return nullptr;
    }
    check_keys(value, keys, "a tensor in the long form", problems);
    return inner;
}

}  // namespace

bool check_keys(const JsonValue& object, std::span<const std::string> allowed, std::string_view what,
                ProblemSink& problems) {
    bool known = true;
    for (const JsonMember& member : *object.object()) {
        if (std::find(allowed.begin(), allowed.end(), member.key) != allowed.end()) {
            continue;
        }
        known = false;
        if (problems.is_full()) {
            problems.add(member.key_offset, "unknown key");
        } else {
            problems.add(member.key_offset, fmt::format("unknown key \"{}\" in {}", core::shortened(member.key), what),
                         suggestion(member.key, allowed));
        }
    }
    return known;
}

std::string ValueName::text() const {
    return item_ ? fmt::format("{}[{}]", field_, *item_) : std::string(field_);
}

std::optional<std::uint64_t> read_unsigned(const JsonValue& value, const ValueName& name, std::uint64_t largest,
                                           ProblemSink& problems) {
    const auto integer = integer_of(value);
    if (!integer) {
        problems.add(value.offset, value.is_number() ? fmt::format("{} must be an integer from 0 to {}; this is {}",
                                                                   name.text(), largest, number_text(value))
                                                     : fmt::format("{} must be an integer; this is {}", name.text(),
                                                                   value.kind_name()));
        return std::nullopt;
    }
    if (integer->magnitude > largest || (integer->negative && integer->magnitude != 0)) {
        problems.add(value.offset, fmt::format("{} is {}{}; it must be from 0 to {}", name.text(),
                                               integer->negative ? "-" : "", integer->magnitude, largest));
        return std::nullopt;
    }
    return integer->magnitude;
}

std::optional<core::Dimensions> read_dimensions(const JsonValue& value, std::string_view name, ProblemSink& problems) {
    const auto* items = value.array();
    if (items == nullptr) {
        problems.add(value.offset, fmt::format("{} must be an array of integers; this is {}", name, value.kind_name()));
        return std::nullopt;
    }
    core::Dimensions result;
    for (std::size_t i = 0; i < items->size(); ++i) {
        const auto number = read_unsigned((*items)[i], {name, i}, largest_uint, problems);
        if (!number) {
            return std::nullopt;
        }
        result.push_back(static_cast<std::uint32_t>(*number));
    }
    return result;
}

std::optional<core::TensorDesc> read_tensor_desc(const JsonValue& value, ProblemSink& problems) {
    const std::size_t before = problems.count();
    const JsonValue* object = without_long_form(value, problems);
    if (object == nullptr) {
        return std::nullopt;
    }
    if (object->object() == nullptr) {
        problems.add(object->offset, fmt::format("expected a tensor description, found {}", object->kind_name()),
                     R"(for example { "DataType": "FLOAT32", "Sizes": [1,1,4,4] })");
        return std::nullopt;
    }
    check_keys(*object, tensor_keys, "a tensor description", problems);
    core::TensorDesc desc;
    desc.data_type = read_data_type(*object, problems);
    if (const JsonValue* flags = object->find("Flags")) {
        desc.flags = read_flags(*flags, problems);
    }
    const JsonValue* sizes = object->find("Sizes");
    if (sizes == nullptr) {
        problems.add(object->offset, "a tensor needs \"Sizes\"");
    } else if (auto read = read_dimensions(*sizes, "Sizes", problems)) {
        desc.sizes = std::move(*read);
        // Without sizes, the other members would cause misleading problems.
        read_layout(*object, desc, problems);
    }
    return problems.count() == before ? std::optional(std::move(desc)) : std::nullopt;
}

}  // namespace dmlconform::cases
