# Fails, with what PlantBugs.cmake has to say, where a list of bugs names a place that is not in the sources. The same
# for the slowdown in tests/planted_slowdown.
file(READ "${PROBLEMS}" problems)
if(NOT problems STREQUAL "")
  message(FATAL_ERROR "${problems}")
endif()
