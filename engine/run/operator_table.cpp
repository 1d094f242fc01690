// Writes the table, with one row for each operator of the catalogue.
#include "engine/run/operator_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <vector>

#include "engine/core/glob.h"
#include "engine/cpu/reference.h"
#include "engine/run/engine_list.h"
#include "engine/run/output_elements.h"
#include "engine/run/runner.h"

namespace dmlconform::run {
namespace {

using operators::OperatorSchema;

constexpr std::string_view introduction = R"(# Operators

<!-- Written by `dmlconform describe --table --cases cases`, which this file must equal. Do not edit. -->

All operators of DirectML up to feature level 6.4. You can write cases for any of them. dmlconform checks these cases,
and runs them on DirectML against the values that they expect. The engine `cpu`, which is the reference, computes {0} of
the {2} operators. The engine `d3d12` computes {1}.

- *Types* are those of the operator's first tensor at the highest feature level: `FLOAT 16 32` is FLOAT16 and FLOAT32.
- *Tolerance* is the default for FLOAT32, which counts if a case states none. Where results are rounded, the accepted
  range is worked out for each element. The figures are its whole width in ULPs: the median and the largest. They are
  over 4,096 random arguments with magnitudes from 2^-10 to 16 for element-wise operators, and over 100 random cases for
  the others. One rounding that is left open is one ULP wide. Large figures come from results near zero, from long sums,
  or from functions for which Direct3D guarantees little (SIN and COS: 0.0008 absolute). *Exact* only leaves open
  whether subnormal numbers count as zero. A quantised result may be that of any real number in its range, which is the
  same one for most arguments. Integers are exact.
- *Cases* is how many cases this repository has, including the expansions of sweeps.
- *DirectML* is how many of them DirectML itself answers as the case expects. `all` means all of them. `51 of 52: POW`
  means 51 of 52, and the finding of that name explains the others ([findings](findings)). `26 to 32 of 32` means that we
  know which cases may differ, but not whether they do. Cases tagged `unspecified` do not count. The numbers follow from
  the [expectations](../cases/expectations) that a run of all cases on DirectML is judged by. Operators without a case
  that counts are not compared.

| Operator | From level | Engines | Types | Tolerance | Cases | DirectML |
| --- | --- | --- | --- | --- | --- | --- |
)";

constexpr std::string_view introduction_of_float16 = R"(
## Tolerances of FLOAT16

The same figures in ULPs of FLOAT16, over 100 random cases of all types. One rounding that is left open, to nearest or
towards zero, is at most one ULP wide.

| Operator | Tolerance |
| --- | --- |
)";

/// The data types of an operator: "FLOAT 16 32, INT 8 32".
std::string types_of(const OperatorSchema& schema) {
    for (const operators::Field& field : schema.fields) {
        const auto* support = field.is_tensor() ? schema.support_at(field.name, core::highest_feature_level) : nullptr;
        if (support == nullptr) {
            continue;
        }
        std::vector<std::string> groups;
        for (const std::string_view kind : {"FLOAT", "INT", "UINT"}) {
            std::map<std::uint32_t, std::string> widths;
            for (const core::DataType type : support->data_types) {
                const std::string_view name = core::name(type);
                if (name.starts_with(kind)) {
                    widths[core::bits_of(type)] = name.substr(kind.size());
                }
            }
            std::string text;
            for (const auto& [bits, width] : widths) {
                text += " " + width;
            }
            if (!text.empty()) {
                groups.push_back(std::string(kind) + text);
            }
        }
        return fmt::format("{}", fmt::join(groups, ", "));
    }
    return "";
}

/// Rounds to two digits, without platform-dependent functions.
std::string width_text(double width) {
    return std::isinf(width) ? "unbounded" : fmt::format("{:g}", std::stod(fmt::format("{:.1e}", width)));
}

