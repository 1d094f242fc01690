// Tensors as the definitions see them: packed arrays of one number type, addressed by coordinates.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "engine/core/tensor_desc.h"
#include "engine/cpu/element_wise/numbers.h"

namespace dmlconform::cpu::definitions {

/// The bits of an element, for operators that only copy.
struct Bits {
    std::uint64_t value = 0;
};

/// Coordinates of an element, or the sizes of an array. DirectML has at most 8 dimensions.
class Index {
public:
    Index() = default;
    Index(std::initializer_list<std::int64_t> coordinates) {
        for (const std::int64_t coordinate : coordinates) {
            push_back(coordinate);
        }
    }
    template <class Integer>
    explicit Index(const std::vector<Integer>& coordinates) {
        for (const Integer coordinate : coordinates) {
            push_back(static_cast<std::int64_t>(coordinate));
        }
    }
    /// `count` equal coordinates.
    [[nodiscard]] static Index of(std::size_t count, std::int64_t coordinate) {
        return Index(std::vector<std::int64_t>(count, coordinate));
    }

    void push_back(std::int64_t coordinate) { coordinates_.at(count_++) = coordinate; }
    [[nodiscard]] std::size_t size() const { return count_; }
    [[nodiscard]] std::int64_t back() const { return coordinates_[count_ - 1]; }
    std::int64_t& operator[](std::size_t d) { return coordinates_[d]; }
    const std::int64_t& operator[](std::size_t d) const { return coordinates_[d]; }

    /// The same coordinates with another one in dimension `d`.
    [[nodiscard]] Index with(std::size_t d, std::int64_t coordinate) const {
        Index changed = *this;
        changed[d] = coordinate;
        return changed;
    }
    /// The coordinates of the dimensions first … last - 1.
    [[nodiscard]] Index part(std::size_t first, std::size_t last) const {
        Index some;
        for (std::size_t d = first; d < last; ++d) {
            some.push_back(coordinates_[d]);
        }
        return some;
    }
    /// These coordinates, then the other ones.
    [[nodiscard]] Index then(const Index& more) const {
        Index all = *this;
        for (std::size_t d = 0; d < more.size(); ++d) {
            all.push_back(more[d]);
        }
        return all;
    }
    [[nodiscard]] std::int64_t product() const {
        std::int64_t all = 1;
        for (std::size_t d = 0; d < count_; ++d) {
            all *= coordinates_[d];
        }
        return all;
    }
    /// True if these are coordinates of an element of an array of those sizes.
    [[nodiscard]] bool is_inside(const Index& sizes) const {
        for (std::size_t d = 0; d < count_; ++d) {
            if (coordinates_[d] < 0 || coordinates_[d] >= sizes[d]) {
                return false;
            }
        }
        return true;
    }

private:
    std::array<std::int64_t, 16> coordinates_{};
    std::size_t count_ = 0;
};

/// Calls visit(index) for all coordinates below the sizes, in row-major order.
template <class Visit>
void for_each_index(const Index& sizes, const Visit& visit) {
    const std::int64_t count = sizes.product();
    Index at = Index::of(sizes.size(), 0);
    for (std::int64_t i = 0; i < count; ++i) {
        visit(static_cast<const Index&>(at));
        for (std::size_t d = sizes.size(); d-- > 0;) {
            if (++at[d] < sizes[d]) {
                break;
            }
            at[d] = 0;
        }
    }
}

template <class Number>
struct Array {
    Index sizes;
    /// In row-major order.
    std::vector<Number> elements;

    Array() = default;
    explicit Array(const Index& its_sizes)
        : sizes(its_sizes), elements(static_cast<std::size_t>(its_sizes.product())) {}

    /// The row-major index. Throws if the coordinates are not those of an element.
    [[nodiscard]] std::size_t number_of(const Index& at) const {
        std::int64_t number = 0;
        for (std::size_t d = 0; d < sizes.size(); ++d) {
            number = number * sizes[d] + at[d];
        }
        return at.is_inside(sizes) ? static_cast<std::size_t>(number) : throw std::out_of_range("no such element");
    }
    Number& operator[](const Index& at) { return elements[number_of(at)]; }
    const Number& operator[](const Index& at) const { return elements[number_of(at)]; }

    /// The element of a tensor whose dimensions of size 1 are repeated.
    [[nodiscard]] const Number& repeated(Index at) const {
        for (std::size_t d = 0; d < sizes.size(); ++d) {
            at[d] = sizes[d] == 1 ? 0 : at[d];
        }
        return (*this)[at];
    }
    /// The element of a list that has one element for each case, or one for all.
    [[nodiscard]] const Number& of(std::int64_t i) const {
        return elements[elements.size() == 1 ? 0 : static_cast<std::size_t>(i)];
    }
};

}  // namespace dmlconform::cpu::definitions
