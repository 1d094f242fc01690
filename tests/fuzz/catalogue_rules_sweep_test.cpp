// Breaks every rule that an operator's catalogue entry states, for each of its tensors and fields separately, and only
// in the last dimension, the last entry of an array or the last tensor of an array. The rule must reject that. The
// expected rule follows from the entry alone.
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "tests/fuzz/broken_descriptors.h"

namespace dmlconform::tests::catalogue_rules_sweep_test {
namespace {

using core::DataType;
using core::TensorDesc;
using operators::AttributeConstraint;
using operators::Descriptor;
using operators::Field;
using operators::OperatorSchema;
using operators::SameConstraint;
using operators::SizesConstraint;

constexpr std::uint64_t descriptors_of_each = 40;

/// Counts how often each rule rejected a change of each field: "tensor.sizes of InputTensor".
class Sweep {
public:
    explicit Sweep(const OperatorSchema& schema) : schema_(schema) {
        for (const Descriptor& legal : legal_descriptors(schema, descriptors_of_each)) {
            sweep(legal);
        }
    }

    [[nodiscard]] const std::set<std::string>& rejected() const { return rejected_; }

private:
    void sweep(const Descriptor& legal) {
        for (const Field& field : schema_.fields) {
            if (std::holds_alternative<operators::Null>(legal.value(field.name))) {
                continue;
            }
            if (!field.optional) {
                expect(legal, field, {"field.required"}, [&](Descriptor& d) { value_of(d, field.name) = {}; });
            }
            if (field.enumeration != nullptr && field.enumeration->name != "BOOL") {
                expect(legal, field, {"field.enumeration"},
                       [&](Descriptor& d) { value_of(d, field.name) = std::uint32_t{999}; });
            }
            Descriptor copy = legal;
            if (field.is_tensor() && last_tensor(copy, field.name) != nullptr) {
                sweep_tensor(legal, field, *last_tensor(copy, field.name));
            }
        }
        for (const SameConstraint& constraint : schema_.same) {
            sweep_same(legal, constraint);
        }
        for (const SizesConstraint& constraint : schema_.sizes) {
            sweep_sizes(legal, constraint);
        }
        for (const AttributeConstraint& constraint : schema_.attributes) {
            sweep_attribute(legal, constraint);
        }
    }

    void sweep_tensor(const Descriptor& legal, const Field& field, const TensorDesc& desc) {
        const operators::TensorSupport& support = *schema_.support_at(field.name, core::highest_feature_level);
        const auto change = [&](const std::string& rule, const std::function<void(TensorDesc&)>& changed) {
            expect(legal, field, {rule}, [&](Descriptor& d) { changed(*last_tensor(d, field.name)); });
        };
        for (std::uint32_t number = 1; number <= 13; ++number) {
            const auto type = static_cast<DataType>(number);
            if (std::find(support.data_types.begin(), support.data_types.end(), type) == support.data_types.end()) {
                change("tensor.dataType", [&](TensorDesc& d) { repack(d, d.sizes, type); });
            }
        }
        change("tensor.dimensionCount", [&](TensorDesc& d) {
            core::Dimensions sizes = d.sizes;
            sizes.insert(sizes.begin(), support.max_dimensions + 1 - sizes.size(), 1);
            repack(d, std::move(sizes), d.data_type);
        });
        if (support.min_dimensions > 1) {
            change("tensor.dimensionCount",
                   [&](TensorDesc& d) { repack(d, core::Dimensions(support.min_dimensions - 1, 1), d.data_type); });
        }
        change("tensor.sizes", [](TensorDesc& d) { d.sizes.back() = 0; });
        if (std::any_of(desc.sizes.begin(), desc.sizes.end() - 1, [](std::uint32_t size) { return size > 1; })) {
            change("tensor.elementCount", [](TensorDesc& d) { d.sizes.back() = 0xffffffff; });
        }
        change("tensor.totalSize", [](TensorDesc& d) { d.total_bytes = *core::minimum_total_bytes(d) - 4; });
        change("tensor.alignment", [](TensorDesc& d) { d.base_offset_alignment = 24; });
        if (core::bytes_of(desc.data_type) > 1) {
            change("tensor.alignment",
                   [](TensorDesc& d) { d.base_offset_alignment = core::bytes_of(d.data_type) / 2; });
        }
        if (field.kind == operators::FieldKind::output && desc.sizes.back() > 1) {
            change("tensor.outputStrides", [](TensorDesc& d) {
                repack(d, d.sizes, d.data_type);
                const auto packed = core::effective_strides(d);
                d.strides = core::Dimensions(packed.begin(), packed.end());
                d.strides->back() = 0;
            });
        }
    }

