// The operands of attention: queries, keys and values of each head, their biases, and what is added to the scores.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/cpu/kernel.h"
#include "engine/operators/enumerations.h"

namespace dmlconform::cpu::attention {

/// Rows of numbers: {batch, head, position, size}.
struct Rows {
    std::int64_t heads = 1;
    std::int64_t positions = 0;
    std::int64_t size = 1;
    std::vector<double> numbers = {};

    [[nodiscard]] std::span<const double> at(std::int64_t batch, std::int64_t head, std::int64_t position) const {
        return {numbers.data() + ((batch * heads + head) * positions + position) * size,
                static_cast<std::size_t>(size)};
    }
};

/// Queries, keys or values.
struct Operand {
    /// The keys or values of the past, which have no bias.
    Rows past;
    Rows rows;
    /// One number for each head and position within it; empty without a bias.
    std::vector<double> bias;

    [[nodiscard]] std::int64_t positions() const { return past.positions + rows.positions; }
};

using MaskType = operators::MultiheadAttentionMaskType;

/// The mask, as the number that it adds to the score of a query and a key.
class Mask {
public:
    Mask(const KernelArguments& arguments, std::int64_t batch, std::int64_t heads, std::int64_t queries,
         std::int64_t keys);

    [[nodiscard]] bool is_present() const { return type_ != MaskType::none; }
    [[nodiscard]] double added(std::int64_t batch, std::int64_t head, std::int64_t query, std::int64_t key) const;

private:
    [[nodiscard]] std::int64_t number(std::int64_t index) const {
        return static_cast<std::int64_t>(numbers_[static_cast<std::size_t>(index)]);
    }
    [[nodiscard]] bool is_valid(std::int64_t batch, std::int64_t query, std::int64_t key) const;

    MaskType type_;
    std::vector<double> numbers_;
    double filter_;
    std::int64_t batch_;
    std::int64_t heads_;
    std::int64_t queries_;
    std::int64_t keys_;
};

struct Operands {
    explicit Operands(const KernelArguments& arguments);

    std::int64_t batch;
    Operand queries;
    Operand keys;
    Operand values;
    /// {batch, head, query, key}; empty without a position bias.
    std::vector<double> position_bias;
    Mask mask;
    double scale;
};

}  // namespace dmlconform::cpu::attention
