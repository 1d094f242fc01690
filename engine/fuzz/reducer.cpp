// How a case failed, and the passes over it, from coarse to fine.
#include "engine/fuzz/reducer.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/cases/case_writer.h"
#include "engine/fuzz/search.h"
#include "engine/report/output_file.h"

namespace dmlconform::fuzz {

FailureKind kind_of(const cases::Case& subject, const run::CaseResult& result) {
    using What = FailureKind::What;
    FailureKind kind{result.status, What::other};
    if (result.status != run::Status::fail) {
        return kind;
    }
    const bool differs = std::any_of(result.outputs.begin(), result.outputs.end(),
                                     [](const run::OutputResult& output) { return !output.comparison.passed(); });
    if (result.rejection) {
        kind.what = subject.expect_error ? What::wrong_code : What::rejected;
    } else if (subject.expect_error) {
        kind.what = What::accepted;
    } else if (!result.stray_writes.empty()) {
        kind.what = What::stray_write;
    } else if (differs) {
        kind.what = What::differs;
    }
    return kind;
}

core::Result<Reduction> reduce(const cases::Case& subject, Engine& engine, Engine* other,
                               const ReduceSettings& settings) {
    Search search(subject, engine, other, settings);
    if (auto begun = search.begin(); !begun) {
        return tl::unexpected(begun.error());
    }
    bool changed = true;
    while (changed && !search.over()) {
        changed = false;
        for (const auto pass : {drop_optional_fields, simplify_layouts, shrink_sizes, shrink_single_tensors,
                                drop_dimensions, simplify_attributes, simplify_values}) {
            changed = pass(search) || changed;
        }
    }
    return search.finish();
}

core::Result<void> write_reduced(const cases::Case& subject, const std::string& path) {
    const auto object = cases::case_to_json(subject);
    if (!object) {
        return tl::unexpected(object.error());
    }
    return report::write_file(path, cases::case_file_text("", {&*object, 1}));
}

}  // namespace dmlconform::fuzz
