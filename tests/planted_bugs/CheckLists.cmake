# Fails with the messages of plant_bugs.py if a list of bugs names a location that is not in the sources. Also checks
# the slowdown in tests/planted_slowdown.
file(READ "${PROBLEMS}" problems)
if(NOT problems STREQUAL "")
  message(FATAL_ERROR "${problems}")
endif()
