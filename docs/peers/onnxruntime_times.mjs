#!/usr/bin/env node
/* Times ONNX Runtime, on one thread, on the cases of docs/examples/large_cpu.json: what docs/performance.md compares
   with.

   usage: onnxruntime_times.mjs [PATTERN]   cases whose names have PATTERN, a regular expression, in them; otherwise all

   Needs Node.js and its package onnxruntime-node (`npm install onnxruntime-node` in a folder above this one, or in one
   whose node_modules the variable NODE_PATH names); dmlconform does not. Prints a line for each case: the shortest
   execution within a second, as ONNX Runtime's own profiler has it. The profiler leaves out what Node.js does with
   outputs, and the shortest execution is one that a busy machine did not interrupt: compare it with
   `dmlconform bench --cpu-time` on one processor.

   Filters and lists of sizes are part of the model, as networks have them, so that ONNX Runtime prepares them before.
   Data is not. */
import { mkdtempSync, readFileSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';

const { InferenceSession, Tensor } = createRequire(import.meta.url)('onnxruntime-node');

// ---- a model of one operator, in ONNX's binary format --------------------------------------------------------------

const FLOAT = 1, UINT8 = 2, INT8 = 3, INT32 = 6, INT64 = 7;
const names = { [FLOAT]: 'float32', [UINT8]: 'uint8', [INT8]: 'int8', [INT32]: 'int32', [INT64]: 'int64' };
const arrays = {
  [FLOAT]: Float32Array, [UINT8]: Uint8Array, [INT8]: Int8Array, [INT32]: Int32Array, [INT64]: BigInt64Array,
};

function varint(number) {
  const bytes = [];
  let rest = BigInt.asUintN(64, BigInt(number));
  for (; rest > 127n; rest >>= 7n) {
    bytes.push(Number(rest & 127n) | 128);
  }
  return Buffer.from([...bytes, Number(rest)]);
}
const whole = (field, number) => Buffer.concat([varint(field << 3), varint(number)]);
const bytes = (field, content) => {
  const buffer = Buffer.from(content);
  return Buffer.concat([varint((field << 3) | 2), varint(buffer.length), buffer]);
};
const message = (field, ...parts) => bytes(field, Buffer.concat(parts));
const real = (field, number) => {
  const four = Buffer.alloc(4);
  four.writeFloatLE(number);
  return Buffer.concat([varint((field << 3) | 5), four]);
};

function attribute(name, value) {
  const parts = [bytes(1, name)];
  if (Array.isArray(value)) {
    parts.push(...value.map((one) => whole(8, one)), whole(20, 7));
  } else if (typeof value === 'string') {
    parts.push(bytes(4, value), whole(20, 3));
  } else if (value instanceof Constant) {
    parts.push(bytes(5, value.encoded('')), whole(20, 4));
  } else if (value instanceof Real) {
    parts.push(real(2, value.number), whole(20, 1));
  } else {
    parts.push(whole(3, value), whole(20, 2));
  }
  return message(5, ...parts);
}

class Real {
  constructor(number) {
    this.number = number;
  }
}

/** A tensor of the model. */
class Constant {
  constructor(type, dims, data) {
    Object.assign(this, { type, dims, data });
  }
  encoded(name) {
    const raw = Buffer.from(this.data.buffer, this.data.byteOffset, this.data.byteLength);
    const dims = this.dims.map((size) => whole(1, size));
    return Buffer.concat([...dims, whole(2, this.type), bytes(8, name), bytes(9, raw)]);
  }
}

/** What is fed to the model. */
class Input extends Constant {}

const described = (field, name, type, dims) =>
  message(field, bytes(1, name), message(2, message(1, whole(1, type),
    ...(dims ? [message(2, ...dims.map((size) => message(1, whole(1, size))))] : []))));

function model({ operator, opset = 17, inputs, attributes = {}, outputs }) {
  const named = inputs.map((input, i) => (input === null ? '' : `i${i}`));
  const node = message(1, ...named.map((name) => bytes(1, name)), ...outputs.map((_, i) => bytes(2, `o${i}`)),
    bytes(4, operator), ...Object.entries(attributes).map(([name, value]) => attribute(name, value)));
  const graph = [node, bytes(2, 'g')];
  inputs.forEach((input, i) => {
    if (input instanceof Input) {
      graph.push(described(11, `i${i}`, input.type, input.dims));
    } else if (input !== null) {
      graph.push(bytes(5, input.encoded(`i${i}`)));
    }
  });
  outputs.forEach((type, i) => graph.push(described(12, `o${i}`, type, null)));
  return Buffer.concat([whole(1, 8), message(8, bytes(1, ''), whole(2, opset)), message(7, ...graph)]);
}

// ---- numbers -------------------------------------------------------------------------------------------------------

let state = 1;
/** From 0 on, and below 1. */
function random() {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) / 2 ** 32;
}

