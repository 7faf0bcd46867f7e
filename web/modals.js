// modals.js - modals of apps: text inputs, select menus, check boxes, radio buttons, files.
import { component, menuControl } from "./components.js";
import { dialog, field, h } from "./dom.js";
import { t } from "./translate.js";

const ROW = 1,
  INPUT = 4,
  TEXT_DISPLAY = 10,
  LABEL = 18,
  UPLOAD = 19,
  RADIOS = 21,
  BOXES = 22,
  BOX = 23;

/**
 * Shows a modal of an app. Resolves when the user has submitted or closed it.
 * @param {any} modal @param {any} context
 * @param {(components: any[], files: File[]) => Promise<void>} submit
 */
export function askModal(modal, context, submit) {
  return dialog(modal.title, (close) => {
    const entries = (modal.components || []).map((c) => modalPart(c, context)).filter(Boolean);
    const problem = h("p.field-error", { role: "alert", hidden: true });
    const save = h("button.button.primary", { type: "submit" }, t("Submit"));
    const form = h(
      "form",
      { novalidate: true },
      h("p.faint", null, modal.application?.name ? t("Form of the app {name}", { name: modal.application.name }) : ""),
      entries.map((e) => e.el),
      problem,
      h(
        "div.actions",
        null,
        h("button.button.secondary", { type: "button", onclick: () => close() }, t("Cancel")),
        save,
      ),
    );
    form.addEventListener("submit", async (e) => {
      e.preventDefault();
      if (!entries.map((x) => x.check()).every(Boolean)) return;
      save.disabled = true;
      try {
        const files = /** @type {File[]} */ ([]);
        await submit(entries.map((x) => x.value(files)).filter(Boolean), files);
        close(true);
      } catch (refusal) {
        problem.hidden = false;
        problem.textContent = refusal.words || refusal.message;
        save.disabled = false;
      }
    });
    return form;
  });
}

function modalPart(c, context) {
  if (c.type === ROW) {
    const inner = modalField(c.components[0], c.components[0].label, "", context);
    return { ...inner, value: (files) => ({ type: ROW, components: [inner.value(files)] }) };
  }
  if (c.type === LABEL) {
    const inner = modalField(c.component, c.label, c.description, context);
    return { ...inner, value: (files) => ({ type: LABEL, component: inner.value(files) }) };
  }
  if (c.type === TEXT_DISPLAY) return { el: component(c, context), check: () => true, value: () => null };
  return null;
}

function modalField(c, label, hint, context) {
  const make =
    { [INPUT]: inputField, [UPLOAD]: uploadField, [RADIOS]: choiceField, [BOXES]: choiceField, [BOX]: boxField }[
      c.type
    ] || menuField;
  return make(c, label || "", hint, context);
}

/** Returns an error text if n values are too few or too many for the component; otherwise "". */
function countProblem(c, n, most) {
  const least = c.min_values ?? 1;
  if (!n && c.required === false) return "";
  if (n < least) return least > 1 ? t("Choose at least {n}", { n: least }) : t("Please choose");
  return n > most ? t("Choose at most {n}", { n: most }) : "";
}

/** A field that is validated when the modal is submitted. */
function checkedField(el, problem, value) {
  const check = () => {
    const words = problem();
    el.problem(words);
    return !words;
  };
  return { el, check, value };
}

function menuField(c, label, hint, context) {
  const control = menuControl(c, context, () => {});
  return checkedField(
    field(label, control, hint),
    () => countProblem(c, control.values().length, c.max_values ?? 1),
    () => ({ type: c.type, custom_id: c.custom_id, values: control.values() }),
  );
}

function inputField(c, label, hint) {
  const control = h(c.style === 2 ? "textarea" : "input", {
    placeholder: c.placeholder,
    maxlength: c.max_length || 4000,
    required: c.required !== false,
    rows: c.style === 2 ? 4 : null,
  });
  control.value = c.value || "";
  const problem = () => {
    const n = [...control.value].length;
    return !n && c.required !== false
      ? t("Please fill this in")
      : n && n < (c.min_length || 0)
        ? t("At least {n} character|At least {n} characters", { n: c.min_length })
        : "";
  };
  return checkedField(field(label, control, hint), problem, () => ({
    type: INPUT,
    custom_id: c.custom_id,
    value: control.value,
  }));
}

/** A file field. Its values are indexes into the list of all files of the request. */
function uploadField(c, label, hint) {
  const most = c.max_values ?? 1,
    control = h("input", { type: "file", multiple: most > 1 });
  const value = (files) => ({
    type: UPLOAD,
    custom_id: c.custom_id,
    values: [...control.files].map((f) => String(files.push(f) - 1)),
  });
  return checkedField(field(label, control, hint), () => countProblem(c, control.files.length, most), value);
}

let groupNumber = 0;

/** A group of radio buttons or check boxes. */
function choiceField(c, label, hint) {
  const one = c.type === RADIOS,
    name = `choice-${++groupNumber}`,
    options = c.options || [];
  const controls = options.map((o) =>
    h("input", { type: one ? "radio" : "checkbox", name, value: o.value, checked: !!o.default }),
  );
  const error = h("p.field-error", { id: `${name}-error`, hidden: true });
  const box = h(
    "fieldset.choice-field",
    { "aria-describedby": error.id },
    h("legend", null, label),
    hint && h("p.hint", null, hint),
    options.map((o, i) =>
      h("label.choice", null, controls[i], h("span", null, o.label, o.description && h("small", null, o.description))),
    ),
    error,
  );
  const el = Object.assign(box, {
    problem: (words) => {
      error.hidden = !words;
      error.textContent = words;
    },
  });
  const chosen = () => controls.filter((x) => x.checked).map((x) => x.value);
  const value = () =>
    one
      ? { type: RADIOS, custom_id: c.custom_id, value: chosen()[0] ?? null }
      : { type: BOXES, custom_id: c.custom_id, values: chosen() };
  return checkedField(el, () => countProblem(c, chosen().length, one ? 1 : (c.max_values ?? options.length)), value);
}

/** A single check box. */
function boxField(c, label, hint) {
  const control = h("input", { type: "checkbox", checked: !!c.default });
  return checkedField(
    field(label, control, hint),
    () => "",
    () => ({ type: BOX, custom_id: c.custom_id, value: control.checked }),
  );
}
