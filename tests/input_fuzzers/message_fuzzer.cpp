// libFuzzer target for messages of the worker protocol. Any bytes must give either a valid message or an error, and a
// valid descriptor can be sent on, validated and marshalled for DirectML.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>

#include "engine/directml/marshal.h"
#include "engine/operators/descriptor_json.h"
#include "engine/operators/rules.h"
#include "engine/worker/cbor.h"
#include "engine/worker/messages.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace dmlconform;
    const auto message = worker::decode_cbor(std::as_bytes(std::span(data, size)));
    if (!message) {
        return 0;
    }
    (void)worker::info_from_json(*message);
    (void)worker::error_from_json(*message);
    (void)worker::rejection_from_json(*message);
    const auto descriptor = operators::descriptor_from_json(*message);
    if (!descriptor) {
        return 0;
    }
    // Writing and reading again gives the same descriptor.
    const nlohmann::json written = operators::descriptor_to_json(*descriptor);
    const auto again = operators::descriptor_from_json(written);
    if (!again || nlohmann::json::to_cbor(operators::descriptor_to_json(*again)) != nlohmann::json::to_cbor(written)) {
        __builtin_trap();
    }
    (void)operators::validate(*descriptor, core::highest_feature_level);
    const directml::MarshalledOperator marshalled(*descriptor);
    if (marshalled.desc().type != descriptor->schema->number) {
        __builtin_trap();
    }
    return 0;
}
