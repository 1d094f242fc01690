// Groups failures with the same operator, engine, failure kind and rule.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "engine/fuzz/fuzzer.h"
#include "engine/run/failure_kind.h"

namespace dmlconform::fuzz {

/// One kind of failure.
struct FailureGroup {
    std::uint64_t count = 0;
    /// The first case with the smallest number of elements.
    std::shared_ptr<const cases::Case> smallest;
    std::string reason;
    std::size_t engine = 0;
};

class FailureGroups {
public:
    /// Adds a failure. True if it is the first one of its group.
    bool add(const Failure& failure);

    /// All groups, ordered by operator.
    [[nodiscard]] std::vector<const FailureGroup*> all() const;

private:
    /// Operator, engine, status, what went wrong, and the rule that was broken or named.
    using Key = std::tuple<std::string, std::size_t, run::Status, run::FailureKind::What, std::string>;
    static Key key_of(const Failure& failure);

    std::map<Key, FailureGroup> groups_;
};

}  // namespace dmlconform::fuzz
