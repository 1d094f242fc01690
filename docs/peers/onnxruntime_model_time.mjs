#!/usr/bin/env node
/* Times ONNX Runtime, on one thread, on a model whose inputs are FLOAT32: what docs/models.md compares with.

   usage: onnxruntime_model_time.mjs MODEL.onnx

   Needs Node.js and its package onnxruntime-node (`npm install onnxruntime-node` in a folder above this one, or in one
   whose node_modules the variable NODE_PATH names). Sizes that have a name are 1. Prints the median of the processor
   times of 25 executions, after three that are not counted. */
import { createRequire } from 'node:module';

const { InferenceSession, Tensor } = createRequire(import.meta.url)('onnxruntime-node');

const [model] = process.argv.slice(2);
if (model === undefined) {
  console.error('usage: onnxruntime_model_time.mjs MODEL.onnx');
  process.exit(2);
}
const session = await InferenceSession.create(model, { intraOpNumThreads: 1, interOpNumThreads: 1 });
const feeds = {};
for (const input of session.inputMetadata) {
  const sizes = input.shape.map((size) => (typeof size === 'number' && size > 0 ? size : 1));
  const data = new Float32Array(sizes.reduce((product, size) => product * size, 1)).map(() => 2 * Math.random() - 1);
  feeds[input.name] = new Tensor('float32', data, sizes);
}
const times = [];
for (let i = 0; i < 28; ++i) {
  const start = process.cpuUsage();
  await session.run(feeds);
  const used = process.cpuUsage(start);
  times.push((used.user + used.system) / 1000);
}
const counted = times.slice(3).sort((a, b) => a - b);
console.log(`${counted[12].toFixed(1)} ms`);
