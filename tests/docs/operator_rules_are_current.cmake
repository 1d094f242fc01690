# Fails unless docs/operator-rules.md is what the program prints. usage: cmake -DPROGRAM=… -DSOURCE=… -P
# operator_rules_are_current.cmake

execute_process(COMMAND "${PROGRAM}" describe --rules OUTPUT_VARIABLE printed RESULT_VARIABLE code)
file(READ "${SOURCE}/docs/operator-rules.md" committed)
if(NOT code EQUAL 0 OR NOT printed STREQUAL committed)
  message(FATAL_ERROR "docs/operator-rules.md is out of date: dmlconform describe --rules > docs/operator-rules.md")
endif()
