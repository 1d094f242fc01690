// Determines what each case covers. An accepted case covers its values; a rejected case covers only the rule that
// rejects it.
#include "engine/run/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/cpu/reference.h"
#include "engine/operators/rules.h"

namespace dmlconform::run {
namespace {

using operators::Field;
using operators::FieldKind;
using operators::FieldType;
using operators::OperatorSchema;

using Items = std::vector<std::pair<std::string, std::string>>;  // pairs of kind and item

// ---- what there is to cover --------------------------------------------------------------------------------------

void add_tensor_items(const OperatorSchema& schema, const Field& field, Items& items) {
    const operators::TensorSupport& support = *schema.support_at(field.name, core::highest_feature_level);
    for (const core::DataType type : support.data_types) {
        items.emplace_back("type", fmt::format("{} {}", field.name, core::name(type)));
    }
    for (std::uint32_t rank = support.min_dimensions; rank <= support.max_dimensions; ++rank) {
        items.emplace_back("rank", fmt::format("{} {}", field.name, rank));
    }
    for (const char* layout : {"packed", "strided", "larger total size", "aligned"}) {
        items.emplace_back("layout", fmt::format("{} {}", field.name, layout));
    }
    if (field.kind == FieldKind::input) {
        items.emplace_back("layout", fmt::format("{} stride 0", field.name));
        items.emplace_back("layout", fmt::format("{} OWNED_BY_DML", field.name));
    }
    if (field.optional) {
        items.emplace_back("attribute", fmt::format("{} present", field.name));
        items.emplace_back("attribute", fmt::format("{} null", field.name));
    }
}

/// Classifies the value of a field that is not a tensor.
std::vector<std::string> value_classes(const OperatorSchema& schema, const Field& field) {
    std::vector<std::string> classes;
    if (field.enumeration != nullptr) {
        for (const auto& enumerator : field.enumeration->enumerators) {
            classes.push_back(enumerator.name.substr(field.enumeration->prefix().size()));
        }
        return classes;
    }
    switch (field.type) {
        case FieldType::uint:
        case FieldType::uint_array:
            return {"0", "1", ">1"};
        case FieldType::int_:
        case FieldType::int_array:
            return {"1", ">1", "-1", "<-1"};
        case FieldType::float_:
        case FieldType::float_array:
            return {"0", ">0"};
        case FieldType::operator_desc:
            classes.emplace_back("null");
            for (const auto& [activation, level] : schema.fusable) {
                classes.push_back(activation);
            }
            return classes;
        default:
            return {"any"};
    }
}

Items items_of(const OperatorSchema& schema) {
    Items items;
    std::set<core::FeatureLevel> levels{schema.introduced};
    for (const Field& field : schema.fields) {
        if (field.is_tensor()) {
            add_tensor_items(schema, field, items);
            for (const operators::TensorSupport& row : schema.tensor_support.find(field.name)->second) {
                levels.insert(row.level);
            }
        } else if (!schema.is_count(field)) {
            for (const std::string& value_class : value_classes(schema, field)) {
                items.emplace_back("attribute", fmt::format("{} {}", field.name, value_class));
            }
        }
    }
    for (const core::FeatureLevel level : levels) {
        items.emplace_back("level", core::to_string(level));
    }
    for (const std::string& rule : operators::rule_names(schema)) {
        items.emplace_back("rule", rule);
    }
    return items;
}

// ---- what a case covers ------------------------------------------------------------------------------------------

template <class T>
std::string number_class(T value) {
    if (value == 0) {
        return "0";
    }
    if constexpr (std::is_floating_point_v<T>) {
        return value > 0 ? ">0" : "<0";
    } else if constexpr (std::is_signed_v<T>) {
        return value == 1 ? "1" : value == -1 ? "-1" : value > 0 ? ">1" : "<-1";
    } else {
        return value == 1 ? "1" : ">1";
    }
}

void add_layout(const Field& field, const core::TensorDesc& desc, Items& items) {
    items.emplace_back("type", fmt::format("{} {}", field.name, core::name(desc.data_type)));
    items.emplace_back("rank", fmt::format("{} {}", field.name, desc.sizes.size()));
    const auto layout = [&](bool has, const char* name) {
        if (has) {
            items.emplace_back("layout", fmt::format("{} {}", field.name, name));
        }
    };
    const bool packed = core::is_packed(desc);
    layout(packed, "packed");
    layout(!packed, "strided");
    layout(desc.total_bytes > core::minimum_total_bytes(desc), "larger total size");
    layout(desc.base_offset_alignment != 0, "aligned");
    layout(desc.flags == core::TensorFlags::owned_by_dml, "OWNED_BY_DML");
    if (desc.strides) {
        for (std::size_t d = 0; d < desc.sizes.size(); ++d) {
            if (desc.sizes[d] > 1 && (*desc.strides)[d] == 0) {
                return layout(true, "stride 0");
            }
        }
    }
}

struct ClassCollector {
    const Field& field;
    Items& items;

