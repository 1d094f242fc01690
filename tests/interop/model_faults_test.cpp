// Plants faults in an engine, one in one node of a model at a time: that node fails, no other one does, and the verdict
// of the whole graph names it. `reduce` of the bundle of either ends with the operator of that node.
#include <bit>

#include "engine/cases/corpus.h"
#include "engine/fuzz/reducer.h"
#include "engine/interop/model/model_case.h"
#include "engine/report/bundle.h"
#include "engine/run/graph_verdicts.h"
#include "engine/run/node_cases.h"

#include "tests/interop/model_imports.h"

namespace dmlconform::tests::model_faults_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Floats = std::span<float>;

float as_float16(float x) {
    const auto type = core::DataType::float16;
    return static_cast<float>(core::decode_element(type, *core::encode_element(type, double{x})));
}

/// Truncates to the eight significant bits of BFLOAT16.
float as_bfloat16(float x) {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0xffff0000U);
}

/// A way to be wrong: changes what the node reads, or what it writes.
struct Fault {
    const char* what;
    void (*change_inputs)(std::vector<core::Tensor>& inputs) = nullptr;
    void (*change_output)(Floats output) = nullptr;
};

const Fault one_element{"one element", nullptr, [](Floats y) { y[y.size() / 2] += 0.01F; }};
const Fault one_channel{"one channel", nullptr, [](Floats y) { std::ranges::fill(y.first(y.size() / 4), -1.0F); }};
const Fault last_row{"last row", nullptr,
                     [](Floats y) { std::ranges::fill(y.last(std::min<std::size_t>(3, y.size())), 99.0F); }};
const Fault in_float16{"FLOAT16 instead of FLOAT32", nullptr,
                       [](Floats y) { std::ranges::transform(y, y.begin(), as_float16); }};
const Fault shifted{"shifted by one", nullptr, [](Floats y) { std::rotate(y.begin(), y.begin() + 1, y.end()); }};
const Fault not_a_number{"one NaN", nullptr, [](Floats y) { y[0] = std::numeric_limits<float>::quiet_NaN(); }};
const Fault negated{"negated", nullptr, [](Floats y) { std::ranges::transform(y, y.begin(), std::negate()); }};
const Fault scaled{"1 % too large", nullptr, [](Floats y) { std::ranges::for_each(y, [](float& x) { x *= 1.01F; }); }};
const Fault from_bfloat16{"reads BFLOAT16", [](std::vector<core::Tensor>& inputs) {
                              for (core::Tensor& input : inputs) {
                                  std::ranges::transform(input.as<float>(), input.as<float>().begin(), as_bfloat16);
                              }
                          }};
const Fault swapped{"swapped inputs", [](std::vector<core::Tensor>& inputs) { std::swap(inputs[0], inputs[1]); }};
const Fault other_value{"reads another value",
                        [](std::vector<core::Tensor>& inputs) { std::ranges::reverse(inputs[0].as<float>()); }};

struct PlantedFault {
    std::string node;
    Fault fault;
};

/// A dropped activation is a node that copies its input.
constexpr const char* dropped = "dropped activation";

std::vector<PlantedFault> planted_faults() {
    std::vector<PlantedFault> all;
    const auto add = [&](const char* node, const std::vector<Fault>& faults) {
        for (const Fault& fault : faults) {
            all.push_back({node, fault});
        }
    };
    add("conv",
        {one_element, one_channel, last_row, in_float16, shifted, not_a_number, negated, from_bfloat16, other_value});
    add("relu", {one_element, one_channel, last_row, in_float16, shifted, not_a_number, {dropped}});
    add("pool", {one_element, last_row, in_float16, shifted, negated});
    add("gemm", {one_element, in_float16, scaled, from_bfloat16, other_value});
    add("difference", {swapped, one_element, in_float16});
    add("softmax", {one_element, in_float16, scaled, shifted});
    return all;
}

/// Computes as the reference, except for this operator.
class FaultyEngine final : public Engine {
public:
    FaultyEngine(const operators::OperatorSchema* wrong, const Fault& fault) : wrong_(wrong), fault_(fault) {
        info_.name = "faulty";
        info_.feature_level = core::highest_feature_level;
    }

    [[nodiscard]] const EngineInfo& info() const override { return info_; }
    [[nodiscard]] std::optional<std::string> unsupported(const operators::Descriptor& /*descriptor*/) const override {
        return std::nullopt;
    }
    [[nodiscard]] tl::expected<std::unique_ptr<Executable>, CompileFailure> compile(
        const operators::Descriptor& descriptor) override {
        return std::make_unique<Node>(descriptor, descriptor.schema == wrong_ ? &fault_ : nullptr);
    }

private:
    class Node final : public Executable {
    public:
        Node(const operators::Descriptor& descriptor, const Fault* fault) : descriptor_(descriptor), fault_(fault) {}

