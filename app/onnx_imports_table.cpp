// Lists mappings and expansions, a row for each ONNX operator.
#include "app/onnx_imports_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <vector>

#include "engine/interop/onnx_expansion.h"
#include "engine/interop/onnx_mapping.h"
#include "engine/interop/onnx_unrolling.h"

namespace dmlconform::app {
namespace {

struct Row {
    std::string becomes;
    std::string remark;
};

std::map<std::string, Row> rows_of_operators() {
    std::map<std::string, Row> rows;
    for (const interop::OnnxMapping& mapping : interop::onnx_mappings()) {
        rows[std::string(mapping.type)] = {std::string(mapping.directml), std::string(mapping.remark)};
    }
    std::vector<interop::ExpandedOperator> several = interop::expanded_operators();
    std::ranges::move(interop::unrolled_operators(), std::back_inserter(several));
    for (const interop::ExpandedOperator& expanded : several) {
        Row& row = rows[expanded.type];
        if (row.becomes.empty()) {
            row.becomes = "several";
        }
        row.remark += (row.remark.empty() || expanded.remark.empty() ? "" : "; ") + expanded.remark;
    }
    return rows;
}

}  // namespace

std::string onnx_imports_table() {
    const auto rows = rows_of_operators();
    std::string text;
    for (const auto& [type, row] : rows) {
        text += fmt::format("| {} | {} | {} |\n", type, row.becomes, row.remark);
    }
    return fmt::format(
        "# ONNX operators that are imported\n\n"
        "<!-- Written by `dmlconform import onnx-test --table`, which this file must equal. Do not edit. -->\n\n"
        "The importer of [models and of ONNX's node tests](models.md) knows these {} operators. The table says which "
        "of\n"
        "DirectML's operators each becomes. \"Several\" means a group of nodes, each of which becomes an operator: "
        "what\n"
        "ONNX, or ONNX Runtime for `com.microsoft`, defines the operator as.\n\n"
        "| ONNX operator | Becomes | Remark |\n| --- | --- | --- |\n{}",
        rows.size(), text);
}

}  // namespace dmlconform::app