    void sweep_same(const Descriptor& legal, const SameConstraint& constraint) {
        for (const std::string& name : constraint.tensors) {
            const Field& field = *schema_.find_field(operators::array_of(name));
            Descriptor changed = legal;
            TensorDesc* const desc = tensor_of(changed, name);
            if (desc == nullptr || present_tensors(legal, constraint) < 2) {
                continue;
            }
            switch (constraint.property) {
                case SameConstraint::Property::data_type:
                    if (const auto other = other_type(field, desc->data_type)) {
                        repack(*desc, desc->sizes, *other);
                        expect_rule(changed, field, {"tensor.sameDataType"});
                    }
                    break;
                case SameConstraint::Property::dimension_count:
                    sweep_rank(changed, field, *desc);
                    break;
                case SameConstraint::Property::sizes:
                default: {
                    core::Dimensions sizes = desc->sizes;
                    ++sizes.back();
                    repack(*desc, std::move(sizes), desc->data_type);
                    expect_rule(changed, field, {"tensor.sameSizes"});
                }
            }
        }
    }

    /// Sizes differ, too, if the number of dimensions does.
    void sweep_rank(Descriptor& changed, const Field& field, TensorDesc& desc) {
        const auto& support = *schema_.support_at(field.name, core::highest_feature_level);
        core::Dimensions sizes = desc.sizes;
        if (sizes.size() < support.max_dimensions) {
            sizes.insert(sizes.begin(), 1);
        } else if (sizes.size() > support.min_dimensions) {
            sizes.erase(sizes.begin());
        } else {
            return;
        }
        repack(desc, std::move(sizes), desc.data_type);
        expect_rule(changed, field, {"tensor.sameDimensionCount", "tensor.sameSizes"});
    }

    void sweep_sizes(const Descriptor& legal, const SizesConstraint& constraint) {
        for (const std::string& name : constraint.tensors) {
            const Field& field = *schema_.find_field(operators::array_of(name));
            Descriptor changed = legal;
            TensorDesc* const desc = last_tensor(changed, field.name);
            if (desc == nullptr) {
                continue;
            }
            core::Dimensions sizes = desc->sizes;
            const bool one = constraint.kind == SizesConstraint::Kind::one_element;
            sizes.back() = one ? 2 : legal.tensor(constraint.of)->sizes.back() + 1;
            repack(*desc, std::move(sizes), desc->data_type);
            expect_rule(changed, field, {one ? "tensor.oneElement" : "tensor.sizesDivide", "tensor.sameSizes"});
        }
    }

    void sweep_attribute(const Descriptor& legal, const AttributeConstraint& constraint) {
        const Field& field = *schema_.find_field(constraint.field);
        Descriptor changed = legal;
        const TensorDesc* const desc = last_tensor(changed, operators::array_of(constraint.tensor));
        if (desc == nullptr) {
            return;
        }
        operators::FieldValue& value = value_of(changed, field.name);
        auto* const number = std::get_if<std::uint32_t>(&value);
        auto* const list = std::get_if<std::vector<std::uint32_t>>(&value);
        switch (constraint.kind) {
            case AttributeConstraint::Kind::axis:
                if (number != nullptr) {
                    *number = static_cast<std::uint32_t>(desc->sizes.size());
                } else if (list != nullptr && !list->empty()) {
                    list->back() = static_cast<std::uint32_t>(desc->sizes.size());
                } else {
                    return;
                }
                expect_rule(changed, field, {"field.axis"});
                break;
            case AttributeConstraint::Kind::dimension_count:
                ++*number;
                expect_rule(changed, field, {"field.dimensionCount"});
                break;
            case AttributeConstraint::Kind::size:
                ++*number;
                expect_rule(changed, field, {"field.size"});
                break;
            case AttributeConstraint::Kind::data_type:
            default:
                *number = *number == 1 ? 2 : 1;
                expect_rule(changed, field, {"field.dataType"});
        }
    }

