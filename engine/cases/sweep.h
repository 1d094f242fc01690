// Sweeps: one written case that stands for the Cartesian product of some values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/cases/json_document.h"
#include "engine/cases/problems.h"

namespace dmlconform::cases {

/// A case with `sweep`, whose expansions are made one by one. They are in the order of the sweep's values, the last
/// variable fastest. A string that is exactly "${T}" becomes the value of T with its JSON type, "${geometry.in}" a
/// member of it.
class Sweep {
public:
    /// Reports variables that are unknown, unused or empty, values that an id cannot tell apart, and more than `most`
    /// expansions. `entry` is an object that has `sweep`.
    [[nodiscard]] static std::optional<Sweep> read(const JsonValue& entry, std::size_t most, ProblemSink& problems);

    [[nodiscard]] std::size_t expansions() const { return expansions_; }
    /// The case without its sweep; nothing when a value lacks a member that the case uses, which is reported.
    [[nodiscard]] std::optional<JsonValue> expansion(std::size_t index, ProblemSink& problems) const;
    /// What follows the name in the id: "[T=FLOAT16,axis=2]".
    [[nodiscard]] std::string suffix(std::size_t index) const;

private:
    struct Variable {
        std::string name;
        std::shared_ptr<const JsonValue::Array> values;
        std::size_t offset = 0;
    };
    class Substitution;

    [[nodiscard]] bool read_variables(const JsonValue& sweep, std::size_t most, ProblemSink& problems);
    [[nodiscard]] bool check_use(ProblemSink& problems) const;
    /// Which value each variable has.
    [[nodiscard]] std::vector<const JsonValue*> chosen(std::size_t index) const;

    JsonValue pattern_;
    std::vector<Variable> variables_;
    std::size_t expansions_ = 0;
};

}  // namespace dmlconform::cases
