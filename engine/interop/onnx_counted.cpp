// Expands determinants and counts of n-grams to element-wise operators, reductions and products.
#include <utility>

#include "engine/interop/onnx_expansion_steps.h"

namespace dmlconform::interop::expansion {
namespace {

/// Limit for the rows of a determinant; Laplace's expansion has as many terms as permutations.
constexpr std::int64_t most_determinant_rows = 4;

/// Limit for the elements that n-grams are compared with.
constexpr std::int64_t most_compared = std::int64_t{1} << 20;

/// The determinant of the rows from `row` on and of these columns, by Laplace's expansion.
std::string minor_of(Expansion& to, const std::vector<std::vector<std::string>>& entries, std::size_t row,
                     const std::vector<std::size_t>& columns) {
    if (columns.size() == 1) {
        return entries[row][columns[0]];
    }
    std::string sum;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        std::vector<std::size_t> others = columns;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
        const std::string term = to.add("Mul", {entries[row][columns[i]], minor_of(to, entries, row + 1, others)});
        sum = i == 0 ? term : to.add(i % 2 == 0 ? "Add" : "Sub", {sum, term});
    }
    return sum;
}

/// The lists of TfIdfVectorizer's n-grams, all in one pool.
struct Grams {
    std::vector<std::int64_t> pool;
    /// For each length, where its n-grams begin in the pool.
    std::vector<std::int64_t> begins;
    /// For each n-gram, the column of the output.
    std::vector<std::int64_t> columns;
};

/// The n-grams from min_gram_length to max_gram_length, which are compared; empty if the lists are inconsistent.
struct GramsOfLength {
    std::int64_t length = 0;
    std::vector<std::int64_t> items;
    std::vector<std::int64_t> columns;
    std::vector<float> weights;
};

core::Result<std::vector<GramsOfLength>> grams_by_length(const Expansion& to) {
    const Grams grams{to.integers_of("pool_int64s"), to.integers_of("ngram_counts"), to.integers_of("ngram_indexes")};
    const onnx::AttributeProto* weights = to.attribute("weights");
    std::vector<GramsOfLength> all;
    std::size_t gram = 0;
    for (std::size_t i = 0; i < grams.begins.size(); ++i) {
        const auto length = static_cast<std::int64_t>(i + 1);
        const std::int64_t begin = grams.begins[i];
        const std::int64_t end =
            i + 1 < grams.begins.size() ? grams.begins[i + 1] : static_cast<std::int64_t>(grams.pool.size());
        if (begin < 0 || end < begin || end > static_cast<std::int64_t>(grams.pool.size()) ||
            (end - begin) % length != 0 ||
            gram + static_cast<std::size_t>((end - begin) / length) > grams.columns.size()) {
            return core::fail("TfIdfVectorizer's lists of n-grams do not fit together, or are of strings");
        }
        GramsOfLength made{length, {grams.pool.begin() + begin, grams.pool.begin() + end}, {}, {}};
        for (std::int64_t k = 0; k < (end - begin) / length; ++k, ++gram) {
            made.columns.push_back(grams.columns[gram]);
            made.weights.push_back(weights != nullptr && static_cast<int>(gram) < weights->floats.size()
                                       ? weights->floats(static_cast<int>(gram))
                                       : 1.0F);
        }
        if (length >= to.integer_of("min_gram_length", 1) && length <= to.integer_of("max_gram_length", 1) &&
            !made.columns.empty()) {
            all.push_back(std::move(made));
        }
    }
    return all.empty() ? core::fail("TfIdfVectorizer counts no n-grams of numbers")
                       : core::Result<std::vector<GramsOfLength>>(std::move(all));
}

std::string reduced(Expansion& to, const char* type, const std::string& data, std::int64_t axis, bool axes_are_input) {
    const Attributes one{integer("keepdims", 0)};
    Attributes with_axes = one;
    with_axes.push_back(integers("axes", {axis}));
    return axes_are_input ? to.add(type, {data, to.whole_number(axis)}, "", one) : to.add(type, {data}, "", with_axes);
}

/// How often each n-gram of a length occurs in each row, with `skip` elements between two of its items: [rows,
/// n-grams].
std::string counted(Expansion& to, const std::string& rows, const GramsOfLength& grams, std::int64_t width,
                    std::int64_t skip, int type) {
    const std::int64_t positions = width - (grams.length - 1) * (skip + 1);
    const auto count = static_cast<std::int64_t>(grams.columns.size());
    onnx::TensorProto windows;
    windows.data_type.set(onnx_int64);
    for (const std::int64_t size : {std::int64_t{1}, positions, grams.length}) {
        windows.dims.add(size);
    }
    for (std::int64_t position = 0; position < positions; ++position) {
        for (std::int64_t item = 0; item < grams.length; ++item) {
            windows.int64_data.add(position + item * (skip + 1));
        }
    }
    onnx::TensorProto pool;
    pool.data_type.set(type);
    for (const std::int64_t size : {count, std::int64_t{1}, grams.length}) {
        pool.dims.add(size);
    }
    for (const std::int64_t item : grams.items) {
        type == onnx_int32 ? pool.int32_data.add(static_cast<std::int32_t>(item)) : pool.int64_data.add(item);
    }
    // [rows, 1, positions, items] against [n-grams, 1, items].
    const std::string gathered =
        to.add("Gather", {rows, to.add("Constant", {}, "", {value(windows)})}, "", {integer("axis", 1)});
    const std::string equal = to.add("Equal", {gathered, to.add("Constant", {}, "", {value(pool)})});
    const std::string hits = to.add("Cast", {equal}, "", {integer("to", onnx_float)});
    const std::string whole = reduced(to, "ReduceMin", hits, 3, to.opset() >= 18);
    return reduced(to, "ReduceSum", whole, 2, to.opset() >= 13);
}

/// The same for all numbers of elements that may be skipped; empty if the rows are too short.
core::Result<std::string> counted_with_skips(Expansion& to, const std::string& rows, const GramsOfLength& grams,
                                             std::int64_t height, std::int64_t width, int type) {
    std::string counts;
    // An item of a single number has no gaps.
    const std::int64_t most_skip = grams.length == 1 ? 0 : to.integer_of("max_skip_count", 0);
    for (std::int64_t skip = 0; skip <= most_skip && (grams.length - 1) * (skip + 1) < width; ++skip) {
        if (height * width * static_cast<std::int64_t>(grams.items.size()) > most_compared) {
            return core::fail("TfIdfVectorizer compares too many elements");
        }
        const std::string some = counted(to, rows, grams, width, skip, type);
        counts = counts.empty() ? some : to.add("Add", {counts, some});
    }
    return counts;
}

/// The number of columns of the output.
core::Result<std::int64_t> column_count(const Expansion& to) {
    std::int64_t columns = 0;
    for (const std::int64_t column : to.integers_of("ngram_indexes")) {
        if (column < 0 || column >= most_compared) {
            return core::fail("TfIdfVectorizer has a negative column, or too many columns");
        }
        columns = std::max(columns, column + 1);
    }
    return columns;
}

/// Counts of n-grams in the columns of the output, weighted: [rows, columns].
std::string gram_columns(Expansion& to, const std::string& counts, const GramsOfLength& grams, std::int64_t columns) {
    const std::string mode = to.text_of("mode", "");
    const auto count = static_cast<std::int64_t>(grams.columns.size());
    onnx::TensorProto matrix;
    matrix.data_type.set(onnx_float);
    matrix.dims.add(count);
    matrix.dims.add(columns);
    matrix.float_data.edit().resize(static_cast<std::size_t>(count * columns));
    for (std::int64_t i = 0; i < count; ++i) {
        const auto gram = static_cast<std::size_t>(i);
        matrix.float_data.edit(static_cast<int>(i * columns + grams.columns[gram])) =
            mode == "TF" ? 1.0F : grams.weights[gram];
    }
    const std::string limited = mode == "IDF" ? to.add("Min", {counts, to.number(1)}) : counts;
    return to.add("MatMul", {limited, to.add("Constant", {}, "", {value(matrix)})});
}

}  // namespace

