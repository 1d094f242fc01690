// Scopes of a model's value names: graphs, branches and functions have their own.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "engine/interop/model/tensor_data.h"
#include "engine/interop/onnx_message_memory.h"

namespace dmlconform::interop {

/// What a name refers to.
struct NamedValue {
    OnnxTensor tensor;
    /// The elements of a constant.
    SourcePointer source;
    /// If not empty: why the value is unknown.
    std::string missing;

    /// About how much it takes, with the pointer to it. Its elements are the model's tensors.
    [[nodiscard]] std::uint64_t memory() const {
        constexpr std::uint64_t counters = 16;
        return onnx::memory_of_block(sizeof(NamedValue) + counters) + onnx::memory_of_text(tensor.value.size()) +
               onnx::memory_of_text(missing.size()) +
               onnx::memory_of_block(tensor.sizes.size() * sizeof(tensor.sizes.front()));
    }
};

class Scope {
public:
    /// A branch sees the surrounding scope, a function does not. What the names of this scope take is added to `memory`
    /// as long as it exists.
    Scope(const Scope* around, std::map<std::string, std::int64_t> opsets, std::uint64_t& memory)
        : around_(around), opsets_(std::move(opsets)), all_memory_(memory) {
        add_memory(opsets_.size() * memory_of_opset);
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() { add_memory(std::uint64_t{0} - memory_); }

    /// Null for an unknown name.
    [[nodiscard]] std::shared_ptr<const NamedValue> find(const std::string& name) const {
        for (const Scope* scope = this; scope != nullptr; scope = scope->around_) {
            if (const auto found = scope->values_.find(name); found != scope->values_.end()) {
                return found->second;
            }
        }
        return nullptr;
    }

    void share(const std::string& name, std::shared_ptr<const NamedValue> value) {
        forget(name);
        add_memory(memory_of(name, *value));
        values_.emplace(name, std::move(value));
    }
    void set(const std::string& name, NamedValue value) {
        share(name, std::make_shared<const NamedValue>(std::move(value)));
    }

    /// Frees what a name refers to here, not around.
    void forget(const std::string& name) {
        if (const auto found = values_.find(name); found != values_.end()) {
            add_memory(std::uint64_t{0} - memory_of(name, *found->second));
            values_.erase(found);
        }
    }
    void clear() {
        values_.clear();
        add_memory(opsets_.size() * memory_of_opset - memory_);
    }

    [[nodiscard]] std::int64_t opset(const std::string& domain) const {
        const auto found = opsets_.find(domain == "ai.onnx" ? "" : domain);
        return found == opsets_.end() ? 0 : found->second;
    }
    [[nodiscard]] const std::map<std::string, std::int64_t>& opsets() const { return opsets_; }

private:
    /// An element of a tree, with three pointers and a colour.
    static constexpr std::uint64_t memory_of_opset =
        onnx::memory_of_block(sizeof(std::pair<const std::string, std::int64_t>) + 4 * sizeof(void*));
    using Values = std::unordered_map<std::string, std::shared_ptr<const NamedValue>>;

    static std::uint64_t memory_of(const std::string& name, const NamedValue& value) {
        constexpr std::uint64_t element = onnx::memory_of_block(sizeof(Values::value_type) + 2 * sizeof(void*));
        return element + sizeof(void*) + onnx::memory_of_text(name.size()) + value.memory();
    }
    /// Negative numbers wrap around.
    void add_memory(std::uint64_t bytes) {
        memory_ += bytes;
        all_memory_ += bytes;
    }

    const Scope* around_;
    std::map<std::string, std::int64_t> opsets_;
    Values values_;
    std::uint64_t memory_ = 0;
    std::uint64_t& all_memory_;
};

}  // namespace dmlconform::interop
