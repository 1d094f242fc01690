// Tests that the corpus has a case for each output that may be computed in an input's memory.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>

#include "engine/cases/case_file.h"
#include "engine/cpu/reference.h"
#include "engine/operators/in_place.h"

namespace dmlconform::tests::in_place_corpus_test {
namespace {

using Sharing = std::tuple<std::string, std::string, std::string>;

TEST(InPlaceCorpus, EveryOutputInTheMemoryOfEveryInputThatIsAllowed) {
    const cases::Suite suite =
        cases::load_suite(std::vector<std::string>{DMLCONFORM_CASES "/element_wise/in_place.json"});
    ASSERT_TRUE(suite.problems.empty());
    std::set<Sharing> covered;
    for (const cases::Case& subject : suite.cases) {
        for (const auto& [output, input] : operators::in_place_names(*subject.descriptor)) {
            covered.emplace(subject.descriptor->schema->name, output, input);
        }
    }
    std::size_t operators = 0;
    for (const std::string& name : operators::operator_names()) {
        const operators::OperatorSchema& schema = *operators::find_operator(name);
        operators += schema.in_place.empty() ? 0 : 1;
        for (const auto& [output, inputs] : schema.in_place) {
            for (const std::string& input : inputs) {
                EXPECT_TRUE(!cpu::has_reference(schema) || covered.contains({schema.name, output, input}))
                    << schema.name << ": no case computes " << output << " in the memory of " << input;
            }
        }
    }
    EXPECT_GE(operators, 74u);
}

}  // namespace
}  // namespace dmlconform::tests::in_place_corpus_test