        core::Result<void> bind(std::span<const core::Tensor* const> inputs) override {
            inputs_.clear();
            for (const core::Tensor* input : inputs) {
                inputs_.push_back(input == nullptr ? core::Tensor() : core::packed_copy(*input));
                is_there_.push_back(input != nullptr);
            }
            return {};
        }
        core::Result<void> execute() override {
            if (fault_ != nullptr && fault_->change_inputs != nullptr) {
                fault_->change_inputs(inputs_);
            }
            std::vector<const core::Tensor*> pointers;
            for (std::size_t i = 0; i < inputs_.size(); ++i) {
                pointers.push_back(is_there_[i] ? &inputs_[i] : nullptr);
            }
            outputs_ = cpu::compute_outputs(descriptor_, pointers);
            const bool drops = fault_ != nullptr && fault_->what == dropped;
            if (drops) {
                std::ranges::copy(inputs_[0].as<float>(), outputs_[0].as<float>().begin());
            } else if (fault_ != nullptr && fault_->change_output != nullptr) {
                const auto count = static_cast<std::size_t>(*core::element_count(outputs_[0].desc.sizes));
                fault_->change_output(outputs_[0].as<float>().first(count));
            }
            return {};
        }
        core::Result<void> read(std::span<core::Tensor* const> outputs) override {
            for (std::size_t i = 0; i < outputs.size(); ++i) {
                if (outputs[i] != nullptr) {
                    const auto bytes = outputs_[i].buffer.bytes();
                    std::ranges::copy(bytes.first(static_cast<std::size_t>(outputs_[i].desc.total_bytes)),
                                      outputs[i]->buffer.bytes().begin());
                }
            }
            return {};
        }

    private:
        const operators::Descriptor& descriptor_;
        const Fault* fault_;
        std::vector<core::Tensor> inputs_;
        std::vector<bool> is_there_;
        std::vector<core::Tensor> outputs_;
    };

    const operators::OperatorSchema* wrong_;
    Fault fault_;
    EngineInfo info_;
};

/// Numbers from -1 to 1 that have no pattern.
onnx::TensorProto scattered(std::vector<std::int64_t> dims, std::uint32_t seed) {
    std::size_t count = 1;
    for (const std::int64_t size : dims) {
        count *= static_cast<std::size_t>(size);
    }
    std::vector<float> values(count);
    for (float& value : values) {
        seed = seed * 1664525 + 1013904223;
        value = static_cast<float>(seed >> 8) / 8388608.0F - 1;
    }
    return floats(std::move(dims), values);
}

std::string model_bytes() {
    const auto named = [](const char* name, onnx::NodeProto made) {
        made.name.set(name);
        return made;
    };
    return onnx::message_bytes(model_of(
        {{named("conv", node("Conv", {"x", "w"}, {"a"}, {integers("pads", {1, 1, 1, 1})})),
          named("relu", node("Relu", {"a"}, {"b"})),
          named("pool", node("MaxPool", {"b"}, {"c"}, {integers("kernel_shape", {2, 2}), integers("strides", {2, 2})})),
          node("Flatten", {"c"}, {"d"}), named("gemm", node("Gemm", {"d", "v"}, {"e"})),
          named("difference", node("Sub", {"e", "u"}, {"f"})), named("softmax", node("Softmax", {"f"}, {"y"}))},
         {{"x", scattered({1, 2, 6, 6}, 1)}},
         {{"y", {}}},
         {{"w", scattered({4, 2, 3, 3}, 2)}, {"v", scattered({36, 8}, 3)}, {"u", scattered({1, 8}, 4)}}}));
}

/// The results of the nodes and of the graph, in this order.
std::vector<run::CaseResult> results_of(const std::shared_ptr<const cases::Case>& subject, Engine& engine) {
    const run::GraphCase graph(subject);
    run::GraphVerdicts verdicts;
    std::vector<run::CaseResult> results;
    for (std::size_t n = 0; n < subject->descriptor->graph->nodes.size(); ++n) {
        const auto of_node = graph.node(n);
        results.push_back(run::run_case(*of_node, engine));
        results.back().subject = of_node;
        verdicts.hear(results.back());
    }
    results.push_back(run::run_case(*subject, engine));
    results.back().subject = subject;
    verdicts.hear(results.back());
    return results;
}

