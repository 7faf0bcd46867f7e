// body-form.js - a form for a request body, generated from its OpenAPI schema.
import { fill, h } from "./dom.js";
import { small } from "./forms.js";
import { t } from "./translate.js";

/** Returns the schema to which `$ref` refers, or the schema itself if it has no `$ref`. */
export function resolved(doc, schema) {
  return schema?.$ref
    ? schema.$ref
        .split("/")
        .slice(1)
        .reduce((n, k) => n?.[k], doc)
    : schema;
}

const typeOf = (schema) => (Array.isArray(schema?.type) ? schema.type.find((x) => x !== "null") : schema?.type);

/** Returns an example value that fits the schema. */
export function sample(doc, schema, depth = 0) {
  const s = resolved(doc, schema);
  if (!s || depth > 4) return null;
  if (s.anyOf) return sample(doc, s.anyOf[0], depth + 1);
  if (typeOf(s) === "object")
    return Object.fromEntries(
      Object.entries(s.properties || {})
        .filter(([k]) => (s.required || []).includes(k))
        .map(([k, v]) => [k, sample(doc, v, depth + 1)]),
    );
  return { string: "", integer: s.minimum ?? 0, number: 0, boolean: false, array: [] }[typeOf(s)] ?? null;
}

/** Returns the input element for a property of a schema, and the function that parses its text. */
function controlOf(schema) {
  const type = typeOf(schema),
    choices = schema?.enum || (type === "boolean" ? [true, false] : null);
  if (choices)
    return {
      control: h(
        "select",
        null,
        h("option", { value: "" }, ""),
        choices.map((c) => h("option", { value: JSON.stringify(c) }, String(c))),
      ),
      read: JSON.parse,
    };
  if (type === "string")
    return { control: h("input", { type: "text", autocomplete: "off", maxlength: schema.maxLength }), read: String };
  if (type === "integer" || type === "number")
    return { control: h("input", { type: "text", inputmode: "decimal", autocomplete: "off" }), read: JSON.parse };
  return {
    control: h("input.mono", { type: "text", autocomplete: "off", placeholder: type === "array" ? "[ … ]" : "{ … }" }),
    read: JSON.parse,
  };
}

function limits(s) {
  const has = (low, high) => low !== undefined || high !== undefined;
  return [
    has(s.minLength, s.maxLength) &&
      t("{low} to {high} characters", { low: s.minLength ?? 0, high: s.maxLength ?? t("any number of") }),
    has(s.minimum, s.maximum) && t("{low} to {high}", { low: s.minimum ?? 0, high: s.maximum ?? t("any number") }),
    s.format,
  ]
    .filter(Boolean)
    .join(", ");
}

let rowNumber = 0;

function propertyRow(doc, name, schema, required) {
  const s = resolved(doc, schema) || {},
    { control, read } = controlOf(s),
    id = `body-${++rowNumber}`;
  const error = h("span.field-error", { role: "alert", hidden: true });
  control.id = id;
  const el = h(
    "div.command-field",
    null,
    h("label", { for: id }, name, required && h("span.required", { "aria-hidden": "true" }, "*")),
    control,
    h("small.hint", null, [schema.description || s.description, limits(s)].filter(Boolean).join(" · ")),
    error,
  );
  const value = () => {
    error.hidden = true;
    if (control.value === "") return undefined;
    try {
      return read(control.value);
    } catch {
      error.hidden = false;
      error.textContent = t("This is not valid JSON");
      throw new Error(t("{name} is not valid JSON", { name }));
    }
  };
  return { el, name, value };
}

/**
 * Returns a form with one field per property of the body, or with one field for the whole body as JSON.
 * @returns {{el: HTMLElement, text: () => string}} text() throws if a field cannot be parsed
 */
export function bodyForm(doc, schema) {
  const s = resolved(doc, schema),
    container = h("div.stack"),
    json = h("textarea.mono", { rows: 6, "aria-label": t("Body") });
  json.value = JSON.stringify(sample(doc, schema), null, 2);
  if (typeOf(s) !== "object" || !s.properties) return { el: json, text: () => json.value };
  const rows = Object.entries(s.properties).map(([name, p]) =>
    propertyRow(doc, name, p, (s.required || []).includes(name)),
  );
  const gather = () => Object.fromEntries(rows.map((r) => [r.name, r.value()]).filter(([, v]) => v !== undefined));
  let whole = false;
  const draw = () =>
    fill(
      container,
      whole
        ? json
        : h(
            "div.command-fields",
            null,
            rows.map((r) => r.el),
          ),
      h("div", null, small(whole ? t("As fields") : t("As JSON"), turn)),
    );
  const turn = () => {
    try {
      if (!whole && Object.keys(gather()).length) json.value = JSON.stringify(gather(), null, 2);
    } catch {
      return; // the field already shows the error
    }
    whole = !whole;
    draw();
  };
  draw();
  return { el: container, text: () => (whole ? json.value : JSON.stringify(gather())) };
}