    /// "QuantizationTensors[1]" is one tensor of an array; null if there are fewer.
    static TensorDesc* tensor_of(Descriptor& descriptor, const std::string& name) {
        const std::string_view field = operators::array_of(name);
        if (name == field) {
            return last_tensor(descriptor, field);
        }
        auto& items = std::get<operators::TensorDescArray>(value_of(descriptor, field)).items;
        const std::size_t index = std::stoul(name.substr(field.size() + 1));
        return index < items.size() ? &items[index] : nullptr;
    }

    static std::size_t present_tensors(const Descriptor& legal, const SameConstraint& constraint) {
        std::size_t count = 0;
        for (const std::string& name : constraint.tensors) {
            Descriptor copy = legal;
            const auto length = operators::array_length(legal.value(operators::array_of(name)));
            const bool is_array = length && name == operators::array_of(name);
            count += is_array ? *length : tensor_of(copy, name) != nullptr ? 1 : 0;
        }
        return count;
    }

    [[nodiscard]] std::optional<DataType> other_type(const Field& field, DataType type) const {
        for (const DataType other : schema_.support_at(field.name, core::highest_feature_level)->data_types) {
            if (other != type) {
                return other;
            }
        }
        return std::nullopt;
    }

    void expect(const Descriptor& legal, const Field& field, const std::set<std::string>& rules,
                const std::function<void(Descriptor&)>& change) {
        Descriptor changed = legal;
        change(changed);
        expect_rule(changed, field, rules);
    }

    void expect_rule(const Descriptor& changed, const Field& field, const std::set<std::string>& rules) {
        const std::string rule = rule_of(changed);
        EXPECT_TRUE(rules.contains(rule))
            << schema_.name << ", " << field.name << ": " << *rules.begin() << " is expected, and it is "
            << (rule.empty() ? "accepted" : "rejected by " + rule);
        rejected_.insert(rule);
    }

    const OperatorSchema& schema_;
    std::set<std::string> rejected_;
};

/// True if each tensor has one possible number of dimensions, so that another one breaks a rule of its own.
bool has_fixed_rank(const OperatorSchema& schema) {
    return std::ranges::all_of(schema.fields, [&](const Field& field) {
        const auto* support = field.is_tensor() ? schema.support_at(field.name, core::highest_feature_level) : nullptr;
        return support == nullptr || support->min_dimensions == support->max_dimensions;
    });
}

TEST(CatalogueRules, RejectWhatBreaksThemInTheLastDimensionOrTensorOnly) {
    const auto names = operators::operator_names();
    EXPECT_EQ(names.size(), 177u);
    for (const std::string& name : names) {
        const OperatorSchema& schema = *operators::find_operator(name);
        const Sweep sweep(schema);
        const std::string own = std::string(schema.short_name()) + ".";
        for (const std::string& rule : operators::rule_names(schema)) {
            // Levels and activations have tests of their own in tests/operators.
            const bool elsewhere = rule.ends_with("featureLevel") || rule.starts_with("activation.") ||
                                   rule == "field.minimum" || rule.starts_with(own);
            const bool fixed = rule == "tensor.sameDimensionCount" && has_fixed_rank(schema);
            EXPECT_TRUE(elsewhere || fixed || sweep.rejected().contains(rule)) << name << ": nothing breaks " << rule;
        }
    }
}

}  // namespace
}  // namespace dmlconform::tests::catalogue_rules_sweep_test
