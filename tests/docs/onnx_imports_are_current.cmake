# Fails unless docs/import.md is what the program prints. usage: cmake -DPROGRAM=… -DSOURCE=… -P
# onnx_imports_are_current.cmake

execute_process(COMMAND "${PROGRAM}" import onnx-test --table OUTPUT_VARIABLE printed RESULT_VARIABLE code)
file(READ "${SOURCE}/docs/import.md" committed)
if(NOT code EQUAL 0 OR NOT printed STREQUAL committed)
  message(FATAL_ERROR "docs/import.md is out of date: dmlconform import onnx-test --table > docs/import.md")
endif()
