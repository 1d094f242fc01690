// Tests of the hints that relate the failure of a graph to its nodes.
#include "engine/run/graph_verdicts.h"

#include <gtest/gtest.h>

#include <memory>

#include "tests/graph_builder.h"

namespace dmlconform::tests::graph_verdicts_test {
namespace {

using core::DataType;
using run::Status;

/// The hint of a graph that fails with this hint after its node has this status.
std::string hint_of(Status node, const std::string& hint) {
    const core::TensorDesc sizes = tensor(DataType::float32, {2});
    cases::Case whole;
    whole.id = "net/model";
    whole.descriptor = graph_of({unary("a", "ACTIVATION_RELU", sizes, "x", "y")}, {"y"});
    cases::Case one;
    one.id = "net/model/a";
    one.graph_id = whole.id;
    one.node_name = "a";
    one.descriptor = whole.descriptor->graph->nodes[0].descriptor;
    run::GraphVerdicts verdicts;
    run::CaseResult of_node;
    of_node.subject = std::make_shared<const cases::Case>(one);
    of_node.status = node;
    verdicts.hear(of_node);
    run::CaseResult result;
    result.subject = std::make_shared<const cases::Case>(whole);
    result.status = Status::fail;
    result.hint = hint;
    verdicts.hear(result);
    return result.hint;
}

TEST(GraphVerdicts, PrecedeTheHintThatIsThere) {
    EXPECT_EQ(hint_of(Status::fail, "suspect"), "node `a` is wrong by itself; suspect");
    EXPECT_EQ(hint_of(Status::fail, ""), "node `a` is wrong by itself");
    EXPECT_EQ(hint_of(Status::reference, "suspect"), "suspect") << "the reference says nothing about its own nodes";
    EXPECT_EQ(hint_of(Status::reference, ""), "");
}

}  // namespace
}  // namespace dmlconform::tests::graph_verdicts_test