std::string widths_text(const std::optional<cpu::element_wise::Widths>& widths) {
    return widths ? fmt::format("{}, at most {}", width_text(widths->median), width_text(widths->largest)) : "";
}

std::string tolerance_of(const OperatorSchema& schema, const std::optional<cpu::element_wise::Widths>& widths) {
    if (!cpu::has_reference(schema)) {
        return "";
    }
    const auto desc = core::TensorDesc::packed(core::DataType::float32, {1});
    operators::Descriptor descriptor;
    descriptor.schema = &schema;
    for (const operators::Field& field : schema.fields) {
        descriptor.values.push_back(field.type == operators::FieldType::tensor_desc ? operators::FieldValue(desc)
                                                                                    : operators::FieldValue());
    }
    const core::Tolerance tolerance = cpu::default_tolerance(descriptor, {"OutputTensor", &desc});
    if (!tolerance.element_slack) {
        return core::to_string(tolerance);
    }
    if (!widths) {
        return "bounded for each element";
    }
    return tolerance.slack_formula.starts_with("exact") ? "exact" : widths_text(widths);
}

std::string agreement(const OperatorCases& cases) {
    if (cases.compared == 0) {
        return "not compared";
    }
    if (cases.different + cases.doubtful == 0) {
        return "all";
    }
    const std::size_t most = cases.compared - cases.different;
    const std::string least = cases.doubtful == 0 ? "" : fmt::format("{} to ", most - cases.doubtful);
    return fmt::format("{}{} of {}: {}", least, most, cases.compared, fmt::join(cases.findings, ", "));
}

}  // namespace

void count_case(CasesByOperator& cases, const cases::Case& subject, std::span<const expectations::Expectation> known) {
    OperatorCases& own = cases[subject.descriptor->schema->name];
    ++own.all;
    if (known.empty() || subject.has_tag(unspecified_tag)) {
        return;
    }
    ++own.compared;
    expectations::CaseFacts facts(subject, elements_by_reference(subject));
    bool different = false;
    bool doubtful = false;
    for (const expectations::Expectation& entry : known) {
        if (core::glob_matches(entry.engine, "directml") && entry.meets(subject.id, facts) &&
            entry.means_some_element(facts)) {
            // Entries for elements that may differ do not require a difference.
            different = different || (entry.forbids_a_pass() && !entry.elements);
            doubtful = true;
            own.findings.insert(entry.finding.empty() ? entry.reason : entry.finding);
        }
    }
    own.different += different ? 1 : 0;
    own.doubtful += doubtful && !different ? 1 : 0;
}

WidthsByType widths_of_arguments(const OperatorSchema& schema) {
    return {cpu::element_wise::widths_of(schema), std::nullopt};
}

std::string operator_table(const CasesByOperator& cases, const WidthsOf& widths_of) {
    std::map<std::string, std::size_t> engines;
    std::string rows;
    std::string rows_of_float16;
    const OperatorCases none;
    const std::vector<std::string> names = operators::operator_names();
    for (const std::string& name : names) {
        const OperatorSchema& schema = *operators::find_operator(name);
        const std::vector<std::string> own = engines_for(schema);
        for (const std::string& engine : own) {
            ++engines[engine];
        }
        const auto found = cases.find(name);
        const OperatorCases& counted = found == cases.end() ? none : found->second;
        const WidthsByType widths = widths_of(schema);
        rows += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", schema.short_name(),
                            core::to_string(schema.introduced), fmt::join(own, ", "), types_of(schema),
                            tolerance_of(schema, widths.usual), counted.all, agreement(counted));
        if (widths.float16) {
            rows_of_float16 += fmt::format("| {} | {} |\n", schema.short_name(), widths_text(widths.float16));
        }
    }
    return fmt::format(fmt::runtime(introduction), engines["cpu"], engines["d3d12"], names.size()) + rows +
           (rows_of_float16.empty() ? "" : std::string(introduction_of_float16) + rows_of_float16);
}

}  // namespace dmlconform::run
