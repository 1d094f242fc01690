// Takes the last tensor out of each constraint on several tensors. A case must notice: its descriptor, which the
// constraint rejects, then breaks this rule no more. So an engine that looks at all tensors but the last is found.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cases/corpus.h"
#include "engine/core/feature_level.h"
#include "engine/operators/rules.h"

namespace dmlconform::tests::last_tensor_test {
namespace {

using operators::Descriptor;
using operators::OperatorSchema;

/// Descriptors that cases expect to be rejected, by operator.
using Rejected = std::map<const OperatorSchema*, std::vector<Descriptor>>;

const Rejected& rejected() {
    static const Rejected result = [] {
        Rejected found;
        const std::array<std::string, 1> paths{DMLCONFORM_CASES};
        const cases::Corpus corpus =
            cases::load_corpus(paths, {.pass_over_expectations = true}, [&](const cases::Case& subject) {
                if (subject.expect_error && subject.descriptor->graph == nullptr) {
                    found[subject.descriptor->schema].push_back(*subject.descriptor);
                }
            });
        EXPECT_TRUE(corpus.problems.empty());
        return found;
    }();
    return result;
}

std::string rule_of(const Descriptor& descriptor) {
    const operators::Verdict verdict = operators::validate(descriptor, core::highest_feature_level);
    return verdict ? verdict->rule : std::string();
}

/// A constraint of some tensors, and a schema in which the last of them is not constrained.
struct Relaxed {
    std::string name;
    OperatorSchema schema;
};

template <class Constraint>
void relax(std::vector<Relaxed>& all, const OperatorSchema& schema, std::vector<Constraint> OperatorSchema::*list,
           std::size_t fewest, std::string_view what) {
    for (std::size_t c = 0; c < (schema.*list).size(); ++c) {
        const auto& tensors = (schema.*list)[c].tensors;
        if (tensors.size() >= fewest) {
            all.push_back({fmt::format("{}: {} {} of {}", schema.short_name(), what, c, tensors.back()), schema});
            (all.back().schema.*list)[c].tensors.pop_back();
        }
    }
}

/// The first of several tensors with the same property is what the others are compared with.
std::vector<Relaxed> relaxations_of(const OperatorSchema& schema) {
    std::vector<Relaxed> all;
    relax(all, schema, &OperatorSchema::same, 3, "same");
    relax(all, schema, &OperatorSchema::sizes, 2, "sizes");
    return all;
}

bool is_noticed(const Relaxed& relaxed, const std::vector<Descriptor>& descriptors) {
    return std::ranges::any_of(descriptors, [&](const Descriptor& descriptor) {
        const std::string rule = rule_of(descriptor);
        if (!rule.starts_with("tensor.")) {
            return false;
        }
        Descriptor copy = descriptor;
        copy.schema = &relaxed.schema;
        return rule_of(copy) != rule;
    });
}

TEST(LastTensor, OfEachConstraintIsInACase) {
    std::size_t count = 0;
    for (const std::string& name : operators::operator_names()) {
        const OperatorSchema& schema = *operators::find_operator(name);
        const auto found = rejected().find(&schema);
        for (const Relaxed& relaxed : relaxations_of(schema)) {
            ++count;
            EXPECT_TRUE(found != rejected().end() && is_noticed(relaxed, found->second)) << relaxed.name;
        }
    }
    EXPECT_GT(count, 100u);
}

}  // namespace
}  // namespace dmlconform::tests::last_tensor_test
