// Writes documents to files or the standard output.
#include "app/documents.h"

#include "app/command.h"
#include "app/messages.h"
#include "app/standard_streams.h"
#include "engine/report/output_file.h"

namespace dmlconform::app {
namespace {

bool write_to_file(const std::string& path, const std::string& text) {
    const auto written = report::write_file(path, text);
    if (!written) {
        print_error(written.error());
    }
    return written.has_value();
}

}  // namespace

bool can_write_documents(std::initializer_list<std::string> paths) {
    for (const std::string& path : paths) {
        if (path.empty() || path == report::standard_output_path) {
            continue;
        }
        if (const auto writable = report::check_writable(path); !writable) {
            print_error(writable.error());
            return false;
        }
    }
    return true;
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

int write_output(const std::string& path, const std::string& text) {
    if (path.empty()) {
        print_document(text);
        return exit_ok;
    }
    return write_to_file(path, text) ? exit_ok : exit_not_run;
}

}  // namespace dmlconform::app
