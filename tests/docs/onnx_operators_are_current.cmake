# Fails unless docs/onnx-operators.md is what the program prints. usage: cmake -DPROGRAM=… -DSOURCE=… -P
# onnx_operators_are_current.cmake

execute_process(COMMAND "${PROGRAM}" export onnx --table OUTPUT_VARIABLE printed RESULT_VARIABLE code)
file(READ "${SOURCE}/docs/onnx-operators.md" committed)
if(NOT code EQUAL 0 OR NOT printed STREQUAL committed)
  message(FATAL_ERROR "docs/onnx-operators.md is out of date: dmlconform export onnx --table > docs/onnx-operators.md")
endif()
