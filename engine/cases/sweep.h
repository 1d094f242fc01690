// Sweeps: one case in the file that expands to the Cartesian product of some values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/cases/json_document.h"
#include "engine/cases/problems.h"

namespace dmlconform::cases {

/// A case with `sweep`, expanded one at a time. The last variable changes fastest. The string "${T}" is replaced by the
/// value of T with its JSON type, "${geometry.in}" by a member of a value.
class Sweep {
public:
    /// Reads a sweep from `entry`, an object with the member `sweep`. Reports variables that are unknown, unused or
    /// empty, values that lead to equal ids, and more than `most` expansions.
    [[nodiscard]] static std::optional<Sweep> read(const JsonValue& entry, std::size_t most, ProblemSink& problems);

    [[nodiscard]] std::size_t expansions() const { return expansions_; }
    /// The same sweep for another thread: see cases::unshared.
    [[nodiscard]] Sweep unshared() const;
    /// The case without its sweep. Empty if a value lacks a member that the case uses, which is reported.
    [[nodiscard]] std::optional<JsonValue> expansion(std::size_t index, ProblemSink& problems) const;
    /// The text that follows the name in the id: "[T=FLOAT16,axis=2]".
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
    /// The value of each variable in the expansion.
    [[nodiscard]] std::vector<const JsonValue*> chosen(std::size_t index) const;

    JsonValue pattern_;
    std::vector<Variable> variables_;
    std::size_t expansions_ = 0;
};

}  // namespace dmlconform::cases