Nodes expand_determinant(Expansion& to) {
    const OnnxTensor* data = to.known(0);
    if (data == nullptr || data->sizes.size() < 2 || data->sizes.back() != data->sizes[data->sizes.size() - 2] ||
        data->sizes.back() > most_determinant_rows) {
        return core::fail("Det is mapped for square matrices of known sizes, of up to four rows");
    }
    const auto rank = static_cast<std::int64_t>(data->sizes.size());
    const std::int64_t rows = data->sizes.back();
    const std::string axes = to.whole_numbers({rank - 2, rank - 1});
    std::vector<std::vector<std::string>> entries;
    std::vector<std::size_t> columns;
    for (std::int64_t row = 0; row < rows; ++row) {
        entries.emplace_back();
        columns.push_back(static_cast<std::size_t>(row));
        for (std::int64_t column = 0; column < rows; ++column) {
            entries.back().push_back(to.add("Slice", {to.input(0), to.whole_numbers({row, column}),
                                                      to.whole_numbers({row + 1, column + 1}), axes}));
        }
    }
    const std::string result = minor_of(to, entries, 0, columns);
    to.opset() >= 13 ? to.add("Squeeze", {result, axes}, to.output(0))
                     : to.add("Squeeze", {result}, to.output(0), {integers("axes", {rank - 2, rank - 1})});
    return to.take();
}

Nodes expand_gram_counts(Expansion& to) {
    const OnnxTensor* data = to.known(0);
    const auto lengths = grams_by_length(to);
    if (data == nullptr || !lengths || data->sizes.empty() || data->sizes.size() > 2 || data->sizes.back() == 0 ||
        (data->type != core::DataType::int32 && data->type != core::DataType::int64)) {
        return lengths ? core::fail("TfIdfVectorizer is mapped for integers of one or two dimensions")
                       : tl::unexpected(lengths.error());
    }
    const int type = data->type == core::DataType::int32 ? onnx_int32 : onnx_int64;
    const std::int64_t width = data->sizes.back();
    const auto height = static_cast<std::int64_t>(data->count()) / width;
    const std::string rows =
        data->sizes.size() == 2 ? to.input(0) : to.add("Reshape", {to.input(0), to.whole_numbers({height, width})});
    const auto columns = column_count(to);
    if (!columns) {
        return tl::unexpected(columns.error());
    }
    std::string sum;
    for (const GramsOfLength& grams : *lengths) {
        const auto counts = counted_with_skips(to, rows, grams, height, width, type);
        if (!counts) {
            return tl::unexpected(counts.error());
        }
        if (counts->empty()) {
            continue;
        }
        if (*columns > most_compared / static_cast<std::int64_t>(grams.columns.size())) {
            return core::fail("TfIdfVectorizer has too many columns");
        }
        const std::string part = gram_columns(to, *counts, grams, *columns);
        sum = sum.empty() ? part : to.add("Add", {sum, part});
    }
    if (sum.empty()) {
        return core::fail("TfIdfVectorizer counts no n-grams: the rows are too short");
    }
    std::vector<std::int64_t> shape{height, *columns};
    if (data->sizes.size() == 1) {
        shape.erase(shape.begin());
    }
    to.add("Reshape", {sum, to.whole_numbers(shape)}, to.output(0));
    return to.take();
}

}  // namespace dmlconform::interop::expansion
