// workbench-reference.js - the API routes in /openapi.json, with a form to try each route.
import { callAsWritten, sender } from "../request-form.js";
import { bodyForm } from "../body-form.js";
import { fill, h } from "../dom.js";
import { small } from "../forms.js";
import { t } from "../translate.js";

const METHODS = ["get", "post", "put", "patch", "delete"];
const MOST = 60;

export async function reference(app, body) {
  const doc = await fetch("/openapi.json").then((a) => a.json());
  const all = Object.entries(doc.paths).flatMap(([path, ops]) =>
    METHODS.filter((m) => ops[m]).map((m) => ({ path, method: m.toUpperCase(), ...ops[m] })),
  );
  const list = h("div"),
    count = h("span.faint", { role: "status" });
  const draw = (words) => {
    const found = all.filter((o) =>
      `${o.method} ${o.path} ${o.operationId} ${o.summary || o.description || ""}`.toLowerCase().includes(words),
    );
    count.textContent = t("{n} route|{n} routes", { n: found.length });
    fill(
      list,
      found.slice(0, MOST).map((o) => operation(app, doc, o)),
      found.length > MOST && h("p.faint", null, t("Type more letters to see more specific results.")),
    );
  };
  fill(
    body,
    h(
      "div.bench-tools",
      null,
      h("input", {
        type: "search",
        placeholder: t("Search routes"),
        "aria-label": t("Search routes"),
        oninput: (e) => draw(e.target.value.toLowerCase()),
      }),
      count,
    ),
    h("div.bench-scroll", { tabindex: 0, role: "region", "aria-label": t("Routes") }, list),
  );
  draw("");
}

function operation(app, doc, o) {
  const el = h(
    "details.operation",
    null,
    h(
      "summary",
      null,
      h("span.method", null, o.method),
      h("code", null, o.path),
      h("span.faint", null, o.summary || o.description || ""),
    ),
  );
  el.addEventListener("toggle", () => {
    if (el.open && el.children.length === 1) el.append(tryForm(app, doc, o));
  });
  return el;
}

function tryForm(app, doc, o) {
  const inputs = (o.parameters || [])
    .filter((p) => p.in === "path" || p.in === "query")
    .map((p) => ({
      p,
      input: h("input", {
        "aria-label": p.name,
        placeholder: `${p.name}${p.required ? "" : "?"}`,
        title: p.description || "",
      }),
    }));
  const schema = o.requestBody?.content?.["application/json"]?.schema,
    answer = h("pre.json", { hidden: true, tabindex: 0, role: "status", "aria-label": t("Response") });
  const form = schema && bodyForm(doc, schema),
    as = sender(app);
  async function send() {
    let path = o.path,
      body;
    const query = new URLSearchParams();
    for (const { p, input } of inputs) {
      if (p.in === "path") path = path.replace(`{${p.name}}`, encodeURIComponent(input.value));
      else if (input.value) query.set(p.name, input.value);
    }
    try {
      body = form?.text();
    } catch {
      return; // the field already shows the error
    }
    const url = path + (String(query) ? `?${query}` : ""),
      token = await as.chosen();
    answer.hidden = false;
    answer.textContent = await callAsWritten({ method: o.method, path: url, token, body });
  }
  return h(
    "div",
    null,
    o.description && h("p", null, o.description),
    inputs.length > 0 &&
      h(
        "div.inline-form",
        null,
        inputs.map((x) => x.input),
      ),
    form?.el,
    h("div.inline-form", null, as.el, small(t("Send"), send, "primary")),
    answer,
  );
}