const count = (dims) => dims.reduce((product, size) => product * size, 1);
function filled(Kind, type, dims, next) {
  const data = new arrays[type](count(dims));
  for (let i = 0; i < data.length; ++i) {
    data[i] = next(i);
  }
  return new Kind(type, dims, data);
}
const reals = (...dims) => filled(Input, FLOAT, dims, () => 2 * random() - 1);
/** Of a normal distribution, nearly: sums of twelve. */
const normals = (...dims) => filled(Input, FLOAT, dims, () => {
  let sum = -6;
  for (let i = 0; i < 12; ++i) {
    sum += random();
  }
  return sum;
});
const integers = (type, low, high, ...dims) =>
  filled(Input, type, dims, () => {
    const number = low + Math.floor(random() * (high - low + 1));
    return type === INT64 ? BigInt(number) : number;
  });
const fixed = (input) => new Constant(input.type, input.dims, input.data);
const list = (...numbers) => new Constant(INT64, [numbers.length], BigInt64Array.from(numbers.map(BigInt)));
const alike = (number, ...dims) => filled(Constant, FLOAT, dims, () => number);

// ---- the cases -----------------------------------------------------------------------------------------------------

const cases = [];
function add(name, operator, inputs, attributes = {}, outputs = [FLOAT], opset = 17) {
  cases.push({ name, operator, inputs, attributes, outputs, opset });
}

function movement() {
  add('slice', 'Slice', () => [reals(1, 1, 4096, 2048), list(0, 0), list(4096, 2048), list(2, 3), list(2, 2)]);
  for (const axis of [2, 3]) {
    const half = axis === 2 ? [1, 1, 1024, 2048] : [1, 1, 2048, 1024];
    add(`split[axis=${axis - 2}]`, 'Split', () => [reals(1, 1, 2048, 2048), list(...Array(2).fill(1024))], { axis },
      [FLOAT, FLOAT]);
    add(`join[axis=${axis - 2}]`, 'Concat', () => [reals(...half), reals(...half)], { axis });
    add(`scatter[axis=${axis - 2}]`, 'ScatterElements',
      () => [reals(1, 1, 2048, 2048), integers(INT64, 0, 2047, ...half), reals(...half)], { axis });
    add(`gather-elements[axis=${axis}]`, 'GatherElements',
      () => [reals(1, 1, 2048, 2048), integers(INT64, 0, 2047, 1, 1, 2048, 2048)], { axis });
  }
  for (const mode of ['constant', 'reflect']) {
    add(`padding[mode=${mode === 'reflect' ? 'REFLECTION' : 'CONSTANT'}]`, 'Pad',
      () => [reals(8, 64, 64, 64), list(0, 0, 1, 1, 0, 0, 1, 1)], { mode });
  }
  add('tile', 'Tile', () => [reals(1, 1, 1024, 1024), list(1, 1, 2, 2)]);
  add('gather[c=0]', 'Gather', () => [reals(1, 1, 8192, 512), integers(INT64, 0, 511, 4096)], { axis: 2 });
  add('gather[c=1]', 'Gather', () => [reals(1, 1, 8192, 512), integers(INT64, 0, 511, 256)], { axis: 3 });
  add('gather-nd', 'GatherND', () => [reals(2048, 2048), integers(INT64, 0, 2047, 1 << 20, 2)]);
  add('scatter-nd-rows', 'ScatterND',
    () => [reals(8192, 512), integers(INT64, 0, 8191, 4096, 1), reals(4096, 512)]);
  add('scatter-nd-elements', 'ScatterND',
    () => [reals(2048, 2048), integers(INT64, 0, 2047, 1 << 20, 2), reals(1 << 20)]);
  add('space-to-depth', 'SpaceToDepth', () => [reals(1, 64, 256, 256)], { blocksize: 2 });
  add('depth-to-space', 'DepthToSpace', () => [reals(1, 256, 128, 128)], { blocksize: 2, mode: 'DCR' });
  add('transpose-matrix', 'Transpose', () => [reals(2048, 2048)], { perm: [1, 0] });
  add('transpose-channels-last', 'Transpose', () => [reals(4, 64, 112, 112)], { perm: [0, 2, 3, 1] });
  add('one-hot', 'OneHot', () => [integers(INT64, 0, 511, 8192), list(512),
    new Constant(FLOAT, [2], Float32Array.of(0, 1))], { axis: 1 });
  for (const mode of ['nearest', 'linear']) {
    add(`upsample[mode=${mode === 'nearest' ? 'NEAREST_NEIGHBOR' : 'LINEAR'}]`, 'Resize',
      () => [reals(1, 64, 128, 128), null, new Constant(FLOAT, [4], Float32Array.of(1, 1, 2, 2))],
      mode === 'nearest' ? { mode, coordinate_transformation_mode: 'asymmetric', nearest_mode: 'floor' } : { mode });
  }
  add('reverse-subsequences', 'ReverseSequence',
    () => [reals(64, 256, 256), integers(INT64, 1, 256, 64)], { batch_axis: 0, time_axis: 1 });
}

