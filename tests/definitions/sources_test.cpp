// Tests that the definitions cover the operators, and that their texts are as plain as they claim.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "engine/cpu/definitions/call.h"
#include "engine/operators/catalogue.h"

namespace dmlconform::tests::sources_test {
namespace {

namespace definitions = cpu::definitions;

std::string text_of(const std::filesystem::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

std::filesystem::path source(std::string_view name) {
    return std::filesystem::path(DMLCONFORM_DEFINITIONS) / (std::string(name) + ".cpp");
}

TEST(Definitions, ExistForAllOperators) {
    for (const std::string& name : operators::operator_names()) {
        EXPECT_NE(definitions::find_definition(operators::find_operator(name)->short_name()), nullptr) << name;
    }
}

TEST(Definitions, QuoteTheDocumentationOfEachOperator) {
    for (const auto& file : definitions::definitions) {
        const std::string text = text_of(source(file.file));
        ASSERT_FALSE(text.empty()) << file.file;
        const auto has_page = [&](const std::string& name) {
            return text.find("https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_" + name +
                             "_operator_desc\n") != std::string::npos;
        };
        // The page of each operator, or one pattern for all.
        const bool has_pattern = text.find("/ns-directml-dml_NAME_operator_desc") != std::string::npos;
        for (const definitions::Definition& definition : file.rows()) {
            std::string name(definition.name);
            std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
            EXPECT_TRUE(has_pattern || has_page(name)) << definition.name << " in " << file.file;
        }
    }
}

/// Functions, lambdas and structures begin and end at the left margin. Tables of definitions may be longer, and so may
/// the headers that only say what arrays and number types are.
TEST(Definitions, HaveAtMostSixtyLines) {
    constexpr int most = 60;
    int blocks = 0;
    for (const auto& entry : std::filesystem::directory_iterator(DMLCONFORM_DEFINITIONS)) {
        if (entry.path().extension() != ".cpp" && entry.path().filename() != "activation.h") {
            continue;
        }
        std::istringstream lines(text_of(entry.path()));
        std::string line;
        std::string start;
        int count = 0;
        while (std::getline(lines, line)) {
            const bool is_indented = line.empty() || line[0] == ' ' || line[0] == '/';
            if (start.empty() && !is_indented && line.back() == '{' && !line.starts_with("namespace")) {
                start = line;
                count = 0;
            }
            count += start.empty() ? 0 : 1;
            if (!start.empty() && (line == "}" || line == "};")) {
                EXPECT_TRUE(count <= most || start.starts_with("Definitions "))
                    << entry.path().filename() << ": " << count << " lines: " << start;
                start.clear();
                ++blocks;
            }
        }
    }
    EXPECT_GT(blocks, 100);
}

TEST(Definitions, UseNoFastCode) {
    for (const auto& entry : std::filesystem::directory_iterator(DMLCONFORM_DEFINITIONS)) {
        const std::string text = text_of(entry.path());
        for (const char* const fast :
             {"xtensor", "wide_registers", "parallel", "intrin.h", "_mm", "memcpy", "hwy", "_kernels", "in_eights"}) {
            EXPECT_EQ(text.find(fast), std::string::npos) << entry.path().filename() << " mentions " << fast;
        }
    }
}

}  // namespace
}  // namespace dmlconform::tests::sources_test
