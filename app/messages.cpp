// Messages that several commands share.
#include "app/messages.h"

#include <fmt/format.h>

#include "app/standard_streams.h"
#include "engine/cases/descriptor_reader.h"
#include "engine/cases/problem_text.h"

namespace dmlconform::app {

void print_error(const core::Error& error) {
    warn("dmlconform: {}\n", error.message);
    if (!error.hint.empty()) {
        warn("    hint: {}\n", error.hint);
    }
}

int failure(const core::Error& error, int exit_code) {
    print_error(error);
    return exit_code;
}

core::Error unknown_operator(const std::string& name, const char* otherwise) {
    const std::string hint = cases::operator_suggestion(name);
    return {fmt::format("the catalogue has no operator \"{}\"", name), hint.empty() ? otherwise : hint};
}

void print_problems(std::span<const cases::Problem> problems, std::string_view where) {
    for (const cases::Problem& problem : problems) {
        warn("{}\n", cases::shown(problem));
    }
    const std::size_t count = cases::count_of(problems);
    warn("dmlconform: {} in {}; nothing was run\n", count == 1 ? "1 problem" : fmt::format("{} problems", count),
         where);
}

void print_descriptor(const cases::Case& subject) {
    warn("{}\n", subject.id);
    for (const std::string& line : operators::to_lines(*subject.descriptor)) {
        warn("    {}\n", line);
    }
}

std::string device_text(const std::string& adapter, const std::string& driver) {
    return driver.empty() ? adapter : fmt::format("{}, driver {}", adapter, driver);
}

}  // namespace dmlconform::app
