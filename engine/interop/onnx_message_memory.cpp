// Adds up what the fields of messages take.
#include "engine/interop/onnx_message_memory.h"

#include <type_traits>

namespace dmlconform::onnx {
namespace {

template <class T>
std::uint64_t memory_in(const T& value);

/// Adds what a field takes besides the object itself.
struct MemorySum {
    std::uint64_t& sum;

    template <class T>
    void operator()(unsigned /*number*/, const Single<T>& field) const {
        sum += memory_in(field());
    }
    template <class T>
    void operator()(unsigned /*number*/, const Part<T>& field) const {
        sum += field.has() ? memory_of_block(sizeof(T)) + memory_in(field()) : 0;
    }
    template <class T>
    void operator()(unsigned /*number*/, const List<T>& field, auto... /*packed*/) const {
        sum += memory_of_block(field().capacity() * sizeof(T));
        add_all(field());
    }
    template <class T>
    void operator()(unsigned /*number*/, const List<T, std::list<T>>& field) const {
        sum += field().size() * memory_of_list_element<T>;
        add_all(field());
    }

private:
    template <class T>
    void add_all(const T& values) const {
        if constexpr (!std::is_arithmetic_v<typename T::value_type>) {
            for (const auto& value : values) {
                sum += memory_in(value);
            }
        }
    }
};

template <class T>
std::uint64_t memory_in(const T& value) {
    if constexpr (std::is_arithmetic_v<T>) {
        return 0;
    } else if constexpr (std::is_same_v<T, std::string>) {
        return memory_of_text(value.capacity());
    } else {
        std::uint64_t sum = 0;
        T::visit_fields(value, MemorySum{sum});
        return sum;
    }
}

}  // namespace

std::uint64_t memory_inside(const ModelProto& model) {
    return memory_in(model);
}

std::uint64_t memory_inside(const NodeProto& node) {
    return memory_in(node);
}

std::uint64_t memory_inside(const TensorProto& tensor) {
    return memory_in(tensor);
}

std::uint64_t memory_inside(const SparseTensorProto& tensor) {
    return memory_in(tensor);
}

}  // namespace dmlconform::onnx
