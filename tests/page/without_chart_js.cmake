# Tests a program without Chart.js: `report --html` says what is missing and writes nothing; `--markdown` works.

set(page "${CMAKE_CURRENT_BINARY_DIR}/without_chart_js.html")
set(result "${CMAKE_CURRENT_BINARY_DIR}/without_chart_js.json")
file(WRITE "${result}" [[{"benchmarks": [{"name": "a", "real_time": 1, "time_unit": "us"}]}]])

execute_process(COMMAND "${PROGRAM}" report "${result}" --html "${page}" RESULT_VARIABLE code ERROR_VARIABLE errors)
if(NOT code EQUAL 3 OR NOT errors MATCHES "this build has no Chart.js" OR EXISTS "${page}")
  message(FATAL_ERROR "exit code ${code}: ${errors}")
endif()
execute_process(COMMAND "${PROGRAM}" report "${result}" --markdown - RESULT_VARIABLE code OUTPUT_VARIABLE text)
if(NOT code EQUAL 0 OR NOT text MATCHES "1 benchmarks")
  message(FATAL_ERROR "exit code ${code}: ${text}")
endif()