TEST(ModelFaults, ThirtyWaysToBeWrongAreFoundInTheirNode) {
    const TemporaryFolder folder;
    const auto model = interop::read_model_case(folder.write("net.onnx", model_bytes()));
    ASSERT_TRUE(model) << model.error().message;
    const auto subject = std::make_shared<const cases::Case>(*model->subject);
    const operators::Graph& graph = *subject->descriptor->graph;
    FaultyEngine honest(nullptr, one_element);
    const auto right = results_of(subject, honest);
    for (const run::CaseResult& result : right) {
        EXPECT_EQ(result.status, run::Status::pass) << result.reason;
    }
    EXPECT_THAT(right.back().nodes->wrong, testing::IsEmpty());
    const auto faults = planted_faults();
    EXPECT_GE(faults.size(), 30u);
    for (const auto& [name, fault] : faults) {
        SCOPED_TRACE(fmt::format("{}: {}", name, fault.what));
        const auto wrong = std::ranges::find(graph.nodes, name, &operators::GraphNode::name);
        ASSERT_NE(wrong, graph.nodes.end());
        FaultyEngine engine(wrong->descriptor->schema, fault);
        const auto results = results_of(subject, engine);
        for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
            const auto expected = graph.nodes[n].name == name ? run::Status::fail : run::Status::pass;
            EXPECT_EQ(results[n].status, expected) << graph.nodes[n].name << ": " << results[n].reason;
        }
        ASSERT_TRUE(results.back().nodes);
        EXPECT_EQ(results.back().nodes->judged, graph.nodes.size());
        EXPECT_THAT(results.back().nodes->wrong, ElementsAre(name));
        if (results.back().status == run::Status::fail) {
            EXPECT_THAT(results.back().hint, HasSubstr(fmt::format("node `{}` is wrong by itself", name)));
        }
    }
}

/// The case of a bundle that is written for a failure and read again.
std::optional<cases::Case> bundled(const std::shared_ptr<const cases::Case>& subject, FaultyEngine& engine,
                                   const std::string& folder) {
    run::CaseSettings settings;
    settings.keep_evidence = true;
    run::CaseResult result = run::run_case(*subject, engine, settings);
    result.subject = subject;
    EXPECT_TRUE(report::check_bundle_folder(folder));
    report::RunContext context;
    context.command = {"dmlconform", "run"};
    const auto bundle = report::write_bundle({.folder = folder}, context, engine.info(), result);
    EXPECT_TRUE(bundle) << bundle.error().error.message;
    if (!bundle) {
        return std::nullopt;
    }
    const std::vector<std::string> paths{*bundle};
    const cases::Corpus corpus = cases::load_corpus(paths);
    EXPECT_THAT(corpus.problems, testing::IsEmpty());
    EXPECT_EQ(corpus.positions(), 1u);
    return corpus.positions() == 1 ? cases::CorpusReader(corpus).at(0) : std::nullopt;
}

TEST(ModelFaults, BundlesReduceToTheOperatorToBlame) {
    const TemporaryFolder folder;
    const auto model = interop::read_model_case(folder.write("net.onnx", model_bytes()));
    ASSERT_TRUE(model) << model.error().message;
    const operators::Graph& graph = *model->subject->descriptor->graph;
    FaultyEngine honest(nullptr, one_element);
    std::size_t reduced_graphs = 0;
    std::size_t number = 0;
    for (const auto& [name, fault] : planted_faults()) {
        SCOPED_TRACE(fmt::format("{}: {}", name, fault.what));
        const auto wrong = std::ranges::find(graph.nodes, name, &operators::GraphNode::name);
        ASSERT_NE(wrong, graph.nodes.end());
        FaultyEngine engine(wrong->descriptor->schema, fault);
        const run::GraphCase cases_of_graph(model->subject);
        const auto of_node = cases_of_graph.node(static_cast<std::size_t>(wrong - graph.nodes.begin()));
        for (const auto& subject : {of_node, model->subject}) {
            if (subject == model->subject && run::run_case(*subject, engine).status != run::Status::fail) {
                continue;  // too small a fault for the tolerance of the whole graph
            }
            reduced_graphs += subject == model->subject ? 1 : 0;
            const auto failing = bundled(subject, engine, folder.at("bundles-" + std::to_string(++number)));
            ASSERT_TRUE(failing);
            const auto reduction = fuzz::reduce(*failing, engine, nullptr);
            ASSERT_TRUE(reduction) << reduction.error().message;
            EXPECT_EQ(reduction->result.status, run::Status::fail);
            EXPECT_EQ(reduction->subject.descriptor->graph, nullptr);
            EXPECT_EQ(reduction->subject.descriptor->schema, wrong->descriptor->schema)
                << reduction->subject.description;
            EXPECT_EQ(run::run_case(reduction->subject, honest).status, run::Status::pass);
        }
    }
    EXPECT_GE(reduced_graphs, 15u);
}

}  // namespace
}  // namespace dmlconform::tests::model_faults_test
