// Run ONNX graphs of raw values in a JavaScript runtime: node this.mjs ROWS.json MODEL.onnx ...
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
const ort = createRequire(`${process.env.NODE_FOLDER}/`)("onnxruntime-web");
ort.env.wasm.numThreads = 1;
const [rows, ...models] = process.argv.slice(2);
const columns = JSON.parse(readFileSync(rows, "utf8"));
const feeds = {};
for (const [name, { type, values }] of Object.entries(columns)) {
  const data = type === "string" ? values : Float64Array.from(values, (x) => x ?? NaN);
  feeds[name] = new ort.Tensor(type, data, [values.length]);
}
for (const model of models) {
  const session = await ort.InferenceSession.create(readFileSync(model));
  const said = await session.run(feeds);
  console.log(JSON.stringify({ label: said.label.data, p: Array.from(said.probabilities.data) }));
}
