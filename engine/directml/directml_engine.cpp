// Implements the engine interface by devices and executables.
#if defined(_WIN32)

#include "engine/directml/directml_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/d3d12/device/adapters.h"
#include "engine/d3d12/device/platform.h"
#include "engine/directml/device.h"
#include "engine/directml/executable.h"
#include "engine/directml/marshal.h"
#include "engine/directml/marshalled_graph.h"
#include "engine/directml/self_test.h"
#include "engine/operators/graph.h"

namespace dmlconform::directml {
namespace {

CompileFailure failed(const char* what, HRESULT code, CompileFailure::Kind kind) {
    CompileFailure failure;
    failure.kind = kind;
    failure.rejection.code = static_cast<core::HResult>(code);
    failure.rejection.rule = "directml";
    failure.rejection.message = fmt::format("{} answers {}", what, core::to_string(static_cast<core::HResult>(code)));
    return failure;
}

/// The version of Wine if the program runs under Wine, which is then part of what is tested.
std::string wine_version() {
    using GetVersion = const char*(__cdecl*)();
    HMODULE ntdll = GetModuleHandleW(L"ntdll.dll");
    const auto get_version =
        ntdll == nullptr
            ? nullptr
            : reinterpret_cast<GetVersion>(reinterpret_cast<void*>(GetProcAddress(ntdll, "wine_get_version")));
    return get_version == nullptr ? std::string() : std::string(get_version());
}

class DirectMlEngine final : public Engine {
public:
    DirectMlEngine(Library library, d3d12::AdapterList adapters, std::size_t adapter, const Options& options)
        : library_(std::move(library)), adapters_(std::move(adapters)), adapter_(adapter), options_(options) {}

    ~DirectMlEngine() override { abandon_device(); }

    core::Result<void> open() {
        if (auto ready = ensure_device(); !ready) {
            return ready;
        }
        const auto level = highest_feature_level(*device_->dml.Get());
        if (!level) {
            return tl::unexpected(level.error());
        }
        const d3d12::AdapterInfo& adapter = adapters_.adapters()[adapter_];
        info_.name = "directml";
        info_.adapter = adapter.name;
        info_.driver = adapter.driver;
        info_.libraries = {{"DirectML", library_.version()}};
        if (std::string wine = wine_version(); !wine.empty()) {
            info_.libraries.emplace_back("Wine", std::move(wine));
        }
        for (auto& [name, version] : d3d12::library_versions()) {
            if (name == "vkd3d") {
                info_.libraries.emplace_back(name, std::move(version));
            }
        }
        info_.feature_level = std::min(*level, options_.feature_level);
        return {};
    }

    [[nodiscard]] const EngineInfo& info() const override { return info_; }

    [[nodiscard]] std::optional<std::string> unsupported(const operators::Descriptor& /*descriptor*/) const override {
        return std::nullopt;  // DirectML rejects what it cannot do
    }

    [[nodiscard]] tl::expected<std::unique_ptr<Executable>, CompileFailure> compile(
        const operators::Descriptor& descriptor) override {
        if (auto ready = ensure_device(); !ready) {
            return tl::unexpected(broken(info_.name, ready.error()));
        }
        return executable_of(descriptor, compile_operator(descriptor));
    }

    [[nodiscard]] std::optional<std::string> unsupported_graph(const operators::Descriptor& graph) const override {
        const std::string crash = library_.version().starts_with("1.15.4") ? known_crash(*graph.graph) : "";
        return crash.empty() ? std::nullopt : std::optional(crash);
    }

    /// Old versions of DirectML do not support graphs; these run node by node.
    [[nodiscard]] tl::expected<std::unique_ptr<Executable>, CompileFailure> compile_graph(
        const operators::Descriptor& graph) override {
        if (auto ready = ensure_device(); !ready) {
            return tl::unexpected(broken(info_.name, ready.error()));
        }
        ComPtr<IDMLDevice1> dml;
        if (FAILED(
                create(dml, [&](REFIID iid, void** address) { return device_->dml->QueryInterface(iid, address); }))) {
            return Engine::compile_graph(graph);
        }
        return executable_of(graph, compile_graph(*dml.Get(), *graph.graph));
    }

private:
    using Compiled = tl::expected<ComPtr<IDMLCompiledOperator>, CompileFailure>;

    tl::expected<std::unique_ptr<Executable>, CompileFailure> executable_of(const operators::Descriptor& descriptor,
                                                                            Compiled compiled) {
        if (!compiled) {
            return tl::unexpected(compiled.error());
        }
        auto executable = DirectMlExecutable::create(device_, descriptor, std::move(*compiled));
        if (!executable) {
            return tl::unexpected(broken(info_.name, executable.error()));
        }
        return std::move(*executable);
    }

