// Run recorded cases in onnxruntime-web; the same lines run in Node.js and in a browser.
const kinds = { float32: Float32Array, float64: Float64Array, int64: BigInt64Array, int32: Int32Array,
  int16: Int16Array, int8: Int8Array, uint8: Uint8Array, bool: Uint8Array,
  float16: globalThis.Float16Array ?? Uint16Array };

/** A session of a model's bytes in one thread; `provider` is wasm, or webgpu where the runtime has it. */
export async function opened(ort, model, provider = "wasm") {
  ort.env.wasm.numThreads = 1;
  return ort.InferenceSession.create(model, { executionProviders: [provider] });
}

/** The bytes of every output of one case, by the number of the output; `read` gives the bytes of a file. */
export async function answered(ort, session, part, kase, read) {
  const fed = {};
  for (const { native, dtype, shape, bin } of kase.inputs) {
    const bytes = await read(bin);
    fed[native] = new ort.Tensor(dtype, new kinds[dtype](bytes.slice().buffer), shape);
  }
  const values = await session.run(fed);
  return part.outputs.map(({ native }) => {
    const { data } = values[native];
    return new Uint8Array(data.buffer, data.byteOffset, data.byteLength).slice();
  });
}

/** What answers.json says. */
export function about(kit, version, device, who) {
  return { engine: kit.runtime.name, version, device, who, when: new Date().toISOString(),
    precision: kit.runtime.precision, inputs: kit.inputs.map((tensor) => tensor.name), bundle: kit.bundle.digest };
}

/**
 * How far an output is from the float64 truth, as exporter/base/numbers/rule.py measures it: the relative error in the
 * largest value and in the mean square, in units of what eager float32 errs. Of whole numbers it counts those that differ.
 */
export function compared(bytes, dtype, due) {
  const got = numbers(bytes, dtype);
  if (got.length !== due.truth.length) return { ratio: NaN, differ: due.truth.length };
  let differ = 0, most = 0, squares = 0, largest = 0, power = 0;
  for (let at = 0; at < got.length; at += 1) {
    const truth = due.truth[at], off = Math.abs(Number(got[at]) - truth);
    if (!(off === 0)) differ += 1;
    most = Number.isNaN(off) ? NaN : Math.max(most, off);
    squares += off * off;
    largest = Math.max(largest, Math.abs(truth));
    power += truth * truth;
  }
  if (due.exact) return { ratio: 0, differ };
  const over = (part, whole) => (part === 0 ? 0 : part / whole);
  const ratio = Math.max(over(most, largest) / due.unit[0], over(Math.sqrt(squares), Math.sqrt(power)) / due.unit[1]);
  return { ratio, differ, decibel: 10 * Math.log10(over(power, squares)) };
}

function numbers(bytes, dtype) {
  const kind = kinds[dtype];
  if (dtype === "float16" && kind === Uint16Array) return Float64Array.from(new kind(bytes.buffer), widened);
  return new kind(bytes.buffer);
}

function widened(half) {
  const sign = half & 0x8000 ? -1 : 1, power = (half >> 10) & 31, rest = half & 1023;
  if (power === 31) return rest ? NaN : sign * Infinity;
  return power ? sign * 2 ** (power - 15) * (1 + rest / 1024) : sign * 2 ** -24 * rest;
}
