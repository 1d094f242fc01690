# Warnings and code generation that all of the project's own targets share, as the target dmlconform_options.

# The linker's list of files it read breaks where the checkout's path has a space: everything would be linked anew each
# time.
set(CMAKE_LINK_DEPENDS_USE_LINKER OFF)

add_library(dmlconform_options INTERFACE)
target_include_directories(dmlconform_options INTERFACE "${PROJECT_SOURCE_DIR}")

if(MSVC)
  target_compile_options(dmlconform_options INTERFACE /W4 /permissive- /utf-8 /fp:precise
                                                      $<$<BOOL:${DMLCONFORM_WERROR}>:/WX>)
else()
  target_compile_options(
    dmlconform_options
    INTERFACE -Wall -Wextra -Wconversion
              # In a batch of sources (Batches.cmake), names of one are hidden by locals of another.
              $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow>
              $<$<BOOL:${DMLCONFORM_WERROR}>:-Werror>
              # g++ 12 warns of overlapping copies in std::string where there are none (GCC bug 105651).
              $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
              # What clang knows of Visual Studio: extensions of that compiler that other compilers do not have.
              $<$<CXX_COMPILER_ID:Clang>:-fno-ms-extensions>
              $<$<CXX_COMPILER_ID:Clang>:-Wmicrosoft>
              # GCC does not align the stack for wide registers on Windows (GCC bug 54412). Moves that need no alignment
              # are as fast.
              $<$<AND:$<BOOL:${MINGW}>,$<CXX_COMPILER_ID:GNU>>:-Wa,-muse-unaligned-vector-move>
              # The reference must not depend on the instruction set: a fused multiply-add rounds once where two
              # operations round twice.
              -ffp-contract=off)
endif()

# For folders without kernels: two thirds of the size of -O1, and as fast. Optimised in this way, g++ 12 takes empty
# std::optionals for uninitialised ones (GCC bug 80635). What is built to be tested, and not to be kept, compiles faster
# without.
set(DMLCONFORM_COLD_CODE -Os CACHE STRING "How code without kernels is optimised in a release")
mark_as_advanced(DMLCONFORM_COLD_CODE)
set(cold_code "$<$<CONFIG:Release>:${DMLCONFORM_COLD_CODE}>"
    "$<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU>>:-Wno-maybe-uninitialized>")
# With the sanitizers, it takes clang a third of the time.
set(unoptimised_in_debug "$<$<CONFIG:Debug>:-O0>")
