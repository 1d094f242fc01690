// Lets vkd3d's static archives become part of a shared object.
//
// Debian compiled them for programs (-fPIE), not for libraries (-fPIC). They access variables of the C library as if
// these belonged to the program, which the linker rejects in a shared object. So this file defines such variables in
// the shared object, with the values of the C library's.
#include <dlfcn.h>

#include <cstdio>

// <cstdio> declares the C library's variables by these names, so the linker names are given separately.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
extern "C" {
__attribute__((visibility("hidden"))) std::FILE* own_stdin __asm__("stdin") = nullptr;
__attribute__((visibility("hidden"))) std::FILE* own_stdout __asm__("stdout") = nullptr;
__attribute__((visibility("hidden"))) std::FILE* own_stderr __asm__("stderr") = nullptr;
/// vkd3d passes it to the Vulkan driver.
__attribute__((visibility("hidden")))
const char* own_program_name __asm__("program_invocation_name") = "dmlconform.exe";
}
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

namespace {

std::FILE* stream_of_the_c_library(const char* name) {
    return *static_cast<std::FILE**>(dlsym(RTLD_DEFAULT, name));
}

/// Runs when the library is loaded, before vkd3d can write a message.
__attribute__((constructor)) void copy_streams() {
    own_stdin = stream_of_the_c_library("stdin");
    own_stdout = stream_of_the_c_library("stdout");
    own_stderr = stream_of_the_c_library("stderr");
}

}  // namespace
