// What ONNX Runtime computes for a model with one input and one output of FLOAT.
//
//     NODE_PATH=…/node_modules node onnx_runtime.js MODEL SIZE,SIZE,… INPUT OUTPUT
//
// INPUT and OUTPUT are files of raw elements. Exit code 77: the package onnxruntime-node is not to be had.
"use strict";
const fs = require("fs");

let runtime;
try {
  runtime = require("onnxruntime-node");
} catch (error) {
  console.error(error.message.split("\n")[0]);
  process.exit(77);
}

async function main() {
  const [model, sizes, input, output] = process.argv.slice(2);
  // One thread, and nodes as they are in the model.
  const session = await runtime.InferenceSession.create(model, {
    graphOptimizationLevel: "disabled", intraOpNumThreads: 1, interOpNumThreads: 1 });
  const bytes = fs.readFileSync(input);
  const data = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
  const tensor = new runtime.Tensor("float32", data, sizes.split(",").map(Number));
  const results = await session.run({ [session.inputNames[0]]: tensor });
  const computed = results[session.outputNames[0]].data;
  fs.writeFileSync(output, Buffer.from(computed.buffer, computed.byteOffset, computed.byteLength));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
