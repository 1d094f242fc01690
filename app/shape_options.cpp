// Parses comma-separated lists of sizes and attributes.
#include "app/shape_options.h"

#include <fmt/format.h>

#include "app/data_type_option.h"
#include "app/number_options.h"

namespace dmlconform::app {
namespace {

/// Splits at commas that are not inside brackets or quotes.
std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts(1);
    int depth = 0;
    bool quoted = false;
    for (const char c : text) {
        quoted = quoted != (c == '"');
        depth += quoted ? 0 : (c == '[' || c == '{') ? 1 : (c == ']' || c == '}') ? -1 : 0;
        if (c == ',' && depth == 0 && !quoted) {
            parts.emplace_back();
        } else {
            parts.back() += c;
        }
    }
    return parts;
}

/// Converts "1x1x64" to "1,1,64". Only an x between digits is replaced; messages quote other texts as written.
std::string with_commas(std::string list) {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    for (std::size_t i = 1; i + 1 < list.size(); ++i) {
        if (list[i] == 'x' && is_digit(list[i - 1]) && is_digit(list[i + 1])) {
            list[i] = ',';
        }
    }
    return list;
}

/// Parses "1,1,64,32", "1x1x64x32" or "BTensor=1,1,32,16".
core::Result<std::pair<std::string, core::Dimensions>> parse_sizes(const std::string& text) {
    const std::size_t sign = text.find('=');
    std::pair<std::string, core::Dimensions> parsed{text.substr(0, sign == std::string::npos ? 0 : sign), {}};
    const std::string list = with_commas(sign == std::string::npos ? text : text.substr(sign + 1));
    for (const std::string& part : split(list)) {
        const auto size = parse_whole_number(part);
        if (!size || *size == 0 || *size > std::numeric_limits<std::uint32_t>::max()) {
            return core::fail(fmt::format("--sizes {}: \"{}\" is not a size", text, part),
                              "for example 1,1,4096,1024 or BTensor=1x1x1024x64");
        }
        parsed.second.push_back(static_cast<std::uint32_t>(*size));
    }
    return parsed;
}

}  // namespace

void ShapeOptions::add_problem_options(Command command) {
    command
        .add_option(
            "--sizes", sizes,
            "Take PATH as an operator's name, and make a case of it with random inputs. The first tensor has these "
            "sizes, and NAME=N,N,... gives another tensor's. What is not given follows from the first tensor. Inputs "
            "that must have equal sizes are broadcast. Repeat it for more")
        .type_name("[NAME=]N,N,...")
        .allow_extra_args(false);
    command
        .add_option("--strides", strides,
                    "The same with these strides: for the first tensor or NAME=…, as numbers, or as the order of the "
                    "dimensions in memory, for example nhwc. Repeat it for more")
        .type_name("[NAME=]N,N,...")
        .allow_extra_args(false);
    command
        .add_option("--attr", attributes,
                    "The same with these attributes, in JSON as in a case file: Axis=3,K=10. A number sets all "
                    "entries of an array. Repeat it for more")
        .type_name("NAME=VALUE")
        .allow_extra_args(false);
    add_data_type(command, type, "The same with this data type of the first tensor");
}

void ShapeOptions::add_to(Command command) {
    add_problem_options(command);
    const Option file =
        command
            .add_option("--batch", batch,
                        "Make a case of each line of this file: an operator, and these options. PATH, if it is given, "
                        "names the operators to which that is limited")
            .path("FILE");
    for (const char* one : {"--sizes", "--strides", "--attr"}) {
        file.excludes(one);
    }
}

core::Result<fuzz::Shape> ShapeOptions::shape() const {
    fuzz::Shape shape;
    for (const std::string& option : strides) {
        const std::size_t sign = option.find('=');
        const bool named = sign != std::string::npos;
        shape.strides.emplace_back(named ? option.substr(0, sign) : "",
                                   with_commas(named ? option.substr(sign + 1) : option));
    }
    for (const std::string& option : sizes) {
        auto parsed = parse_sizes(option);
        if (!parsed) {
            return tl::unexpected(parsed.error());
        }
        shape.sizes.push_back(std::move(*parsed));
    }
    for (const std::string& option : attributes) {
        for (const std::string& part : split(option)) {
            const std::size_t sign = part.find('=');
            if (sign == std::string::npos || sign == 0) {
                return core::fail(fmt::format("--attr {}: \"{}\" is not NAME=VALUE", option, part),
                                  "for example --attr Axis=3,K=10");
            }
            shape.attributes.emplace_back(part.substr(0, sign), part.substr(sign + 1));
        }
    }
    shape.type = type.empty() ? std::nullopt : core::parse_data_type(type);
    return shape;
}

std::vector<std::string> ShapeOptions::words() const {
    std::vector<std::string> words;
    for (const std::string& option : sizes) {
        words.push_back("--sizes=" + option);
    }
    for (const std::string& option : strides) {
        words.push_back("--strides=" + option);
    }
    for (const std::string& option : attributes) {
        words.push_back("--attr=" + option);
    }
    if (!batch.empty()) {
        words.push_back("--batch=" + batch);
    }
    if (!type.empty()) {
        words.push_back("--type=" + type);
    }
    return words;
}

}  // namespace dmlconform::app
