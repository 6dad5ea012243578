// Run the model of this folder on the recorded inputs in onnxruntime-web, in Node.js: node run.mjs [--out DIR]
// Exit codes: 0 done, 2 the command is wrong, 3 the runtime is not there, 4 it refuses the model.
// The exporter itself also calls `run.mjs version`, and `run.mjs convert MODEL.onnx INTO`.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { about, answered, opened } from "./engine.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const words = process.argv.slice(2);
const option = (name, otherwise) => (words.includes(name) ? words[words.indexOf(name) + 1] : otherwise);

function fail(code, message) {
  process.stderr.write(`\n${String(message).split(/\s+/).join(" ").slice(0, 600)}\n`);
  process.exit(code);
}
const say = (content) => process.stdout.write(`\n${JSON.stringify(content)}\n`);

let ort;
try {
  ort = await import(pathToFileURL(path.join(here, "runtime", "ort.wasm.min.mjs")));
} catch (error) {
  fail(3, `cannot be imported: ${error.message}`);
}
const version = (ort.env ?? ort.default.env).versions.web ?? ort.env.versions.common;

async function convert(model, into) {
  const target = path.join(into, "model.onnx");
  fs.copyFileSync(model, target);
  await opened(ort, new Uint8Array(fs.readFileSync(target)));
  say({ main: "model.onnx" });
}

async function answer() {
  const home = option("--kit", here), layers = words.includes("--layers");
  const kit = JSON.parse(fs.readFileSync(path.join(home, "kit.json"), "utf8")), part = layers ? kit.layers : kit;
  const out = path.join(option("--out", path.join(here, "answers")), layers ? "layers" : "");
  fs.mkdirSync(out, { recursive: true });
  const read = (name) => new Uint8Array(fs.readFileSync(path.join(home, name)));
  const session = await opened(ort, read(part.model));
  for (const kase of part.cases) {
    const outputs = await answered(ort, session, part, kase, read);
    outputs.forEach((bytes, place) => fs.writeFileSync(path.join(out, `${kase.number}.${place}.bin`), bytes));
  }
  if (!layers) {
    const told = about(kit, version, `${os.arch()}, Node.js ${process.version}`, os.userInfo().username);
    fs.writeFileSync(path.join(out, "answers.json"), `${JSON.stringify(told, null, 2)}\n`);
  }
}

try {
  if (words[0] === "version") say({ version });
  else if (words[0] === "convert" && words.length === 3) await convert(words[1], words[2]);
  else if (!words.length || words[0].startsWith("--")) await answer();
  else fail(2, "usage: node run.mjs [--out DIR]");
} catch (error) {
  fail(4, error.message ?? error);
}
process.exit(0);
