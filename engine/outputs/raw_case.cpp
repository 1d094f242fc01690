// Writes case.json last, so that a folder that has it is complete.
#include "engine/outputs/raw_case.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <system_error>

#include "engine/cases/data_file_names.h"
#include "engine/cases/json_text.h"
#include "engine/cases/npy_writer.h"
#include "engine/operators/descriptor_json.h"
#include "engine/operators/graph_json.h"
#include "engine/report/output_file.h"

namespace dmlconform::outputs {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

tl::unexpected<NoRawCase> nothing_to_write(std::string why) {
    return tl::unexpected(NoRawCase{{std::move(why), ""}, false});
}

tl::expected<void, NoRawCase> write_to(const fs::path& path, const std::string& content) {
    if (auto written = report::write_file(path.generic_string(), content); !written) {
        return tl::unexpected(NoRawCase{std::move(written.error()), true});
    }
    return {};
}

/// Name, file, type and sizes of each tensor that is not absent.
ordered_json tensors_json(const std::vector<operators::TensorSlot>& slots) {
    ordered_json list = ordered_json::array();
    for (const operators::TensorSlot& slot : slots) {
        if (slot.desc != nullptr) {
            list.push_back({{"name", slot.name},
                            {"file", cases::tensor_file_name(slot.name, slot.desc->data_type)},
                            {"dataType", core::name(slot.desc->data_type)},
                            {"sizes", slot.desc->sizes}});
        }
    }
    return list;
}

std::string case_json(const cases::Case& subject) {
    const operators::Descriptor& descriptor = *subject.descriptor;
    ordered_json object{{"case", subject.id}};
    if (descriptor.graph != nullptr) {
        object["graph"] = operators::graph_to_json(*descriptor.graph);
    } else {
        const nlohmann::json described = operators::descriptor_to_json(descriptor);
        object["operator"] = described["operator"];
        object["desc"] = described["desc"];
    }
    object["inputs"] = tensors_json(descriptor.inputs());
    object["outputs"] = tensors_json(descriptor.outputs());
    return cases::json_text(object) + "\n";
}

tl::expected<void, NoRawCase> write_inputs(const fs::path& folder, const cases::Case& subject) {
    const auto slots = subject.descriptor->inputs();
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i].desc == nullptr) {
            continue;
        }
        core::Tensor tensor(*slots[i].desc);
        if (const auto filled = subject.inputs[i]->fill(tensor); !filled) {
            return nothing_to_write(filled.error().message);
        }
        const fs::path path = folder / cases::tensor_file_name(slots[i].name, slots[i].desc->data_type);
        if (auto written = write_to(path, cases::data_file(tensor)); !written) {
            return written;
        }
    }
    return {};
}

}  // namespace

tl::expected<void, NoRawCase> write_raw_case(const fs::path& parent, const cases::Case& subject) {
    if (subject.expect_error) {
        return nothing_to_write("the descriptor has to be rejected, which outputs do not show");
    }
    if (!subject.problem.empty()) {
        return nothing_to_write(subject.problem);
    }
    for (const operators::TensorSlot& slot : subject.descriptor->inputs()) {
        if (slot.desc != nullptr && cases::data_file_bytes(*slot.desc) > largest_raw_tensor) {
            return nothing_to_write(fmt::format("{} takes more than {} bytes", slot.name, largest_raw_tensor));
        }
    }
    const fs::path folder = parent / cases::case_folder_name(subject.id);
    std::error_code error;
    fs::create_directories(folder, error);
    if (error || fs::is_symlink(fs::symlink_status(folder, error))) {
        return tl::unexpected(NoRawCase{{fmt::format("the folder {} cannot be made{}", folder.generic_string(),
                                                     error ? ": " + error.message() : ": this is a symbolic link"),
                                         ""},
                                        true});
    }
    auto written = write_inputs(folder, subject);
    return written ? write_to(folder / "case.json", case_json(subject)) : written;
}

}  // namespace dmlconform::outputs
