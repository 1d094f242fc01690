# Tests PlantBugs.cmake: bugs get into the copy of a source, and a missing or ambiguous location becomes a problem that
# a separate test reports. It never stops CMake. usage: cmake -DFOLDER=… -P plant_bugs_test.cmake

cmake_minimum_required(VERSION 3.25)
include("${CMAKE_CURRENT_LIST_DIR}/PlantBugs.cmake")

# expect(<what> <actual> <expected>)
function(expect what actual expected)
  if(NOT actual STREQUAL expected)
    message(SEND_ERROR "${what}: \"${actual}\", where \"${expected}\" is expected")
  endif()
endfunction()

# plants(<file> <right>): plants a bug in a project whose only source is a.cpp
macro(plants file right)
  file(REMOVE_RECURSE "${FOLDER}")
  file(WRITE "${FOLDER}/a.cpp" "int once = 1 + 2;\nint twice = 3 * 3;\n")
  file(WRITE "${FOLDER}/list.json"
       "{ \"locations\": [{ \"file\": \"${file}\", \"right\": \"${right}\", \"bugs\": { \"off\": \"7\" } }] }\n")
  set(PROJECT_SOURCE_DIR "${FOLDER}")
  set(PLANTED_ROOT "${FOLDER}/planted")
  foreach(variable FILES NAMES CASES PROBLEMS)
    set(PLANTED_${variable} "")
  endforeach()
  plant_bugs("${FOLDER}/list.json")
endmacro()

plants(a.cpp "1 + 2")
expect("problems of a location that is there" "${PLANTED_PROBLEMS}" "")
expect("bugs of a location that is there" "${PLANTED_NAMES}" "list/off")
file(READ "${PLANTED_ROOT}/a.cpp.new" copy)
if(NOT copy MATCHES "int once = .planted_bug == 1 . .7. : .1 . 2..;")
  message(SEND_ERROR "the bug is not in the copy: ${copy}")
endif()

# A changed line, a text that occurs twice, and a missing file.
foreach(row "a.cpp|1 + 3|this is not once in a.cpp" "a.cpp|3|this is not once in a.cpp" "b.cpp|1 + 2|there is no b.cpp")
  string(REGEX MATCH "^([^|]*)\\|([^|]*)\\|(.*)$" all "${row}")
  set(message "${CMAKE_MATCH_3}")
  plants("${CMAKE_MATCH_1}" "${CMAKE_MATCH_2}")
  expect("bugs of ${row}" "${PLANTED_NAMES}" "")
  if(NOT PLANTED_PROBLEMS MATCHES "${message}")
    message(SEND_ERROR "${row}: the problem is not reported: ${PLANTED_PROBLEMS}")
  endif()
  file(WRITE "${FOLDER}/problems.txt" "${PLANTED_PROBLEMS}")
  execute_process(COMMAND "${CMAKE_COMMAND}" "-DPROBLEMS=${FOLDER}/problems.txt"
                          -P "${CMAKE_CURRENT_LIST_DIR}/CheckLists.cmake" RESULT_VARIABLE code ERROR_VARIABLE error)
  # CMake wraps lines depending on the length of the build's path.
  string(REGEX REPLACE "[ \n]+" " " error "${error}")
  if(code EQUAL 0 OR NOT error MATCHES "${message}")
    message(SEND_ERROR "${row}: CheckLists.cmake passes: ${error}")
  endif()
endforeach()
