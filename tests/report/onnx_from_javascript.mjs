// Run an ONNX graph of raw values in a JavaScript runtime: node this.mjs MODEL.onnx ROWS.json
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
const ort = createRequire(`${process.env.NODE_FOLDER}/`)("onnxruntime-web");
ort.env.wasm.numThreads = 1;
const [model, rows] = process.argv.slice(2);
const columns = JSON.parse(readFileSync(rows, "utf8"));
const session = await ort.InferenceSession.create(readFileSync(model));
const feeds = {};
for (const [name, { type, values }] of Object.entries(columns)) {
  const data = type === "string" ? values : Float64Array.from(values, (x) => x ?? NaN);
  feeds[name] = new ort.Tensor(type, data, [values.length]);
}
const said = await session.run(feeds);
console.log(JSON.stringify({ label: said.label.data, p: Array.from(said.probabilities.data) }));
