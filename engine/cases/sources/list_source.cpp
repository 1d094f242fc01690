// Initialiser that lists the elements.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "engine/cases/element_reader.h"
#include "engine/cases/sources/sources.h"
#include "engine/core/element.h"

namespace dmlconform::cases {
namespace {

class ListSource final : public ElementSource {
public:
    /// The bits of the elements, each in the width of the type.
    ListSource(std::vector<std::byte> elements, bool spells_negative_zero)
        : elements_(std::move(elements)), spells_negative_zero_(spells_negative_zero) {}

    [[nodiscard]] core::Result<void> write(core::DataType /*type*/, std::span<std::byte> elements) const override {
        std::copy(elements_.begin(), elements_.end(), elements.begin());
        return {};
    }

    [[nodiscard]] bool spells_negative_zero() const override { return spells_negative_zero_; }

private:
    std::vector<std::byte> elements_;
    /// False for recorded elements.
    bool spells_negative_zero_;
};

class ListReader {
public:
    ListReader(const core::TensorDesc& desc, ProblemSink& problems)
        : desc_(desc), problems_(problems), before_(problems.count()) {}

    SourcePointer read(const JsonValue& list) {
        const auto& items = *list.array();
        if (items.empty() || items.front().array() == nullptr) {
            check_count(list, items.size(), core::element_count(desc_.sizes), core::to_string(desc_.sizes));
            read_elements(items);
        } else {
            read_nested(list, 0);
        }
        if (problems_.count() == before_) {
            check_repeated(list);
        }
        if (problems_.count() != before_) {
            return nullptr;
        }
        return std::make_shared<ListSource>(std::move(bytes_), spells_negative_zero_);
    }

private:
    void check_count(const JsonValue& list, std::size_t found, std::optional<std::uint64_t> wanted,
                     const std::string& what) {
        if (wanted != found) {
            problems_.add(list.offset, fmt::format("{} elements for {}", found, what),
                          wanted ? fmt::format("it takes {}", *wanted) : "that product does not fit 64 bits");
        }
    }

    /// Checks that nested arrays match the tensor's sizes. Reports only the first mismatch, because a missing row would
    /// otherwise cause one problem per element.
    void read_nested(const JsonValue& list, std::size_t depth) {
        if (problems_.count() != before_) {
            return;
        }
        const auto* items = list.array();
        if (items == nullptr) {
            return problems_.add(list.offset,
                                 fmt::format("expected an array of dimension {}, found {}", depth, list.kind_name()),
                                 "nest arrays as deep as the tensor has dimensions, or list all elements flat");
        }
        if (depth == desc_.sizes.size()) {
            return problems_.add(list.offset, fmt::format("nested deeper than the {} dimensions of the tensor", depth));
        }
        check_count(list, items->size(), desc_.sizes[depth],
                    fmt::format("dimension {} of {}", depth, core::to_string(desc_.sizes)));
        if (depth + 1 == desc_.sizes.size()) {
            return read_elements(*items);
        }
        for (const JsonValue& item : *items) {
            read_nested(item, depth + 1);
        }
    }

    void read_elements(const JsonValue::Array& items) {
        const core::DataType type = desc_.data_type;
        bytes_.reserve(static_cast<std::size_t>(core::bytes_of(type, count_ + items.size())));
        for (const JsonValue& item : items) {
            const auto bits = read_element(item, type);
            if (!bits) {
                problems_.add(item.offset, bits.error().message, bits.error().hint);
                continue;
            }
            bytes_.resize(static_cast<std::size_t>(core::bytes_of(type, count_ + 1)));
            core::store_element(bytes_, type, count_++, *bits);
            spells_negative_zero_ = spells_negative_zero_ || cases::spells_negative_zero(item, type, *bits);
        }
    }

    /// Reports different values for elements that share an address through a stride of 0.
    void check_repeated(const JsonValue& list) {
        if (!desc_.strides || desc_.strides->size() != desc_.sizes.size()) {
            return;
        }
        const auto packed = core::packed_strides(desc_.sizes);
        core::Strides originals(packed.begin(), packed.end());
        for (std::size_t d = 0; d < originals.size(); ++d) {
            originals[d] = (*desc_.strides)[d] == 0 ? 0 : originals[d];
        }
        const core::StridedRuns<1> runs(desc_.sizes, {originals});
        for (std::uint64_t i = 0; i < count_; ++i) {
            const auto original = static_cast<std::uint64_t>(runs.offsets_of(static_cast<std::int64_t>(i))[0]);
            if (core::load_element(bytes_, desc_.data_type, i) !=
                core::load_element(bytes_, desc_.data_type, original)) {
                problems_.add(list.offset,
                              fmt::format("elements {} and {} differ, but a stride of 0 makes them one", original, i));
                return;
            }
        }
    }

    const core::TensorDesc& desc_;
    ProblemSink& problems_;
    std::size_t before_;
    std::vector<std::byte> bytes_;
    std::uint64_t count_ = 0;
    bool spells_negative_zero_ = false;
};

}  // namespace

Initialiser given_elements(std::vector<std::byte> elements) {
    return Initialiser(std::make_shared<ListSource>(std::move(elements), false));
}

SourcePointer read_list(const JsonValue& list, const core::TensorDesc& desc, ProblemSink& problems) {
    return ListReader(desc, problems).read(list);
}

}  // namespace dmlconform::cases
