// Selects the form of an initialiser, and fills tensors.
#include "engine/cases/initialiser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/cases/sources/sources.h"
#include "engine/core/element.h"

namespace dmlconform::cases {
namespace {

constexpr const char* forms =
    R"(use a list of elements, {"value": …}, {"start": …, "step": …}, {"random": …} or {"file": …})";

SourcePointer read_object(const JsonValue& object, const core::TensorDesc& desc, const DataFolder& folder,
                          ProblemSink& problems) {
    if (object.find("value") != nullptr) {
        return read_constant(object, desc, problems);
    }
    if (object.find("random") != nullptr) {
        return read_random(object, desc, problems);
    }
    if (object.find("file") != nullptr) {
        return read_data_file(object, desc, folder, problems);
    }
    for (const char* key : {"start", "step", "valueStart", "valueDelta"}) {
        if (object.find(key) != nullptr) {
            return read_sequence(object, desc, problems);
        }
    }
    static const std::array<std::string, 7> keys{"value",      "start",  "step", "valueStart",
                                                 "valueDelta", "random", "file"};
    std::string hint = object.object()->empty() ? "" : suggestion(object.object()->front().key, keys);
    problems.add(object.offset, "this is not a data initialiser", hint.empty() ? forms : std::move(hint));
    return nullptr;
}

}  // namespace

core::Result<void> Initialiser::fill(core::Tensor& tensor) const {
    const core::TensorDesc& desc = tensor.desc;
    const std::uint64_t count = *core::element_count(desc.sizes);
    const auto bytes = static_cast<std::size_t>(core::bytes_of(desc.data_type, count));
    const auto storage = tensor.buffer.bytes();
    // Fills gaps between elements. This pattern is NaN in each floating-point type, so a kernel that reads a gap is
    // noticed.
    constexpr std::byte gap{0xff};
    if (core::is_packed(desc)) {
        std::ranges::fill(storage.subspan(bytes), gap);
        auto written = source_->write(desc.data_type, storage.first(bytes));
        if (core::bytes_of(desc.data_type) == 0 && count % 2 != 0) {
            core::store_element(storage, desc.data_type, count, 0xf);  // the unused half of the last byte is a gap, too
        }
        return written;
    }
    std::ranges::fill(storage, gap);
    core::Buffer packed(bytes);
    if (auto written = source_->write(desc.data_type, packed.bytes()); !written) {
        return written;
    }
    const core::StridedRuns<1> runs(desc.sizes, {core::signed_strides(desc)});
    // Copies backwards, so that the first of several elements that share memory is written last.
    const auto for_each_backwards = [&](auto&& copy) {
        for (std::uint64_t i = count; i-- > 0;) {
            copy(i, runs.offsets_of(static_cast<std::int64_t>(i))[0]);
        }
    };
    if (core::bytes_of(desc.data_type) == 0) {
        for_each_backwards([&](std::uint64_t i, std::int64_t offset) {
            core::store_element(storage, desc.data_type, static_cast<std::uint64_t>(offset),
                                core::load_element(packed.bytes(), desc.data_type, i));
        });
        return {};
    }
    core::with_type(desc.data_type, [&]<class T>() {
        const T* const from = reinterpret_cast<const T*>(packed.bytes().data());
        T* const to = tensor.as<T>().data();
        for_each_backwards([&](std::uint64_t i, std::int64_t offset) { to[offset] = from[i]; });
    });
    return {};
}

std::optional<Initialiser> read_initialiser(const JsonValue& value, const core::TensorDesc& desc, ProblemSink& problems,
                                            const DataFolder& folder) {
    SourcePointer source;
    if (core::bits_of(desc.data_type) == 0) {
        problems.add(value.offset, fmt::format("data of type {} is not supported", core::name(desc.data_type)));
    } else if (value.array() != nullptr) {
        source = read_list(value, desc, problems);
    } else if (value.object() != nullptr) {
        source = read_object(value, desc, folder, problems);
    } else {
        problems.add(value.offset, fmt::format("expected a data initialiser, found {}", value.kind_name()), forms);
    }
    return source == nullptr ? std::nullopt : std::optional(Initialiser(std::move(source)));
}

}  // namespace dmlconform::cases
