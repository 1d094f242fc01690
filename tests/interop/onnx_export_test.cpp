// Exports every operator as a model and imports it: the import computes the same values, or the reason why it cannot is
// reported.
#include "engine/interop/export/onnx_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <map>

#include "engine/core/element.h"
#include "engine/core/guard.h"
#include "engine/cpu/reference.h"
#include "engine/fuzz/case_generator.h"
#include "engine/fuzz/random_graph.h"
#include "engine/interop/model/importer.h"
#include "engine/operators/graph.h"

namespace dmlconform::tests {
namespace onnx_export_test {
namespace {

/// Random cases per operator. ONNX cannot express some of them.
constexpr std::uint64_t case_count = 24;
/// Limit for the number of cases of an operator that are tried until one of them can be imported again.
constexpr std::uint64_t most_tried = 400;

/// Operators whose models cannot be imported because of what the importer is, and not because of what is exported.
bool is_never_imported(const std::string& name) {
    // The importer leaves out models whose outputs are constants.
    return name == "DML_OPERATOR_FILL_VALUE_CONSTANT" || name == "DML_OPERATOR_FILL_VALUE_SEQUENCE" ||
           name == "DML_OPERATOR_DIAGONAL_MATRIX";
}

std::vector<core::Tensor> inputs_of(const cases::Case& subject) {
    std::vector<core::Tensor> tensors;
    const auto slots = subject.descriptor->inputs();
    for (std::size_t i = 0; i < slots.size(); ++i) {
        tensors.push_back(slots[i].desc == nullptr ? core::Tensor() : core::Tensor(*slots[i].desc));
        if (slots[i].desc != nullptr) {
            EXPECT_TRUE(subject.inputs[i]->fill(tensors.back()));
        }
    }
    return tensors;
}

std::vector<const core::Tensor*> pointers_to(const operators::Descriptor& descriptor,
                                             const std::vector<core::Tensor>& tensors) {
    std::vector<const core::Tensor*> pointers;
    const auto slots = descriptor.inputs();
    for (std::size_t i = 0; i < slots.size(); ++i) {
        pointers.push_back(slots[i].desc == nullptr ? nullptr : &tensors[i]);
    }
    return pointers;
}

/// What the imported model computes, as the original descriptor's outputs. An error if the importer leaves something
/// out. It does not compute outputs that are constants: these have no elements here.
core::Result<std::vector<core::Tensor>> computed_by_import(const interop::ExportedModel& exported,
                                                           const operators::Descriptor& original,
                                                           const std::vector<core::Tensor>& inputs) {
    onnx::ModelProto model;
    if (!onnx::read_message(exported.bytes, model)) {
        return core::fail("the model cannot be parsed");
    }
    const auto imported = interop::import_model(model, "model.onnx");
    if (!imported) {
        return core::fail("not imported: " + imported.error().message);
    }
    if (!imported->cuts.empty()) {
        return core::fail("cut: " + imported->cuts.front().node.type + ": " + imported->cuts.front().reason);
    }
    const auto graph = operators::graph_descriptor(imported->graph);
    std::vector<core::Tensor> bound;
    for (std::size_t i = 0; i < imported->inputs.size(); ++i) {
        bound.emplace_back(imported->graph->values[imported->graph->inputs[i]].desc);
        const interop::ModelInput& input = imported->inputs[i];
        if (input.data) {
            EXPECT_TRUE(input.data->fill(bound.back()));
            continue;
        }
        for (std::size_t k = 0; k < exported.inputs.size(); ++k) {
            if (exported.inputs[k] && exported.inputs[k]->name == input.name) {
                const core::Tensor packed = interop::port_elements(*exported.inputs[k], inputs[k]);
                const auto bytes = packed.buffer.bytes();
                EXPECT_TRUE(cases::given_elements({bytes.begin(), bytes.end()}).fill(bound.back()));
            }
        }
    }
    if (!cpu::has_reference(*graph)) {
        return core::fail("there is no reference");
    }
    const cpu::Reference reference = cpu::compute_reference(*graph, pointers_to(*graph, bound));
    const auto slots = original.outputs();
    std::vector<core::Tensor> outputs(slots.size());
    std::size_t found = 0;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i].desc == nullptr) {
            continue;
        }
        for (std::size_t k = 0; k < imported->outputs.size(); ++k) {
            if (imported->outputs[k].name == exported.outputs[i]->name) {
                const core::Tensor packed = core::packed_copy(reference.outputs[k]);
                outputs[i] = core::output_tensor(*slots[i].desc);
                interop::store_port_elements(*exported.outputs[i], packed.buffer.bytes(), outputs[i]);
                ++found;
            }
        }
    }
    return found == imported->outputs.size() ? core::Result<std::vector<core::Tensor>>(std::move(outputs))
                                             : core::fail("the model has other outputs");
}

