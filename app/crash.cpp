// Installs a handler for unhandled exceptions on Windows.
#include "app/crash.h"

#ifdef _WIN32
#include <windows.h>

#include <array>
#include <cstdio>
#endif

namespace dmlconform::app {

#ifdef _WIN32
namespace {

/// Uses as few functions as possible, because the process may be corrupted.
LONG WINAPI end(EXCEPTION_POINTERS* exception) {
    const DWORD code = exception->ExceptionRecord->ExceptionCode;
    std::array<char, 80> text{};
    const int size = std::snprintf(text.data(), text.size(), "exception 0x%08lx at %p\n", code,
                                   exception->ExceptionRecord->ExceptionAddress);
    DWORD written = 0;
    WriteFile(GetStdHandle(STD_ERROR_HANDLE), text.data(), static_cast<DWORD>(size), &written, nullptr);
    TerminateProcess(GetCurrentProcess(), code);
    return EXCEPTION_EXECUTE_HANDLER;
}

}  // namespace

void end_at_once_on_crash() {
    SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX);
    SetUnhandledExceptionFilter(end);
}
#else
void end_at_once_on_crash() {}
#endif

}  // namespace dmlconform::app
