// Readers of corpora and of lists.
#include "engine/run/case_source.h"

namespace dmlconform::run {

CaseSource selected_cases(const cases::Corpus& corpus, const Selector& selector) {
    return {corpus.positions(), [&corpus, &selector]() -> CaseSource::Reader {
                return [reader = cases::CorpusReader(corpus), &selector](std::size_t position) mutable {
                    auto subject = reader.at(position);
                    return subject && selector.matches(*subject)
                               ? std::make_shared<const cases::Case>(std::move(*subject))
                               : std::shared_ptr<const cases::Case>();
                };
            }};
}

CaseSource these_cases(std::span<const cases::Case* const> cases) {
    return {cases.size(), [cases]() -> CaseSource::Reader {
                return [cases](std::size_t position) {
                    return std::shared_ptr<const cases::Case>(std::shared_ptr<void>(), cases[position]);
                };
            }};
}

}  // namespace dmlconform::run
