// The page is made by exporting plain cases of all operators.
#include "app/onnx_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "engine/fuzz/case_generator.h"
#include "engine/fuzz/example_case.h"
#include "engine/interop/export/onnx_export.h"

namespace dmlconform::app {
namespace {

/// A plain case of an operator as a model.
struct Plain {
    std::vector<std::string> nodes;
    /// From which opset on there is one.
    std::int64_t opset = 0;
    /// Why there is none.
    std::string reason;
};

/// The example takes long to find, so that all opsets get the same.
core::Result<interop::ExportedModel> plain_model(const operators::OperatorSchema& schema,
                                                 const std::optional<cases::Case>& example, std::int64_t opset) {
    std::optional<core::Error> first;
    const auto exported = [&](const std::optional<cases::Case>& subject) {
        auto model = subject ? interop::export_onnx(*subject->descriptor, opset) : core::fail("there is no example");
        if (!model && !first) {
            first = model.error();
        }
        return model;
    };
    if (auto model = exported(example)) {
        return model;
    }
    // The example may be what ONNX cannot express.
    constexpr std::uint64_t most_tried = 64;
    for (std::uint64_t number = 0; number < most_tried; ++number) {
        if (auto model = exported(fuzz::generate(schema, {1, core::highest_feature_level, 0, 0}, number))) {
            return model;
        }
    }
    return tl::unexpected(*first);
}

Plain plain_of(const operators::OperatorSchema& schema) {
    Plain plain;
    if (plain.reason = interop::never_exported(schema); !plain.reason.empty()) {
        return plain;
    }
    const std::optional<cases::Case> example = fuzz::example_case(schema);
    for (std::int64_t opset = interop::oldest_export_opset; opset <= interop::newest_export_opset; ++opset) {
        const auto model = plain_model(schema, example, opset);
        if (model && plain.opset == 0) {
            plain.opset = opset;
            plain.nodes = model->node_types;
        }
        if (model && opset == std::max(plain.opset, interop::default_export_opset)) {
            plain.nodes = model->node_types;
            return plain;
        }
        plain.reason = model ? "" : model.error().message;
    }
    return plain;
}

}  // namespace

std::string onnx_table() {
    std::string rows;
    std::size_t count = 0;
    const auto names = operators::operator_names();
    for (const std::string& name : names) {
        const operators::OperatorSchema& schema = *operators::find_operator(name);
        const Plain plain = plain_of(schema);
        count += plain.nodes.empty() ? 0 : 1;
        rows += plain.nodes.empty()
                    ? fmt::format("| {} | - | {} |\n", schema.short_name(), plain.reason)
                    : fmt::format("| {} | {} | {} |\n", schema.short_name(), plain.opset, fmt::join(plain.nodes, ", "));
    }
    return fmt::format(
        "# Operators as ONNX models\n\n"
        "<!-- Written by `dmlconform export onnx --table`, which this file must equal. Do not edit. -->\n\n"
        "`dmlconform export onnx` makes models of {} of the {} operators. The table has a plain case of each: from "
        "which\n"
        "opset on it can be a model, and which nodes that model has at opset {}, or at the first opset that it can "
        "have.\n"
        "Where there is no opset, it says why there is no model. Other cases may need more nodes: strides become "
        "Expand\n"
        "and Transpose, fused activations follow as nodes of their own, and types that a node does not take are "
        "cast.\n\n"
        "| Operator | From opset | Nodes |\n| --- | --- | --- |\n{}",
        count, names.size(), interop::default_export_opset, rows);
}

}  // namespace dmlconform::app
