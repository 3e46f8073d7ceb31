// Ask a curator for noisy counts, with a client that was generated from its OpenAPI file.

import { randomUUID } from "node:crypto";
import createClient from "openapi-fetch";
import type { paths } from "./curator.js";

const { CURATOR = "http://127.0.0.1:8000", PRIVET_TOKEN = "" } = process.env;
const curator = createClient<paths>({
  baseUrl: CURATOR,
  headers: { Authorization: `Bearer ${PRIVET_TOKEN}` },
});

const [dataset = "nursery", by = "health", epsilon = "0.1"] = process.argv.slice(2);

// Whoever sends the same key and body again gets the same answer, and is charged once.
const question = {
  params: { path: { name: dataset }, header: { "idempotency-key": randomUUID() } },
  body: { epsilon, by: [by] },
};
let { data, error, response } = await curator.POST("/v1/datasets/{name}/count-by", question);
for (let attempt = 0; attempt < 5 && [429, 503].includes(response.status); attempt++) {
  const seconds = Number(response.headers.get("retry-after") ?? 1);
  await new Promise((resume) => setTimeout(resume, 1000 * seconds));
  ({ data, error, response } = await curator.POST("/v1/datasets/{name}/count-by", question));
}
if (error !== undefined || data === undefined) {
  console.error(error?.detail ?? response.statusText);
  process.exit(1);
}
console.log(JSON.stringify(data.answer));
console.log(data.receipt);