function reductions() {
  [[2], [3], [2, 3]].forEach((axes, c) => {
    add(`reduce[f=SUM,c=${c}]`, 'ReduceSum', () => [reals(1, 1, 2048, 2048), list(...axes)]);
    add(`reduce[f=MAX,c=${c}]`, 'ReduceMax', () => [reals(1, 1, 2048, 2048)], { axes });
  });
  for (const axis of [2, 3]) {
    add(`argmax[c=${axis - 2}]`, 'ArgMax', () => [reals(1, 1, 2048, 2048)], { axis }, [INT64]);
    add(`cumulative-sum[axis=${axis}]`, 'CumSum',
      () => [reals(1, 1, 2048, 2048), new Constant(INT64, [], BigInt64Array.of(BigInt(axis)))]);
  }
  add('top-k', 'TopK', () => [reals(1, 1, 4096, 1024), list(10)], { axis: 3 }, [FLOAT, INT64]);
  add('nonzero', 'NonZero', () => [integers(INT32, 0, 1, 2048, 2048)], {}, [INT64]);
  add('dynamic-quantize', 'DynamicQuantizeLinear', () => [reals(1, 1, 2048, 2048)], {}, [UINT8, FLOAT, UINT8]);
}

function normalisations() {
  add('lp-normalization', 'LpNormalization', () => [reals(1, 1, 4096, 1024)], { axis: 3, p: 2 });
  add('instance-normalization', 'InstanceNormalization',
    () => [reals(4, 64, 112, 112), alike(1.5, 64), alike(0.5, 64)], { epsilon: new Real(1e-5) });
  add('batch-normalization', 'BatchNormalization',
    () => [reals(4, 64, 112, 112), alike(1.5, 64), alike(0.5, 64), alike(0.25, 64), alike(0.5, 64)],
    { epsilon: new Real(1e-5) });
  for (const axis of [2, 3]) {
    add(`softmax[axis=${axis}]`, 'Softmax', () => [reals(1, 1, 4096, 1024)], { axis });
  }
  add('log-softmax', 'LogSoftmax', () => [reals(1, 1, 4096, 1024)], { axis: 3 });
  add('hardmax', 'Hardmax', () => [reals(1, 1, 4096, 1024)], { axis: 3 });
}

/** Of a convolution. */
const layers = [
  { input: [1, 64, 56, 56], filter: [64, 64, 3, 3], stride: 1, padding: 1, group: 1 },
  { input: [1, 256, 56, 56], filter: [64, 256, 1, 1], stride: 1, padding: 0, group: 1 },
  { input: [1, 96, 112, 112], filter: [96, 1, 3, 3], stride: 1, padding: 1, group: 96 },
  { input: [1, 3, 224, 224], filter: [64, 3, 7, 7], stride: 2, padding: 3, group: 1 },
  { input: [8, 512, 7, 7], filter: [512, 512, 3, 3], stride: 1, padding: 1, group: 1 },
];

