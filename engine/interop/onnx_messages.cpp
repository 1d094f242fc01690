// Reads and writes protobuf's binary format with protozero, field by field as the messages list them.
#include "engine/interop/onnx_messages.h"

#include <algorithm>
#include <array>
#include <limits>
#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <type_traits>

#include "engine/interop/onnx_message_memory.h"

namespace dmlconform::onnx {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;
using protozero::pbf_writer;

/// Limit for messages inside messages, the same as protobuf's own.
constexpr int most_message_levels = 100;

template <class T>
constexpr pbf_wire_type wire_type_of() {
    if constexpr (std::is_same_v<T, float>) {
        return pbf_wire_type::fixed32;
    } else if constexpr (std::is_same_v<T, double>) {
        return pbf_wire_type::fixed64;
    } else if constexpr (std::is_integral_v<T>) {
        return pbf_wire_type::varint;
    } else {
        return pbf_wire_type::length_delimited;
    }
}

/// Where a message is, and what it may still take.
struct Reading {
    std::uint64_t& memory_left;
    int level = 0;

    [[nodiscard]] Reading inside() const { return {memory_left, level + 1}; }
};

/// Thrown before more memory is taken than may be.
struct TooLarge {};

/// Names are looked up in sets and maps, whose elements have a pointer and a hash, too.
constexpr std::uint64_t look_up = 64;

void take(std::uint64_t bytes, const Reading& at) {
    if (bytes > at.memory_left) {
        throw TooLarge();
    }
    at.memory_left -= bytes;
}

template <class T>
bool read_fields(pbf_reader reader, T& message, const Reading& at);

/// Reads one value that is not a message.
template <class T>
T read_value(pbf_reader& reader) {
    if constexpr (std::is_same_v<T, float>) {
        return reader.get_float();
    } else if constexpr (std::is_same_v<T, double>) {
        return reader.get_double();
    } else if constexpr (std::is_same_v<T, std::int32_t>) {
        return reader.get_int32();
    } else if constexpr (std::is_same_v<T, std::int64_t>) {
        return reader.get_int64();
    } else if constexpr (std::is_same_v<T, std::uint64_t>) {
        return reader.get_uint64();
    } else {
        return reader.get_string();
    }
}

template <class T>
auto packed_values(pbf_reader& reader) {
    if constexpr (std::is_same_v<T, float>) {
        return reader.get_packed_float();
    } else if constexpr (std::is_same_v<T, double>) {
        return reader.get_packed_double();
    } else if constexpr (std::is_same_v<T, std::int32_t>) {
        return reader.get_packed_int32();
    } else if constexpr (std::is_same_v<T, std::int64_t>) {
        return reader.get_packed_int64();
    } else {
        return reader.get_packed_uint64();
    }
}

enum class Outcome : std::uint8_t { read, skipped, failed };

/// Fields of another wire type than the message's are unknown fields.
template <class T>
Outcome read_field(pbf_reader& reader, Single<T>& field, const Reading& at) {
    if (reader.wire_type() != wire_type_of<T>()) {
        return Outcome::skipped;
    }
    if constexpr (std::is_same_v<T, std::string>) {
        const auto text = reader.get_view();
        take(memory_of_text(text.size()) + (text.empty() ? 0 : look_up), at);
        field.set(std::string(text.data(), text.size()));
    } else {
        field.set(read_value<T>(reader));
    }
    return Outcome::read;
}

template <class T>
Outcome read_field(pbf_reader& reader, Part<T>& field, const Reading& at) {
    if (reader.wire_type() != pbf_wire_type::length_delimited) {
        return Outcome::skipped;
    }
    take(field.has() ? 0 : memory_of_block(sizeof(T)), at);
    return read_fields(reader.get_message(), field.edit(), at.inside()) ? Outcome::read : Outcome::failed;
}

/// Takes what a list needs for `count` more elements. Beyond its capacity it doubles at least, and exists twice
/// meanwhile.
template <class T>
void take_elements(std::uint64_t count, const std::vector<T>& list, const Reading& at) {
    if (count <= list.capacity() - list.size()) {
        return;
    }
    // An allocator does not give small blocks back to others.
    constexpr std::uint64_t least_reused = 4096;
    const std::uint64_t left_behind = memory_of_block(list.capacity() * sizeof(T));
    take(memory_of_block((list.size() + std::max<std::uint64_t>(list.size(), count)) * sizeof(T)), at);
    at.memory_left += left_behind < least_reused ? 0 : left_behind;
}

template <class T>
requires std::is_arithmetic_v<T> Outcome read_field(pbf_reader& reader, List<T>& field, const Reading& at) {
    if (reader.wire_type() == pbf_wire_type::length_delimited) {
        const auto values = packed_values<T>(reader);
        take_elements(static_cast<std::uint64_t>(values.size()), field(), at);
        field.append(values.begin(), values.end());
        return Outcome::read;
    }
    if (reader.wire_type() != wire_type_of<T>()) {
        return Outcome::skipped;
    }
    take_elements(1, field(), at);
    field.add(read_value<T>(reader));
    return Outcome::read;
}

template <class T>
Outcome read_field(pbf_reader& reader, List<T>& field, const Reading& at) {
    if (reader.wire_type() != pbf_wire_type::length_delimited) {
        return Outcome::skipped;
    }
    take_elements(1, field(), at);
    if constexpr (std::is_same_v<T, std::string>) {
        const auto text = reader.get_view();
        take(memory_of_text(text.size()) + look_up, at);
        field.add(std::string(text.data(), text.size()));
        return Outcome::read;
    } else {
        return read_fields(reader.get_message(), field.add(), at.inside()) ? Outcome::read : Outcome::failed;
    }
}

template <class T>
Outcome read_field(pbf_reader& reader, List<T, std::list<T>>& field, const Reading& at) {
    if (reader.wire_type() != pbf_wire_type::length_delimited) {
        return Outcome::skipped;
    }
    take(memory_of_list_element<T>, at);
    return read_fields(reader.get_message(), field.add(), at.inside()) ? Outcome::read : Outcome::failed;
}

/// Reserves lists of texts and messages, so that they take no more than they need.
template <class T>
void reserve_lists(pbf_reader reader, T& message, const Reading& at) {
    std::array<std::size_t, 32> counts{};
    while (reader.next()) {
        if (reader.tag() < counts.size() && reader.wire_type() == pbf_wire_type::length_delimited) {
            ++counts[reader.tag()];
        }
        reader.skip();
    }
    const auto reserve = [&]<class Value>(std::size_t count, List<Value>& list) {
        if (!std::is_arithmetic_v<Value> && count != 0 && !list.has()) {
            take_elements(count, list(), at);
            list.edit().reserve(count);
        }
    };
    T::visit_fields(message, [&](protozero::pbf_tag_type number, auto& field, auto... /*packed*/) {
        if constexpr (requires {
                          field().capacity();
                          field.edit(0);
                      }) {
            reserve(number < counts.size() ? counts[number] : 0, field);
        }
    });
}

template <class T>
bool read_fields(pbf_reader reader, T& message, const Reading& at) {
    if (at.level > most_message_levels) {
        return false;
    }
    reserve_lists(reader, message, at);
    while (reader.next()) {
        Outcome outcome = Outcome::skipped;
        const protozero::pbf_tag_type tag = reader.tag();
        T::visit_fields(message, [&](protozero::pbf_tag_type number, auto& field, auto... /*packed*/) {
            if (number == tag) {
                outcome = read_field(reader, field, at);
            }
        });
        if (outcome == Outcome::skipped) {
            reader.skip();
        }
        if (outcome == Outcome::failed) {
            return false;
        }
    }
    return true;
}

template <class T>
void write_fields(pbf_writer& writer, const T& message);

template <class T>
bool has_fields(const T& message) {
    bool found = false;
    T::visit_fields(message, [&](protozero::pbf_tag_type /*number*/, const auto& field, auto... /*packed*/) {
        found = found || field.has();
    });
    return found;
}

template <class T>
void write_value(pbf_writer& writer, protozero::pbf_tag_type number, const T& value) {
    if constexpr (std::is_same_v<T, float>) {
        writer.add_float(number, value);
    } else if constexpr (std::is_same_v<T, double>) {
        writer.add_double(number, value);
    } else if constexpr (std::is_same_v<T, std::int32_t>) {
        writer.add_int32(number, value);
    } else if constexpr (std::is_same_v<T, std::int64_t>) {
        writer.add_int64(number, value);
    } else if constexpr (std::is_same_v<T, std::uint64_t>) {
        writer.add_uint64(number, value);
    } else if constexpr (std::is_same_v<T, std::string>) {
        writer.add_bytes(number, value);
    } else if (has_fields(value)) {
        pbf_writer inner(writer, number);
        write_fields(inner, value);
    } else {
        // Protozero leaves out messages that are empty. The shape of a scalar is one.
        writer.add_message(number, "", 0);
    }
}

template <class T>
void write_packed(pbf_writer& writer, protozero::pbf_tag_type number, const std::vector<T>& values) {
    if constexpr (std::is_same_v<T, float>) {
        writer.add_packed_float(number, values.begin(), values.end());
    } else if constexpr (std::is_same_v<T, double>) {
        writer.add_packed_double(number, values.begin(), values.end());
    } else if constexpr (std::is_same_v<T, std::int32_t>) {
        writer.add_packed_int32(number, values.begin(), values.end());
    } else if constexpr (std::is_same_v<T, std::int64_t>) {
        writer.add_packed_int64(number, values.begin(), values.end());
    } else {
        writer.add_packed_uint64(number, values.begin(), values.end());
    }
}

/// Writes the fields of a message that are present.
struct FieldWriter {
    pbf_writer& writer;