/// Additional nodes may round, so the tolerance is wider than the operator's. Functions magnify roundings: scores of
/// attention are rounded as numbers of the size of MaskFilterValue, 10000, and products in front of activations as
/// FLOAT16.
bool is_same(core::DataType type, double expected, double computed, bool has_functions) {
    if (std::isnan(expected) || std::isnan(computed) || std::isinf(expected)) {
        return true;  // engines may differ in NaN and overflow
    }
    const double share = (type == core::DataType::float16 ? 0x1p-8 : 0x1p-17) * (has_functions ? 256 : 1);
    return !core::is_floating_point(type) ? expected == computed
                                          : std::abs(expected - computed) <= share * (std::abs(expected) + 1);
}

std::string difference(const core::Tensor& expected, const core::Tensor& computed, bool has_functions) {
    const core::Tensor a = core::packed_copy(expected);
    const core::Tensor b = core::packed_copy(computed);
    const core::DataType type = a.desc.data_type;
    for (std::uint64_t i = 0; i < *core::element_count(a.desc.sizes); ++i) {
        const double wanted = core::decode_element(type, core::load_element(a.buffer.bytes(), type, i));
        const double got = core::decode_element(type, core::load_element(b.buffer.bytes(), type, i));
        if (!is_same(type, wanted, got, has_functions)) {
            return "element " + std::to_string(i) + " is " + std::to_string(got) + " and not " + std::to_string(wanted);
        }
    }
    return "";
}

/// The outcome of exporting and importing a case.
struct RoundTrip {
    /// Why the case was not exported, or why the model was not imported.
    std::string reason;
    bool is_exported = false;
};

RoundTrip round_trip(const cases::Case& subject) {
    const operators::Descriptor& descriptor = *subject.descriptor;
    const auto exported = interop::export_onnx(descriptor);
    if (!exported) {
        return {exported.error().message, false};
    }
    const auto inputs = inputs_of(subject);
    const cpu::Reference reference = cpu::compute_reference(descriptor, pointers_to(descriptor, inputs));
    const auto computed = computed_by_import(*exported, descriptor, inputs);
    if (!computed) {
        return {computed.error().message, true};
    }
    const auto slots = descriptor.outputs();
    const bool has_functions =
        descriptor.graph != nullptr || descriptor.schema->short_name().find("ATTENTION") != std::string::npos ||
        (descriptor.has_field("FusedActivation") && descriptor.activation("FusedActivation") != nullptr);
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i].desc != nullptr && !(*computed)[i].desc.sizes.empty()) {
            EXPECT_EQ(difference(reference.outputs[i], (*computed)[i], has_functions), "")
                << slots[i].name << " of " << subject.id << ": "
                << testing::PrintToString(operators::to_lines(descriptor));
        }
    }
    return {"", true};
}

class EveryOperator : public testing::TestWithParam<std::string> {};

TEST_P(EveryOperator, ComputesTheSameAfterExportAndImport) {
    const operators::OperatorSchema& schema = *operators::find_operator(GetParam());
    std::size_t same = 0;
    std::map<std::string, int> reasons;
    std::uint64_t tried = 0;
    const bool can_be_same = interop::never_exported(schema).empty() && !is_never_imported(GetParam());
    for (; tried < case_count || (can_be_same && same == 0 && tried < most_tried); ++tried) {
        const std::uint64_t number = tried;
        const auto subject = fuzz::generate(schema, {1, core::highest_feature_level, 0, 0}, number);
        if (!subject || subject->expect_error) {
            continue;
        }
        const RoundTrip result = round_trip(*subject);
        same += result.reason.empty() ? 1 : 0;
        if (!result.reason.empty()) {
            ++reasons[(result.is_exported ? "import: " : "export: ") + result.reason];
        }
    }
    for (const auto& [reason, count] : reasons) {
        std::printf("%s: %d of %d: %s\n", GetParam().c_str(), count, static_cast<int>(tried), reason.c_str());
    }
    EXPECT_EQ(same > 0, can_be_same);
}

INSTANTIATE_TEST_SUITE_P(OnnxExport, EveryOperator, testing::ValuesIn(operators::operator_names()),
                         [](const auto& info) { return info.param; });

TEST(OnnxExportGraphs, RandomGraphsComputeTheSameAfterExportAndImport) {
    constexpr std::uint64_t graph_count = 40;
    std::size_t exported = 0;
    std::size_t same = 0;
    for (std::uint64_t number = 0; number < graph_count; ++number) {
        const auto subject = fuzz::generate_graph({1, core::highest_feature_level, 0, 0}, number);
        if (!subject || subject->expect_error) {
            continue;
        }
        const RoundTrip result = round_trip(*subject);
        exported += result.is_exported ? 1 : 0;
        same += result.reason.empty() ? 1 : 0;
        if (!result.reason.empty()) {
            std::printf("%s: %s\n", subject->id.c_str(), result.reason.c_str());
        }
    }
    std::printf("%zu graphs exported, %zu the same\n", exported, same);
    EXPECT_GE(exported, graph_count / 2);
    EXPECT_GE(same, graph_count / 4);
}

}  // namespace
}  // namespace onnx_export_test
}  // namespace dmlconform::tests
