// Scopes of a model's value names: graphs, branches and functions have their own.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "engine/interop/model/tensor_data.h"

namespace dmlconform::interop {

/// What a name refers to.
struct NamedValue {
    OnnxTensor tensor;
    /// The elements of a constant.
    SourcePointer source;
    /// If not empty: why the value is unknown.
    std::string missing;
};

class Scope {
public:
    /// A branch sees the surrounding scope, a function does not.
    Scope(const Scope* around, std::map<std::string, std::int64_t> opsets)
        : around_(around), opsets_(std::move(opsets)) {}

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
        values_.insert_or_assign(name, std::move(value));
    }
    void set(const std::string& name, NamedValue value) {
        share(name, std::make_shared<const NamedValue>(std::move(value)));
    }

    /// Frees what a name refers to here, not around.
    void forget(const std::string& name) { values_.erase(name); }

    [[nodiscard]] std::int64_t opset(const std::string& domain) const {
        const auto found = opsets_.find(domain == "ai.onnx" ? "" : domain);
        return found == opsets_.end() ? 0 : found->second;
    }
    [[nodiscard]] const std::map<std::string, std::int64_t>& opsets() const { return opsets_; }

private:
    const Scope* around_;
    std::map<std::string, std::int64_t> opsets_;
    std::unordered_map<std::string, std::shared_ptr<const NamedValue>> values_;
};

}  // namespace dmlconform::interop
