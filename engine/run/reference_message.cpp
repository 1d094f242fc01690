// Converts the reference's results to messages and back. Numbers are sent as their bytes in memory, because both ends
// are the same program on the same machine.
#include "engine/run/reference_message.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <type_traits>

namespace dmlconform::run {
namespace {

using nlohmann::json;

template <class T>
json raw_bytes(const std::vector<T>& values) {
    static_assert(std::is_arithmetic_v<T>);
    std::vector<std::uint8_t> bytes(values.size() * sizeof(T));
    if (!bytes.empty()) {
        std::memcpy(bytes.data(), values.data(), bytes.size());
    }
    return json::binary(std::move(bytes));
}

template <class T>
bool read_bytes(const json& message, const char* key, std::vector<T>& values) {
    const auto found = message.find(key);
    if (found == message.end() || !found->is_binary() || found->get_binary().size() % sizeof(T) != 0) {
        return false;
    }
    values.resize(found->get_binary().size() / sizeof(T));
    if (!values.empty()) {
        std::memcpy(values.data(), found->get_binary().data(), values.size() * sizeof(T));
    }
    return true;
}

json slack_json(const core::ElementSlack& slack) {
    std::vector<std::uint64_t> alternatives;
    for (const auto& [index, bits] : slack.alternatives) {
        alternatives.push_back(index);
        alternatives.push_back(bits);
    }
    return {{"below", raw_bytes(slack.below)}, {"above", raw_bytes(slack.above)},
            {"nan", raw_bytes(slack.nan)},     {"finite", raw_bytes(slack.finite)},
            {"sigma", raw_bytes(slack.sigma)}, {"alternatives", raw_bytes(alternatives)},
            {"meaningful", slack.meaningful}};
}

/// Reads the slack of an output with this many elements.
bool read_slack(const json& message, std::uint64_t elements, core::ElementSlack& slack) {
    std::vector<std::uint64_t> alternatives;
    if (!message.is_object() || !read_bytes(message, "below", slack.below) ||
        !read_bytes(message, "above", slack.above) || !read_bytes(message, "nan", slack.nan) ||
        !read_bytes(message, "finite", slack.finite) || !read_bytes(message, "sigma", slack.sigma) ||
        !read_bytes(message, "alternatives", alternatives) || alternatives.size() % 2 != 0 ||
        !message.contains("meaningful") || !message["meaningful"].is_number_unsigned()) {
        return false;
    }
    for (std::size_t i = 0; i < alternatives.size(); i += 2) {
        slack.alternatives.emplace_back(alternatives[i], alternatives[i + 1]);
    }
    slack.meaningful = message["meaningful"].get<std::uint64_t>();
    const auto fits = [&](const auto& values) { return values.empty() || values.size() == elements; };
    return fits(slack.below) && fits(slack.above) && fits(slack.nan) && fits(slack.finite) && fits(slack.sigma);
}

}  // namespace

json to_json(const cpu::Reference& reference) {
    json outputs = json::array();
    for (const core::Tensor& output : reference.outputs) {
        const auto bytes = output.buffer.bytes();
        const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
        outputs.push_back(bytes.empty() ? json() : json::binary(std::vector<std::uint8_t>(data, data + bytes.size())));
    }
    json slack = json::array();
    for (const core::ElementSlack& one : reference.slack) {
        slack.push_back(slack_json(one));
    }
    return {{"outputs", std::move(outputs)}, {"slack", std::move(slack)}, {"undecided", reference.undecided}};
}

core::Result<cpu::Reference> reference_from_json(const json& message, const operators::Descriptor& descriptor) {
    const auto slots = descriptor.outputs();
    const auto is_list = [&](const char* key) {
        return message.is_object() && message.contains(key) && message[key].is_array() &&
               message[key].size() == slots.size();
    };
    if (!is_list("outputs") || !is_list("slack")) {
        return core::fail("the reference's answer is not of this descriptor's outputs");
    }
    cpu::Reference reference;
    if (const auto undecided = message.find("undecided"); undecided != message.end()) {
        for (const json& name : *undecided) {
            if (!name.is_string()) {
                return core::fail("the reference's answer has a value without a name");
            }
            reference.undecided.push_back(name.get<std::string>());
        }
    }
    for (std::size_t i = 0; i < slots.size(); ++i) {
        core::Tensor& output = reference.outputs.emplace_back();
        core::ElementSlack& slack = reference.slack.emplace_back();
        const json& bytes = message["outputs"][i];
        if (slots[i].desc != nullptr) {
            output = core::Tensor(*slots[i].desc);
        }
        const std::size_t size = bytes.is_binary() ? bytes.get_binary().size() : 0;
        if (size != output.buffer.bytes().size()) {
            return core::fail("the reference's answer has an output of another size");
        }
        if (size != 0) {
            std::ranges::copy(std::as_bytes(std::span(bytes.get_binary())), output.buffer.bytes().begin());
        }
        const std::uint64_t elements =
            slots[i].desc == nullptr ? 0 : core::element_count(slots[i].desc->sizes).value_or(0);
        if (!read_slack(message["slack"][i], elements, slack)) {
            return core::fail("the reference's answer has a slack that is not of its output");
        }
    }
    return reference;
}

}  // namespace dmlconform::run
