// Tests for every operator of the catalogue that a descriptor in the form of a case file is read back unchanged.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "engine/cases/descriptor_reader.h"
#include "tests/cases/reading.h"
#include "tests/random_descriptor.h"

namespace dmlconform::tests::catalogue_round_trip_test {
namespace {

using operators::Descriptor;
using operators::Field;

std::string text_of(const Descriptor& descriptor);

std::string text_of(const core::TensorDesc& desc) {
    return fmt::format(
        R"({{"DataType": "{}", "Sizes": [{}], {}"Flags": "{}", "TotalTensorSizeInBytes": {}, "GuaranteedBaseOffsetAlignment": {}}})",
        core::name(desc.data_type), fmt::join(desc.sizes, ","),
        desc.strides ? fmt::format(R"("Strides": [{}], )", fmt::join(*desc.strides, ",")) : "",
        desc.flags == core::TensorFlags::none ? "NONE" : "OWNED_BY_DML", desc.total_bytes, desc.base_offset_alignment);
}

std::string text_of(const operators::OperatorDesc& desc) {
    return fmt::format(R"({{"Type": "{}", "Desc": {}}})", desc->schema->name, text_of(*desc));
}

/// Writes the value of a field as a person would.
struct Writer {
    const Descriptor& descriptor;
    const Field& field;

    std::string operator()(const operators::Null&) const { return "null"; }
    std::string operator()(const core::TensorDesc& desc) const { return text_of(desc); }
    std::string operator()(const operators::OperatorDesc& desc) const { return text_of(desc); }
    std::string operator()(std::uint32_t value) const {
        const auto name = field.enumeration == nullptr ? std::nullopt : field.enumeration->name_of(value);
        const bool is_bool = field.enumeration != nullptr && field.enumeration->name == "BOOL";
        return name && !is_bool ? fmt::format("\"{}\"", *name) : fmt::format("{}", value);
    }
    std::string operator()(std::int32_t value) const { return fmt::format("{}", value); }
    std::string operator()(float value) const { return fmt::format("{}", value); }
    std::string operator()(const operators::ScaleBias& value) const {
        return fmt::format(R"({{"Scale": {}, "Bias": {}}})", value.scale, value.bias);
    }
    std::string operator()(const operators::Size2D& value) const {
        return fmt::format(R"({{"Width": {}, "Height": {}}})", value.width, value.height);
    }
    std::string operator()(const operators::ScalarUnion& value) const {
        return core::format_element(descriptor.scalar_type(field), value.bits);
    }
    template <class List>
    std::string operator()(const List& list) const {
        std::vector<std::string> items;
        if constexpr (requires { list.items; }) {
            for (const auto& item : list.items) {
                items.push_back(text_of(item));
            }
        } else {
            for (const auto item : list) {
                items.push_back(fmt::format("{}", item));
            }
        }
        return fmt::format("[{}]", fmt::join(items, ", "));
    }
};

std::string text_of(const Descriptor& descriptor) {
    std::vector<std::string> members;
    for (std::size_t i = 0; i < descriptor.values.size(); ++i) {
        const Field& field = descriptor.schema->fields[i];
        members.push_back(
            fmt::format("\"{}\": {}", field.name, std::visit(Writer{descriptor, field}, descriptor.values[i])));
    }
    return fmt::format("{{{}}}", fmt::join(members, ",\n"));
}

/// The complete tensor descriptions; to_lines omits some members.
std::vector<core::TensorDesc> tensors_of(const Descriptor& descriptor) {
    std::vector<core::TensorDesc> tensors;
    for (const auto& slots : {descriptor.inputs(), descriptor.outputs()}) {
        for (const operators::TensorSlot& slot : slots) {
            tensors.push_back(slot.desc == nullptr ? core::TensorDesc() : *slot.desc);
        }
    }
    return tensors;
}

TEST(CatalogueRoundTrip, EveryOperatorIsReadAsItIsWritten) {
    RandomDescriptors random(4);
    std::size_t operators = 0;
    for (const std::string& name : operators::operator_names()) {
        const operators::OperatorSchema& schema = *operators::find_operator(name);
        ++operators;
        for (int i = 0; i < 20; ++i) {
            const Descriptor written = random.make(schema);
            const std::string text = text_of(written);
            SCOPED_TRACE(fmt::format("{} {}", name, text));
            const auto read = reading(text, [&](const cases::JsonValue& value, cases::ProblemSink& problems) {
                return cases::read_descriptor(value, schema, problems);
            });
            ASSERT_TRUE(read.value.has_value()) << all_text(read.problems);
            ASSERT_EQ(to_lines(*read.value), to_lines(written));
            ASSERT_EQ(tensors_of(*read.value), tensors_of(written));
        }
    }
    EXPECT_EQ(operators, 177u);
}

}  // namespace
}  // namespace dmlconform::tests::catalogue_round_trip_test
