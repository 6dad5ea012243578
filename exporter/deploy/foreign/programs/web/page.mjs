// The page checks itself: it runs every recorded case in this browser, shows what differs, and saves the answers.
import { about, answered, compared, opened } from "./engine.mjs";

const query = new URLSearchParams(location.search);
const show = (id, text) => { document.getElementById(id).textContent = text; };
const fetched = async (name) => {
  const answer = await fetch(name);
  if (!answer.ok) throw new Error(`${name}: ${answer.status} ${answer.statusText}`);
  return new Uint8Array(await answer.arrayBuffer());
};
const read = (name) => fetched(new URL(name, location.href));

/** A tar as `exporter pack` writes it: names in order, no times and no owners. */
function packed(files) {
  const encoder = new TextEncoder(), parts = [];
  for (const name of Object.keys(files).sort()) {
    const header = new Uint8Array(512), size = files[name].length;
    const put = (text, at) => header.set(encoder.encode(text), at);
    put(name, 0); put("0000644\0", 100); put("0000000\0", 108); put("0000000\0", 116);
    put(`${size.toString(8).padStart(11, "0")}\0`, 124); put("00000000000\0", 136); put("        ", 148); put("0", 156);
    put("ustar\x0000", 257);
    const sum = header.reduce((total, byte) => total + byte, 0);
    put(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
    parts.push(header, files[name], new Uint8Array((512 - (size % 512)) % 512));
  }
  return new Blob([...parts, new Uint8Array(1024)], { type: "application/x-tar" });
}

function row(kase, output, found, budget, lower) {
  const right = lower ? "" : found.ratio <= budget && !(found.exact && found.differ) ? "as recorded" : "DIFFERS";
  const far = found.exact ? `${found.differ} differ` : lower ? `${found.decibel.toFixed(1)} dB` : found.ratio.toPrecision(3);
  const line = document.getElementById("cases").insertRow();
  for (const text of [kase.name, output.name, far, right]) line.insertCell().textContent = text;
  line.className = right === "DIFFERS" ? "differs" : "";
  return right === "DIFFERS";
}

async function check() {
  if (location.protocol === "file:") throw new Error("serve this folder: python -m http.server, then http://localhost:8000");
  const ort = await import(new URL(query.get("runtime") ?? "runtime/ort.wasm.min.mjs", location.href));
  const kit = JSON.parse(new TextDecoder().decode(await read("kit.json")));
  const provider = query.get("provider") ?? "wasm", lower = kit.runtime.precision !== "fp32", files = {};
  show("name", `${kit.bundle.name} ${kit.bundle.version}: the recorded cases in this browser`);
  const session = await opened(ort, await read(kit.model), provider);
  let wrong = 0, worst = 0, done = 0;
  for (const kase of kit.cases) {
    show("state", `case ${(done += 1)} of ${kit.cases.length}`);
    const outputs = await answered(ort, session, kit, kase, read);
    for (const [place, bytes] of outputs.entries()) {
      files[`${kase.number}.${place}.bin`] = bytes;
      const due = kit.expected.find((one) => one.case === kase.number && one.output === place);
      if (!due) continue;
      const truth = new Float64Array((await read(due.bin)).buffer);
      const found = { ...compared(bytes, kit.outputs[place].dtype, { ...due, truth }), exact: due.exact };
      worst = Math.max(worst, found.ratio);
      wrong += row(kase, kit.outputs[place], found, kit.budget, lower);
    }
  }
  const version = ort.env.versions.web ?? ort.env.versions.common;
  const told = about(kit, version, `${provider}, ${navigator.userAgent}`.slice(0, 200), query.get("who") ?? "a visitor");
  files["answers.json"] = new TextEncoder().encode(`${JSON.stringify(told, null, 2)}\n`);
  const save = document.getElementById("save");
  save.href = URL.createObjectURL(packed(files));
  save.hidden = false;
  const verdict = lower ? "computed: exporter verify weighs it by its budget"
    : wrong ? `${wrong} outputs DIFFER from what was recorded`
    : `all as recorded: the largest error ratio is ${worst.toPrecision(3)} of ${kit.budget}`;
  show("state", `${kit.cases.length} cases, ${verdict}`);
  document.body.dataset.state = wrong ? "differs" : "done";
}

check().catch((error) => {
  show("state", `could not be checked: ${error.message ?? error}`);
  document.body.dataset.state = "failed";
});