    core::Result<void> ensure_device() {
        if (device_ && !device_->lost) {
            return {};
        }
        abandon_device();
        auto device = create_device(library_, adapters_, adapter_);
        if (!device) {
            return tl::unexpected(device.error());
        }
        device_ = std::move(*device);
        return {};
    }

    /// Destroying a device that may still be working could block forever.
    void abandon_device() {
        if (device_ && device_->commands->hung()) {
            static auto* const abandoned = new std::vector<std::shared_ptr<Device>>;
            abandoned->push_back(device_);
        }
        device_.reset();
    }

    tl::expected<ComPtr<IDMLOperator>, CompileFailure> create_operator(const operators::Descriptor& descriptor) {
        const MarshalledOperator marshalled(descriptor);
        ComPtr<IDMLOperator> operation;
        const HRESULT code = create(operation, [&](REFIID iid, void** address) {
            return device_->dml->CreateOperator(&marshalled.desc(), iid, address);
        });
        if (auto there = device_->check_removed("CreateOperator"); !there) {
            return tl::unexpected(broken(info_.name, there.error()));
        }
        if (FAILED(code)) {
            const auto kind = code == E_OUTOFMEMORY ? CompileFailure::Kind::broken : CompileFailure::Kind::rejected;
            return tl::unexpected(failed("CreateOperator", code, kind));
        }
        return operation;
    }

    Compiled compile_operator(const operators::Descriptor& descriptor) {
        const auto operation = create_operator(descriptor);
        if (!operation) {
            return tl::unexpected(operation.error());
        }
        ComPtr<IDMLCompiledOperator> compiled;
        const HRESULT code = create(compiled, [&](REFIID iid, void** address) {
            return device_->dml->CompileOperator(operation->Get(), options_.execution_flags, iid, address);
        });
        if (auto there = device_->check_removed("CompileOperator"); !there) {
            return tl::unexpected(broken(info_.name, there.error()));
        }
        if (FAILED(code)) {
            return tl::unexpected(failed("CompileOperator", code, CompileFailure::Kind::broken));
        }
        return compiled;
    }

    /// DirectML reports why it rejects; a node that CreateOperator rejects is named.
    Compiled compile_graph(IDMLDevice1& dml, const operators::Graph& graph) {
        std::vector<ComPtr<IDMLOperator>> operations;
        std::vector<void*> pointers;
        for (const operators::GraphNode& node : graph.nodes) {
            auto operation = create_operator(with_owned_constants(graph, node));
            if (!operation) {
                operation.error().rejection.message =
                    fmt::format("node `{}`: {}", node.name, operation.error().rejection.message);
                return tl::unexpected(operation.error());
            }
            pointers.push_back(operation->Get());
            operations.push_back(std::move(*operation));
        }
        const MarshalledGraph marshalled(graph, pointers);
        ComPtr<IDMLCompiledOperator> compiled;
        const HRESULT code = create(compiled, [&](REFIID iid, void** address) {
            return dml.CompileGraph(&marshalled.desc(), options_.execution_flags, iid, address);
        });
        if (auto there = device_->check_removed("CompileGraph"); !there) {
            return tl::unexpected(broken(info_.name, there.error()));
        }
        if (FAILED(code)) {
            const auto kind = code == E_INVALIDARG ? CompileFailure::Kind::rejected : CompileFailure::Kind::broken;
            return tl::unexpected(failed("CompileGraph", code, kind));
        }
        return compiled;
    }

    Library library_;
    d3d12::AdapterList adapters_;
    std::size_t adapter_;
    Options options_;
    EngineInfo info_;
    std::shared_ptr<Device> device_;
};

}  // namespace

core::Result<std::unique_ptr<Engine>> create_engine(const Options& options) {
    auto library = Library::load(options.library);
    if (!library) {
        return tl::unexpected(library.error());
    }
    auto adapters = d3d12::AdapterList::open();
    if (!adapters) {
        return tl::unexpected(adapters.error());
    }
    const auto adapter = d3d12::choose_adapter(adapters->adapters(), options.adapter);
    if (!adapter) {
        return tl::unexpected(adapter.error());
    }
    auto engine = std::make_unique<DirectMlEngine>(std::move(*library), std::move(*adapters), *adapter, options);
    if (auto opened = engine->open(); !opened) {
        return tl::unexpected(opened.error());
    }
    if (auto works = self_test(*engine); !works) {
        return tl::unexpected(works.error());
    }
    return engine;
}

}  // namespace dmlconform::directml

#endif
