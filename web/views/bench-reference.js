// bench-reference.js - every route of /openapi.json, to read and to try.
import { callAsWritten, sender } from "../again.js";
import { fill, h } from "../dom.js";
import { small } from "../forms.js";

const METHODS = ["get", "post", "put", "patch", "delete"];
const MOST = 60;

export async function reference(app, body) {
  const doc = await fetch("/openapi.json").then((a) => a.json());
  const all = Object.entries(doc.paths).flatMap(([path, ops]) => METHODS.filter((m) => ops[m]).map((m) => ({ path, method: m.toUpperCase(), ...ops[m] })));
  const list = h("div"), count = h("span.faint", { role: "status" });
  const draw = (words) => {
    const found = all.filter((o) => `${o.method} ${o.path} ${o.operationId} ${o.summary || o.description || ""}`.toLowerCase().includes(words));
    count.textContent = `${found.length} routes`;
    fill(list, found.slice(0, MOST).map((o) => operation(app, doc, o)), found.length > MOST && h("p.faint", null, "Write more letters to see the others."));
  };
  fill(body, h("div.bench-tools", null, h("input", { type: "search", placeholder: "Search routes", "aria-label": "Search routes", oninput: (e) => draw(e.target.value.toLowerCase()) }), count), h("div.bench-scroll", { tabindex: 0, role: "region", "aria-label": "Routes" }, list));
  draw("");
}

function operation(app, doc, o) {
  const el = h("details.operation", null, h("summary", null, h("span.method", null, o.method), h("code", null, o.path), h("span.faint", null, o.summary || o.description || "")));
  el.addEventListener("toggle", () => { if (el.open && el.children.length === 1) el.append(tryForm(app, doc, o)); });
  return el;
}

/** A value of a schema, to begin with. */
function sample(doc, schema, depth = 0) {
  if (!schema || depth > 4) return null;
  if (schema.$ref) return sample(doc, schema.$ref.split("/").slice(1).reduce((n, k) => n?.[k], doc), depth + 1);
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (schema.anyOf) return sample(doc, schema.anyOf[0], depth + 1);
  if (type === "object") return Object.fromEntries(Object.entries(schema.properties || {}).filter(([k]) => (schema.required || []).includes(k)).map(([k, v]) => [k, sample(doc, v, depth + 1)]));
  return { string: "", integer: schema.minimum ?? 0, number: 0, boolean: false, array: [] }[type] ?? null;
}

function tryForm(app, doc, o) {
  const inputs = (o.parameters || []).filter((p) => p.in === "path" || p.in === "query").map((p) => ({ p, input: h("input", { "aria-label": p.name, placeholder: `${p.name}${p.required ? "" : "?"}` }) }));
  const schema = o.requestBody?.content?.["application/json"]?.schema, answer = h("pre.json", { hidden: true, tabindex: 0 });
  const text = schema && h("textarea.mono", { rows: 5, "aria-label": "Body" });
  if (text) text.value = JSON.stringify(sample(doc, schema), null, 2);
  const as = sender(app);
  async function send() {
    let path = o.path;
    const query = new URLSearchParams();
    for (const { p, input } of inputs) {
      if (p.in === "path") path = path.replace(`{${p.name}}`, encodeURIComponent(input.value));
      else if (input.value) query.set(p.name, input.value);
    }
    const url = path + (String(query) ? `?${query}` : ""), token = await as.chosen();
    answer.hidden = false;
    answer.textContent = await callAsWritten({ method: o.method, path: url, token, body: text?.value });
  }
  return h("div", null, o.description && h("p", null, o.description), inputs.length > 0 && h("div.inline-form", null, inputs.map((x) => x.input)), text, h("div.inline-form", null, as.el, small("Send", send, "primary")), answer);
}