    void add(const std::string& value_class) const {
        items.emplace_back("attribute", fmt::format("{} {}", field.name, value_class));
    }
    void operator()(const operators::Null&) const { add("null"); }
    void operator()(const core::TensorDesc& desc) const {
        add_layout(field, desc, items);
        add("present");
    }
    void operator()(const operators::TensorDescArray& array) const {
        for (const core::TensorDesc& desc : array.items) {
            add_layout(field, desc, items);
        }
    }
    void operator()(const operators::OperatorDesc& activation) const { add(activation->schema->name); }
    void operator()(std::uint32_t value) const {
        const auto name = field.enumeration == nullptr ? std::nullopt : field.enumeration->name_of(value);
        add(name ? std::string(name->substr(field.enumeration->prefix().size())) : number_class(value));
    }
    void operator()(std::int32_t value) const { add(number_class(value)); }
    void operator()(float value) const { add(number_class(value)); }
    template <class T>
    void operator()(const std::vector<T>& values) const {
        for (const T value : values) {
            add(number_class(value));
        }
    }
    template <class T>
    void operator()(const T& /*structure*/) const {
        add("any");
    }
};

Items covered_by(const cases::Case& entry) {
    Items items;
    if (const auto rejection = operators::validate(*entry.descriptor, core::highest_feature_level)) {
        items.emplace_back("rule", rejection->rule);
        return items;
    }
    const OperatorSchema& schema = *entry.descriptor->schema;
    for (std::size_t i = 0; i < schema.fields.size(); ++i) {
        std::visit(ClassCollector{schema.fields[i], items}, entry.descriptor->values[i]);
    }
    items.emplace_back("level", core::to_string(entry.min_feature_level));
    return items;
}

}  // namespace

std::vector<CoverageLine> coverage(std::span<const cases::Case> cases) {
    std::map<std::string, std::map<std::pair<std::string, std::string>, std::size_t>> counts;
    for (const cases::Case& entry : cases) {
        Items items = covered_by(entry);
        std::sort(items.begin(), items.end());
        items.erase(std::unique(items.begin(), items.end()), items.end());
        for (const auto& item : items) {
            ++counts[entry.descriptor->schema->name][item];
        }
    }
    std::vector<CoverageLine> lines;
    for (const std::string& name : operators::operator_names()) {
        const OperatorSchema& schema = *operators::find_operator(name);
        if (!cpu::has_reference(schema)) {
            continue;
        }
        for (const auto& [kind, item] : items_of(schema)) {
            lines.push_back({std::string(schema.short_name()), kind, item, counts[name][{kind, item}]});
        }
    }
    return lines;
}

std::string coverage_key(const CoverageLine& line) {
    return fmt::format("{} {} {}", line.op, line.kind, line.item);
}

CoverageReasons::const_iterator find_reason(const CoverageReasons& reasons, const CoverageLine& line) {
    const auto own = reasons.find(coverage_key(line));
    return own != reasons.end() ? own : reasons.find(fmt::format("* {} {}", line.kind, line.item));
}

core::Result<CoverageReasons> parse_coverage_reasons(std::string_view text) {
    CoverageReasons reasons;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.empty() || line.front() == '#') {
            continue;
        }
        const std::size_t colon = line.find(": ");
        if (colon == std::string_view::npos) {
            return core::fail(fmt::format("line {} has no reason after \": \"", number));
        }
        reasons.emplace(line.substr(0, colon), line.substr(colon + 2));
    }
    return reasons;
}

}  // namespace dmlconform::run
