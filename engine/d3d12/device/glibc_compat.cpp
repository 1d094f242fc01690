// Lets vkd3d's static archives, which Debian built against a newer glibc, link on one older than 2.38.
//
// From 2.38 on, <stdlib.h> redirects strtol() and its kin to __isoc23_* symbols (the C23 versions, which
// also read "0b101"). An older glibc has none of those, and the archives need nothing else that it
// lacks. vkd3d only parses option and debug strings with them, so the older behaviour will do.
//
// Where glibc has the symbols this file is empty: defining them again would only get in the way.

#if __has_include(<features.h>)
#include <features.h>
#endif

#if defined(__GLIBC__)
#if !__GLIBC_PREREQ(2, 38)

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

// The names are glibc's, reserved as they are.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {

long __isoc23_strtol(const char* text, char** end, int base);
unsigned long __isoc23_strtoul(const char* text, char** end, int base);
__attribute__((format(scanf, 2, 3))) int __isoc23_sscanf(const char* text, const char* format, ...);

long __isoc23_strtol(const char* text, char** end, int base) {
    return std::strtol(text, end, base);
}

unsigned long __isoc23_strtoul(const char* text, char** end, int base) {
    return std::strtoul(text, end, base);
}

int __isoc23_sscanf(const char* text, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int count = std::vsscanf(text, format, arguments);
    va_end(arguments);
    return count;
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier)

#endif
#endif
