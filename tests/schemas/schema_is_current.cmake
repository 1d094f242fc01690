# Fails unless the committed schema is what the program prints. usage: cmake -DPROGRAM=… -DKIND=case-file|result
# -DCOMMITTED=… -P schema_is_current.cmake

execute_process(COMMAND "${PROGRAM}" schema "${KIND}" OUTPUT_VARIABLE printed RESULT_VARIABLE code)
file(READ "${COMMITTED}" committed)
if(NOT code EQUAL 0 OR NOT printed STREQUAL committed)
  message(FATAL_ERROR "${COMMITTED} is out of date: dmlconform schema ${KIND} > ${COMMITTED}")
endif()
