#!/usr/bin/env node
/* ONNX Runtime as an engine of dmlconform, in JavaScript. See docs/onnxruntime.md and docs/worker-protocol.md.

     npm install --ignore-scripts onnxruntime-node
     dmlconform run cases --engine 'exec:node docs/examples/onnxruntime_worker.mjs --provider dml'

   --provider NAME       the execution provider: cpu (the default), dml on Windows, cuda, webgpu …
   --optimisation LEVEL  disabled, basic, extended or all (the default)
   --threads N           how many threads one operator may take; 0, the default, leaves it to ONNX Runtime
   NODE_PATH             names the folder node_modules if it is not in a folder above this file or the current one */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const load = createRequire(import.meta.url), here = createRequire(join(process.cwd(), 'worker.js'));
const found = [load, here].find((from) => { try { return from.resolve('onnxruntime-node'); } catch { return false; } });
if (!found) {
  console.error('onnxruntime-node is not installed: npm install --ignore-scripts onnxruntime-node');
  process.exit(1);
}
const { InferenceSession, Tensor, env } = found('onnxruntime-node');
const { values: options } = parseArgs({ options: {
  provider: { type: 'string', default: 'cpu' }, optimisation: { type: 'string', default: 'all' },
  threads: { type: 'string', default: '0' } } });
const types = { FLOAT32: ['float32', Float32Array], FLOAT64: ['float64', Float64Array],
  FLOAT16: ['float16', globalThis.Float16Array ?? Uint16Array], INT8: ['int8', Int8Array], UINT8: ['uint8', Uint8Array],
  INT16: ['int16', Int16Array], UINT16: ['uint16', Uint16Array], INT32: ['int32', Int32Array],
  UINT32: ['uint32', Uint32Array], INT64: ['int64', BigInt64Array], UINT64: ['uint64', BigUint64Array] };

function head(kind, number) { // CBOR: the kind of a value, and its length
  const bytes = Buffer.alloc(9);
  bytes[0] = kind << 5 | 27;
  bytes.writeBigUInt64BE(BigInt(number), 1);
  return bytes;
}
function encode(value) {
  if (typeof value === 'boolean') return Buffer.from([value ? 0xf5 : 0xf4]);
  if (typeof value === 'number' || typeof value === 'bigint') return head(0, value);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Array.isArray(value)) return Buffer.concat([head(4, value.length), ...value.map(encode)]);
  return Buffer.concat([head(5, Object.keys(value).length), ...Object.entries(value).flat().map(encode)]);
}
function decode(data, at = { now: 0 }) {
  const kind = data[at.now] >> 5, low = data[at.now++] & 31, size = low < 24 ? 0 : 1 << (low - 24);
  const number = low < 24 ? low : size < 8 ? data.readUIntBE(at.now, size) : Number(data.readBigUInt64BE(at.now));
  at.now += size;
  if (kind === 2 || kind === 3) {
    const bytes = data.subarray(at.now, at.now += number);
    return kind === 2 ? bytes : bytes.toString();
  }
  if (kind === 4) return Array.from({ length: number }, () => decode(data, at));
  if (kind === 5) return Object.fromEntries(Array.from({ length: number }, () => [decode(data, at), decode(data, at)]));
  return kind === 0 ? number : kind === 1 ? -1 - number : { 20: false, 21: true }[low] ?? null;
}

const programs = new Map();
async function answer({ request, id, executable, model, inputs, outputs }) {
  const program = programs.get(executable);
  if (request === 'info') {
    return { protocol: 1, wants: 'onnx', opset: 17, featureLevel: '6.4', name: `onnxruntime-${options.provider}`,
      adapter: `${options.provider}, optimisation: ${options.optimisation}`,
      libraries: [['onnxruntime', env.versions.node]] };
  } else if (request === 'compileModel') {
    const session = await InferenceSession.create(model, { executionProviders: [options.provider],
      graphOptimizationLevel: options.optimisation, logSeverityLevel: 4,
      intraOpNumThreads: Number(options.threads) })
      .catch((problem) => ({ unsupported: problem.message }));
    if (/NOT_IMPLEMENTED|Could not find an implementation|Failed to find kernel/.test(session.unsupported)) return session; // skipped
    if (session.unsupported) return { error: { message: session.unsupported } };
    programs.set(id, { session, inputs, outputs });
    return { accepted: true };
  } else if (request === 'bind') {
    program.feeds = Object.fromEntries(program.inputs.map(({ name, type, sizes }, i) =>
      [name, new Tensor(types[type][0], new types[type][1](new Uint8Array(inputs[i]).buffer), sizes)]));
  } else if (request === 'execute') {
    const start = process.hrtime.bigint();
    program.results = await program.session.run(program.feeds);
    return { nanoseconds: process.hrtime.bigint() - start };
  } else if (request === 'read') {
    return { outputs: program.outputs.map(({ name, type, sizes }) => {
      const { data, dims, type: got } = program.results[name];
      if (got !== types[type][0] || `${dims}` !== `${sizes}`) {
        throw new Error(`${name} is ${got} [${dims}], not ${types[type][0]} [${sizes}]`);
      }
      return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    }) };
  } else if (request === 'release') {
    await program.session.release();
    programs.delete(executable);
  } else {
    return { error: { message: `there is no request ${request}` } };
  }
  return {};
}

let waiting = Buffer.alloc(0);
for await (const chunk of process.stdin) {
  waiting = Buffer.concat([waiting, chunk]);
  while (waiting.length >= 8 && waiting.length >= 8 + waiting.readUInt32LE(4)) {
    const end = 8 + waiting.readUInt32LE(4), request = decode(waiting.subarray(8, end));
    waiting = waiting.subarray(end);
    const reply = await answer(request).catch((problem) => ({ error: { message: problem.message } }));
    const message = encode({ ...reply, id: request.id }), header = Buffer.from('dmlw\0\0\0\0');
    header.writeUInt32LE(message.length, 4);
    process.stdout.write(Buffer.concat([header, message]));
  }
}