function products() {
  for (const n of [512, 1024]) {
    add(`gemm[n=${n}]`, 'MatMul', () => [reals(n, n), reals(n, n)]);
  }
  layers.forEach(({ input, filter, stride, padding, group }, c) => {
    const attributes = { strides: [stride, stride], pads: Array(4).fill(padding), group };
    add(`convolution[c=${c}]`, 'Conv', () => [reals(...input), fixed(reals(...filter))], attributes);
    add(`convolution-integer[c=${c}]`, 'ConvInteger', () => [integers(UINT8, 0, 255, ...input),
      fixed(integers(INT8, -128, 127, ...filter)), new Constant(UINT8, [], Uint8Array.of(128))], attributes, [INT32]);
  });
}

/** SLICE1, MEAN_VARIANCE_NORMALIZATION1, TOP_K1 and QUANTIZED_LINEAR_CONVOLUTION. */
function first_operators() {
  add('slice1', 'Slice', () => [reals(8, 64, 128, 128), list(1, 1), list(127, 127), list(2, 3)]);
  const picture = [8, 64, 112, 112];
  // ONNX's operator has neither scale nor bias.
  add('mvn1[c=0]', 'MeanVarianceNormalization', () => [reals(...picture)], { axes: [0, 2, 3] });
  add('mvn1[c=1]', 'InstanceNormalization', () => [reals(...picture), alike(1.5, 64), alike(0.5, 64)],
    { epsilon: new Real(1e-5) });
  add('mvn1[c=2]', 'LayerNormalization', () => [reals(4096, 768), alike(1.5, 768), alike(0.5, 768)],
    { axis: -1, epsilon: new Real(1e-5) });
  [
    { sizes: [4096, 1024], axis: 1, k: 10 },
    { sizes: [64, 65536], axis: 1, k: 100 },
    { sizes: [8, 256, 1024], axis: 1, k: 5 },
    { sizes: [1024, 1024], axis: 1, k: 512 },
  ].forEach(({ sizes, axis, k }, c) => {
    add(`top-k1[c=${c}]`, 'TopK', () => [normals(...sizes), list(k)], { axis }, [FLOAT, INT64]);
  });
  layers.forEach(({ input, filter, stride, padding, group }, c) => {
    const scalar = (type, number) => new Constant(type, [], arrays[type].of(number));
    add(`quantized-convolution[c=${c}]`, 'QLinearConv', () => [
      integers(UINT8, 0, 255, ...input), scalar(FLOAT, 0.02), scalar(UINT8, 128),
      fixed(integers(INT8, -128, 127, ...filter)), alike(0.01, filter[0]), filled(Constant, INT8, [filter[0]], () => 0),
      scalar(FLOAT, 0.5), scalar(UINT8, 128), fixed(integers(INT32, -1000, 1000, filter[0])),
    ], { strides: [stride, stride], pads: Array(4).fill(padding), group }, [UINT8]);
  });
}

// ---- the clock -----------------------------------------------------------------------------------------------------

/** Executes the model for a second, and five times at least. Returns what its profiler says of each execution. */
async function executions(one) {
  const inputs = one.inputs();
  const session = await InferenceSession.create(model({ ...one, inputs }), {
    intraOpNumThreads: 1, interOpNumThreads: 1, executionMode: 'sequential', graphOptimizationLevel: 'all',
    executionProviders: ['cpu'], enableProfiling: true, profileFilePrefix: 'times',
  });
  const fed = {};
  inputs.forEach((input, i) => {
    if (input instanceof Input) {
      fed[`i${i}`] = new Tensor(names[input.type], input.data, input.dims);
    }
  });
  const start = performance.now();
  for (let times = 0; times < 5 || performance.now() - start < 1000; ++times) {
    await session.run(fed);
  }
  session.endProfiling();
  await session.release();
  const [file] = readdirSync('.');
  const events = JSON.parse(readFileSync(file, 'utf8'));
  unlinkSync(file);
  return events.filter((event) => event.name === 'model_run').map((event) => event.dur / 1000);
}

movement();
reductions();
normalisations();
products();
first_operators();
const wanted = new RegExp(process.argv[2] ?? '');
const folder = mkdtempSync(join(tmpdir(), 'onnxruntime-times-'));
process.chdir(folder);
for (const one of cases.filter(({ name }) => wanted.test(name))) {
  console.log(`${one.name}: ${Math.min(...(await executions(one))).toPrecision(4)} ms`);
}
rmdirSync(folder);
