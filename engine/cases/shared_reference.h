// Results of the reference that are computed for several cases together: for a graph and for the cases of its nodes.
#pragma once

#include <memory>
#include <optional>

#include "engine/cases/case.h"
#include "engine/cpu/reference.h"

namespace dmlconform::cases {

/// The result for one case. A copy of the case, which may be changed, does not get it.
class SharedReference {
public:
    SharedReference() = default;
    SharedReference(const SharedReference&) = delete;
    SharedReference& operator=(const SharedReference&) = delete;
    virtual ~SharedReference() = default;

    /// Must be called before `take_for`.
    void belongs_to(const std::shared_ptr<const Case>& subject) { subject_ = subject; }

    /// The result, once. Empty if the caller has to compute it. Throws EngineLost if the run is interrupted.
    [[nodiscard]] std::optional<cpu::Reference> take_for(const Case& asking) {
        return subject_.lock().get() == &asking ? take() : std::nullopt;
    }

private:
    virtual std::optional<cpu::Reference> take() = 0;

    std::weak_ptr<const Case> subject_;
};

}  // namespace dmlconform::cases
