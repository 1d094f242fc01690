// Converts small structures to JSON values and back.
#include "engine/worker/messages.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "engine/core/utf8.h"

namespace dmlconform::worker {

using nlohmann::json;

namespace {

/// Limit in characters for texts from a worker, which appear in reports and on the terminal.
constexpr std::size_t longest_text = 1000;

}  // namespace

std::optional<std::string> text_member(const json& object, const char* key) {
    const auto found = object.is_object() ? object.find(key) : object.end();
    if (found == object.end() || !found->is_string()) {
        return std::nullopt;
    }
    return core::shortened(found->get_ref<const std::string&>(), longest_text);
}

std::optional<std::uint64_t> unsigned_member(const json& object, const char* key) {
    const auto found = object.is_object() ? object.find(key) : object.end();
    const bool natural = found != object.end() && found->is_number_integer() &&
                         (found->is_number_unsigned() || found->get<std::int64_t>() >= 0);
    return natural ? std::optional(found->get<std::uint64_t>()) : std::nullopt;
}

json to_json(const EngineInfo& info) {
    json libraries = json::array();
    for (const auto& [name, version] : info.libraries) {
        libraries.push_back({name, version});
    }
    return {{"protocol", protocol_version},
            {"graphs", graphs_version},
            {"name", info.name},
            {"adapter", info.adapter},
            {"driver", info.driver},
            {"libraries", std::move(libraries)},
            {"featureLevel", core::to_string(info.feature_level)}};
}

core::Result<void> read_device(const json& object, EngineInfo& info) {
    info.adapter = text_member(object, "adapter").value_or("");
    info.driver = text_member(object, "driver").value_or("");
    if (object.contains("featureLevel")) {
        const auto level = core::parse_feature_level(text_member(object, "featureLevel").value_or(""));
        if (!level) {
            return core::fail("it does not tell a feature level of DirectML's");
        }
        info.feature_level = *level;
    }
    const auto libraries = object.find("libraries");
    if (libraries == object.end() || libraries->is_null()) {
        return {};
    }
    if (!libraries->is_array()) {
        return core::fail("its libraries are not an array of pairs of name and version");
    }
    for (const json& pair : *libraries) {
        if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string() || !pair[1].is_string()) {
            return core::fail("its libraries are not pairs of name and version");
        }
        info.libraries.emplace_back(pair[0].get_ref<const std::string&>(), pair[1].get_ref<const std::string&>());
    }
    return {};
}

core::Result<EngineInfo> info_from_json(const json& answer) {
    const auto protocol = unsigned_member(answer, "protocol");
    if (protocol != protocol_version) {
        return core::fail(fmt::format("it speaks {} of the worker protocol; this is version {}",
                                      protocol ? fmt::format("version {}", *protocol) : "no version",
                                      protocol_version));
    }
    EngineInfo info;
    const auto name = text_member(answer, "name");
    if (!name || name->empty()) {
        return core::fail("it does not tell its engine's name");
    }
    info.name = *name;
    if (!answer.contains("featureLevel")) {
        return core::fail("it does not tell a feature level of DirectML's");
    }
    if (auto read = read_device(answer, info); !read) {
        return tl::unexpected(std::move(read.error()));
    }
    return info;
}

core::Result<std::optional<std::int64_t>> wanted_opset(const json& info_answer) {
    constexpr std::uint64_t most = 1000;
    if (!info_answer.contains("wants")) {
        return std::optional<std::int64_t>();
    }
    if (text_member(info_answer, "wants") != "onnx") {
        return core::fail("it wants something other than models in ONNX's format");
    }
    const auto opset = unsigned_member(info_answer, "opset");
    if (!opset || *opset > most) {
        return core::fail("it wants ONNX models, but does not tell of which `opset`");
    }
    return std::optional(static_cast<std::int64_t>(*opset));
}

bool takes_graphs(const json& info_answer) {
    return unsigned_member(info_answer, "graphs") == graphs_version;
}

json to_json(const Roofline& roofline) {
    return {{"bytesPerSecond", roofline.bytes_per_second}, {"operationsPerSecond", roofline.operations_per_second}};
}

core::Result<Roofline> roofline_from_json(const json& answer) {
    const auto rate = [&](const char* key) {
        const auto found = answer.find(key);
        const double value = found != answer.end() && found->is_number() ? found->get<double>() : 0;
        return std::isfinite(value) && value > 0 ? value : 0;
    };
    const Roofline roofline{rate("bytesPerSecond"), rate("operationsPerSecond")};
    if (roofline.bytes_per_second == 0 || roofline.operations_per_second == 0) {
        return core::fail("the worker's answer to `roofline` has not two positive numbers");
    }
    return roofline;
}

json to_json(const core::Error& error) {
    return {{"message", error.message}, {"hint", error.hint}};
}

core::Error error_from_json(const json& value) {
    return {text_member(value, "message").value_or("an error without a message"),
            text_member(value, "hint").value_or("")};
}

json to_json(const operators::Rejection& rejection) {
    json object{
        {"code", static_cast<std::uint32_t>(rejection.code)}, {"rule", rejection.rule}, {"message", rejection.message}};
    if (rejection.legal_from) {
        object["legalFromFeatureLevel"] = core::to_string(*rejection.legal_from);
    }
    return object;
}

core::Result<operators::Rejection> rejection_from_json(const json& value) {
    const auto code = unsigned_member(value, "code");
    if (!code || *code > std::numeric_limits<std::uint32_t>::max()) {
        return core::fail("a rejection has no HRESULT");
    }
    operators::Rejection rejection;
    rejection.code = static_cast<core::HResult>(*code);
    rejection.rule = text_member(value, "rule").value_or("");
    rejection.message = text_member(value, "message").value_or("");
    if (const auto level = text_member(value, "legalFromFeatureLevel")) {
        rejection.legal_from = core::parse_feature_level(*level);
    }
    return rejection;
}

}  // namespace dmlconform::worker
