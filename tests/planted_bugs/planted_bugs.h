// Which bug is switched on in the copies of kernels, bindings and shaders that have bugs planted: see PlantBugs.cmake.
#pragma once

#include <cstdint>
#include <span>

struct PlantedBug {
    std::uint32_t number;
    const char* operator_name;  // in lower case, as its files are named
    const char* name;
};

/// All of them. Written by the build.
extern const std::span<const PlantedBug> planted_bugs;

struct CatchingCases {
    const char* operator_name;
    const char* path;  // of a folder or file of cases, below cases/
};

/// Those that have to catch an operator's bugs. Written by the build.
extern const std::span<const CatchingCases> catching_cases;

/// The one that is on; 0: none. Of this name in no namespace, so that C++ and HLSL read the same text.
extern std::uint32_t planted_bug;
