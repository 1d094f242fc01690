// Computes facts on first use.
#include "engine/expectations/case_facts.h"

#include <algorithm>

#include "engine/operators/rules.h"

namespace dmlconform::expectations {

const std::string& CaseFacts::broken_rule() {
    if (!broken_rule_) {
        const auto verdict = operators::validate(descriptor(), core::highest_feature_level);
        broken_rule_ = verdict ? verdict->rule : "";
    }
    return *broken_rule_;
}

const core::Tensor* CaseFacts::input(std::size_t index) {
    inputs_.resize(subject_.inputs.size());
    if (index >= inputs_.size() || !subject_.inputs[index]) {
        return nullptr;
    }
    if (!inputs_[index]) {
        core::Tensor filled(*descriptor().inputs()[index].desc);
        if (!subject_.inputs[index]->fill(filled)) {
            return nullptr;
        }
        inputs_[index] = core::packed_copy(filled);
    }
    return &*inputs_[index];
}

const std::optional<std::vector<double>>& CaseFacts::kept(Kept& all, const OutputElements::Source& source,
                                                          std::size_t output) {
    all.resize(std::max(all.size(), output + 1));
    if (!all[output]) {
        all[output] = source ? source(output) : std::nullopt;
    }
    return *all[output];
}

const std::optional<std::vector<double>>& CaseFacts::expected(std::size_t output) {
    return kept(expected_, elements_.expected, output);
}

const std::optional<std::vector<double>>& CaseFacts::actual(std::size_t output) {
    return kept(actual_, elements_.actual, output);
}

}  // namespace dmlconform::expectations
