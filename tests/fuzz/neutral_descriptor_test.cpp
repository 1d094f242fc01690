// Tests that neutral descriptors are legal for each operator, and equal a table.
#include "engine/fuzz/neutral_descriptor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "engine/fuzz/case_generator.h"
#include "engine/operators/catalogue.h"
#include "engine/operators/neutral.h"
#include "engine/operators/rules.h"

namespace neutral_descriptor_test {
namespace {

using namespace dmlconform;

/// A legal descriptor, made neutral.
operators::Descriptor neutral(const operators::OperatorSchema& schema) {
    fuzz::GeneratorSettings settings;
    settings.perturbed_percent = 0;
    settings.extreme_percent = 0;
    for (std::uint64_t number = 0;; ++number) {
        if (const auto subject = fuzz::generate(schema, settings, number)) {
            operators::Descriptor descriptor = *subject->descriptor;
            descriptor.in_place = {};
            fuzz::make_neutral(descriptor);
            return descriptor;
        }
    }
}

/// A printed value. Repetitions in arrays are removed because their length depends on the tensors.
std::string text_of(const operators::Field& field, const operators::FieldValue& value) {
    const auto shortened = [&]<class T>(const std::vector<T>& items) {
        std::vector<T> different;
        for (const T item : items) {
            if (std::find(different.begin(), different.end(), item) == different.end()) {
                different.push_back(item);
            }
        }
        return operators::to_string(field, different);
    };
    return std::visit(
        [&](const auto& held) {
            if constexpr (requires { shortened(held); }) {
                return shortened(held);
            } else {
                return operators::to_string(field, value);
            }
        },
        value);
}

/// Formats as "OPERATOR; Attribute: value; …; with OptionalTensor": the attributes with a neutral value, and the
/// optional tensors that are present.
std::string line_of(const operators::Descriptor& descriptor) {
    std::string line(descriptor.schema->short_name());
    for (std::size_t i = 0; i < descriptor.values.size(); ++i) {
        const operators::Field& field = descriptor.schema->fields[i];
        if (field.is_tensor()) {
            const bool there = !std::holds_alternative<operators::Null>(descriptor.values[i]);
            line += field.optional && there ? "; with " + field.name : "";
        } else if (!descriptor.schema->is_count(field) && operators::neutral_value(descriptor, field)) {
            line += "; " + field.name + ": " + text_of(field, descriptor.values[i]);
        }
    }
    return line;
}

TEST(NeutralDescriptor, IsLegalForEachOperator) {
    for (const std::string& name : operators::operator_names()) {
        const auto verdict = operators::validate(neutral(*operators::find_operator(name)), core::highest_feature_level);
        EXPECT_FALSE(verdict) << name << ": " << verdict->message;
    }
}

TEST(NeutralDescriptor, IsWhatTheTableSays) {
    std::ifstream table(NEUTRAL_TABLE);
    ASSERT_TRUE(table);
    for (const std::string& name : operators::operator_names()) {
        std::string expected;
        ASSERT_TRUE(std::getline(table, expected)) << name;
        EXPECT_EQ(line_of(neutral(*operators::find_operator(name))), expected);
    }
}

}  // namespace
}  // namespace neutral_descriptor_test
