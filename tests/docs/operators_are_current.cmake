# Fails unless docs/operators.md is what the program prints. usage: cmake -DPROGRAM=… -DSOURCE=… -P
# operators_are_current.cmake

execute_process(COMMAND "${PROGRAM}" describe --table --cases "${SOURCE}/cases" OUTPUT_VARIABLE printed
                RESULT_VARIABLE code)
file(READ "${SOURCE}/docs/operators.md" committed)
if(NOT code EQUAL 0 OR NOT printed STREQUAL committed)
  message(FATAL_ERROR "docs/operators.md is out of date: dmlconform describe --table --cases cases > docs/operators.md")
endif()
