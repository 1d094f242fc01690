// Records how a case failed, and runs the passes that simplify it, from coarse to fine.
#include "engine/fuzz/reducer.h"

#include <nlohmann/json.hpp>

#include "engine/cases/case_writer.h"
#include "engine/fuzz/graph_reducer.h"
#include "engine/fuzz/search.h"
#include "engine/report/output_file.h"

namespace dmlconform::fuzz {

core::Result<Reduction> reduce(const cases::Case& subject, Engine& engine, Engine* other,
                               const ReduceSettings& settings) {
    if (subject.descriptor->graph != nullptr) {
        return reduce_graph(subject, engine, settings);
    }
    Search search(subject, engine, other, settings);
    if (auto begun = search.begin(); !begun) {
        return tl::unexpected(begun.error());
    }
    bool changed = true;
    while (changed && !search.over()) {
        changed = false;
        for (const auto pass : {separate_memory, drop_optional_fields, simplify_layouts, shrink_sizes,
                                shrink_single_tensors, drop_dimensions, simplify_attributes, simplify_values}) {
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
