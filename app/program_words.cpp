// Reads the command line.
#include "app/program_words.h"

#ifdef _WIN32
#include <windows.h>

#include <shellapi.h>
#endif

namespace dmlconform::app {

#ifdef _WIN32
namespace {

std::string in_utf8(const wchar_t* word) {
    // The length includes the end.
    const int length = WideCharToMultiByte(CP_UTF8, 0, word, -1, nullptr, 0, nullptr, nullptr);
    std::string text(static_cast<std::size_t>(length), '\0');
    WideCharToMultiByte(CP_UTF8, 0, word, -1, text.data(), length, nullptr, nullptr);
    text.pop_back();
    return text;
}

}  // namespace

std::vector<std::string> program_words(int argc, char** argv) {
    int count = 0;
    wchar_t** const words = CommandLineToArgvW(GetCommandLineW(), &count);
    if (words == nullptr) {
        return {argv, argv + argc};
    }
    std::vector<std::string> result;
    for (int i = 0; i < count; ++i) {
        result.push_back(in_utf8(words[i]));
    }
    LocalFree(words);
    return result;
}
#else
std::vector<std::string> program_words(int argc, char** argv) {
    return {argv, argv + argc};
}
#endif

}  // namespace dmlconform::app