    template <class T>
    void operator()(protozero::pbf_tag_type number, const Single<T>& field) const {
        if (field.has()) {
            write_value(writer, number, field());
        }
    }
    template <class T>
    void operator()(protozero::pbf_tag_type number, const Part<T>& field) const {
        if (field.has()) {
            write_value(writer, number, field());
        }
    }
    template <class T, class Container>
    void operator()(protozero::pbf_tag_type number, const List<T, Container>& field) const {
        for (const T& value : field()) {
            write_value(writer, number, value);
        }
    }
    template <class T>
    void operator()(protozero::pbf_tag_type number, const List<T>& field, Packed /*packed*/) const {
        write_packed(writer, number, field());
    }
};

template <class T>
void write_fields(pbf_writer& writer, const T& message) {
    T::visit_fields(message, FieldWriter{writer});
}

}  // namespace

template <FileMessage T>
bool read_message(std::string_view bytes, T& message) {
    return read_message(bytes, message, std::numeric_limits<std::uint64_t>::max()) == ReadResult::read;
}

template <FileMessage T>
ReadResult read_message(std::string_view bytes, T& message, std::uint64_t memory) {
    try {
        return read_fields(pbf_reader(bytes.data(), bytes.size()), message, Reading{memory}) ? ReadResult::read
                                                                                             : ReadResult::malformed;
    } catch (const protozero::exception&) {
        return ReadResult::malformed;
    } catch (const TooLarge&) {
        return ReadResult::too_large;
    }
}

template <FileMessage T>
std::string message_bytes(const T& message) {
    std::string bytes;
    pbf_writer writer(bytes);
    write_fields(writer, message);
    return bytes;
}

template bool read_message(std::string_view, ModelProto&);
template bool read_message(std::string_view, TensorProto&);
template bool read_message(std::string_view, SequenceProto&);
template bool read_message(std::string_view, OptionalProto&);
template ReadResult read_message(std::string_view, ModelProto&, std::uint64_t);
template ReadResult read_message(std::string_view, TensorProto&, std::uint64_t);
template std::string message_bytes(const ModelProto&);
template std::string message_bytes(const TensorProto&);
template std::string message_bytes(const SequenceProto&);
template std::string message_bytes(const OptionalProto&);

}  // namespace dmlconform::onnx
