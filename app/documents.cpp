// Writes documents to files or the standard output.
#include "app/documents.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "app/command.h"
#include "app/messages.h"
#include "app/standard_streams.h"
#include "engine/report/output_file.h"

namespace dmlconform::app {
namespace {

namespace fs = std::filesystem;

/// The same text for all paths of a file. Empty for devices and pipes: several outputs can write to one of them, one
/// after another.
std::string file_name(const std::string& path) {
    if (path == report::standard_output_path) {
        return path;
    }
    std::error_code error;
    if (fs::exists(path, error) && !fs::is_regular_file(path, error)) {
        return "";
    }
    const auto target = report::behind_links(path);
    const fs::path whole = fs::weakly_canonical(fs::absolute(target ? *target : fs::path(path), error), error);
    return error ? path : whole.generic_string();
}

/// The names of files that a command needs. Only files are replaced by outputs.
std::set<std::string> names_of(const std::vector<std::string>& needed) {
    std::set<std::string> names;
    for (const std::string& path : needed) {
        if (const std::string name = file_name(path); !name.empty() && name != report::standard_output_path) {
            names.insert(name);
        }
    }
    return names;
}

core::Error would_replace(const std::string& path) {
    return {fmt::format("an output would replace {}, which this command needs", path), "name another file"};
}

bool write_to_file(const std::string& path, const std::string& text) {
    const auto written = report::write_file(path, text);
    if (!written) {
        print_error(written.error());
    }
    return written.has_value();
}

}  // namespace

core::Result<void> check_outputs(const std::vector<std::string>& outputs, const std::vector<std::string>& needed) {
    const std::set<std::string> files = names_of(needed);
    std::set<std::string> written;
    for (const std::string& path : outputs) {
        if (path.empty()) {
            continue;
        }
        const std::string name = file_name(path);
        if (!name.empty() && !written.insert(name).second) {
            return core::fail(fmt::format("two outputs are to be written to {}", report::file_in_messages(path)),
                              "name another file for one of them");
        }
        if (files.contains(name)) {
            return tl::unexpected(would_replace(path));
        }
        if (auto writable = report::check_writable(path); !writable) {
            return writable;
        }
    }
    return {};
}

bool can_write_documents(const std::vector<std::string>& outputs, const std::vector<std::string>& needed) {
    const auto good = check_outputs(outputs, needed);
    if (!good) {
        print_error(good.error());
    }
    return good.has_value();
}

bool write_document(const std::string& path, const std::function<std::string()>& make) {
    if (path.empty()) {
        return true;
    }
    if (path == report::standard_output_path) {
        print_document(make());
        return true;
    }
    return write_to_file(path, make());
}

int write_output(const std::string& path, const std::string& text, const std::vector<std::string>& needed) {
    if (path.empty()) {
        print_document(text);
        return exit_ok;
    }
    if (names_of(needed).contains(file_name(path))) {
        print_error(would_replace(path));
        return exit_usage;
    }
    return write_to_file(path, text) ? exit_ok : exit_not_run;
}

}  // namespace dmlconform::app
