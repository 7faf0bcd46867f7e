// forms.js - tables and small forms, for settings and the workbench.
import { field, fill, h } from "./dom.js";
import { t } from "./translate.js";

/** Returns a table. @param {string[]} heads @param {any[][]} rows cells */
export function table(heads, rows, label) {
  if (!rows.length) return h("p.faint", null, t("Nothing here yet"));
  return h(
    "div.table-wrap",
    { tabindex: 0, role: "group", "aria-label": label || heads[0] },
    h(
      "table",
      null,
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          heads.map((x) => h("th", { scope: "col" }, x || h("span.hidden-text", null, t("Actions")))),
        ),
      ),
      h(
        "tbody",
        null,
        rows.map((cells) =>
          h(
            "tr",
            null,
            cells.map((c) => h("td", null, c)),
          ),
        ),
      ),
    ),
  );
}

/**
 * Returns a small button.
 * @param {any} words @param {(e: any) => void} onclick @param {string} [kind]
 * @param {string} [key] data-key, by which a redraw restores the focus
 */
export function small(words, onclick, kind, key) {
  return h(
    "button.button",
    { type: "button", class: kind || "secondary", onclick, dataset: key ? { key } : null },
    words,
  );
}

/**
 * Returns a form with one field per element of `rows`. If the server refuses a field, the error is shown at that field.
 * @param {{name: string, label: string, value?: any, type?: string, options?: [any, string][], hint?: string,
 * rows?: number, required?: boolean, props?: Record<string, any>,
 * custom?: {el: HTMLElement, value: () => any}}[]} rows props: attributes; custom: not an input
 * @param {(values: any) => Promise<any>} send
 */
export function quickForm(rows, action, send, kind) {
  const fields = rows.map((r) => {
    if (r.custom) return customField(r.custom.el);
    const control = r.options
      ? h(
          "select",
          r.props || null,
          r.options.map(([v, words]) => h("option", { value: v, selected: String(v) === String(r.value) }, words)),
        )
      : r.rows
        ? h("textarea", { rows: r.rows, ...r.props })
        : h("input", {
            type: r.type || "text",
            autocomplete: "off",
            checked: r.type === "checkbox" && r.value,
            ...r.props,
          });
    if (r.required) control.setAttribute("aria-required", "true");
    if (!r.options && r.type !== "checkbox" && r.type !== "file") control.value = r.value ?? "";
    const el = field(r.label, control, r.hint);
    if (r.type === "checkbox") {
      control.setAttribute("role", "switch");
      el.classList.add("switch-field");
    }
    return el;
  });
  const problem = h("p.field-error", { role: "alert", hidden: true }),
    done = h("p.good", { role: "status" });
  const submit = h("button.button.primary", { type: "submit" }, action);
  return h(
    "form",
    {
      class: kind || "stack",
      novalidate: true,
      onsubmit: async (e) => {
        e.preventDefault();
        problem.hidden = true;
        done.textContent = "";
        fields.forEach((f) => f.problem(""));
        const values = {};
        rows.forEach((r, i) => {
          values[r.name] = r.custom
            ? r.custom.value()
            : r.type === "checkbox"
              ? fields[i].control.checked
              : r.type === "file"
                ? fields[i].control.files[0]
                : fields[i].control.value;
        });
        const empty = rows.filter((r, i) => {
          const missing = r.required && !values[r.name]?.length && !(values[r.name] instanceof File);
          if (missing) fields[i].problem(t("Please fill this in"));
          return missing;
        });
        if (empty.length) {
          fields[rows.indexOf(empty[0])].control.focus();
          return;
        }
        submit.disabled = true;
        try {
          const words = await send(values);
          done.textContent = typeof words === "string" ? words : t("Done");
        } catch (refusal) {
          let marked = false;
          rows.forEach((r, i) => {
            const words = refusal.at?.(r.name);
            if (words) {
              fields[i].problem(words);
              marked = true;
            }
          });
          problem.hidden = marked;
          problem.textContent = refusal.words || refusal.message;
        }
        submit.disabled = false;
      },
    },
    fields,
    problem,
    h("div.form-foot", null, submit, done),
  );
}

/**
 * A form field whose control is not an input, with an error text below the control.
 * @param {HTMLElement} control @returns {import("./dom.js").Field}
 */
function customField(control) {
  const error = h("p.field-error", { hidden: true });
  const problem = (text) => {
    error.hidden = !text;
    error.textContent = text || "";
  };
  return Object.assign(h("div.field", null, control, error), {
    control: /** @type {import("./dom.js").Control} */ (control),
    problem,
  });
}

/** Reads an image file as the data: URL that the API accepts. @param {File} file */
export function dataUrl(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}

/** On narrow screens, scrolls the row of tabs so that the open tab is visible. @param {Element} page */
export function showCurrent(page) {
  page.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
}

/**
 * A page with tabs at the side. A tab has a path segment, a label and a render function. A tab without a path segment
 * is a heading for the tabs after it.
 */
export function tabbedPage(app, page, { base, title, tabs, active, back }) {
  const body = h("main.settings-body", { tabindex: 0 });
  const found = tabs.find(([id]) => id && id === active) || tabs.find(([id]) => id);
  fill(
    page,
    h(
      "div.settings",
      null,
      h(
        "nav.settings-nav",
        { "aria-label": title },
        h("a.channel", { href: back }, "← ", t("Back")),
        h("h2", null, title),
        tabs.map(([id, words]) =>
          id
            ? h("a.channel", { href: `${base}/${id}`, "aria-current": id === found[0] ? "page" : null }, words)
            : h("h3", null, words),
        ),
        h("a.channel", { href: "/docs/chat", "data-plain": true }, t("Help")),
      ),
      body,
    ),
  );
  fill(body, h("h1", null, found[1]));
  let panel = h("div"),
    turn = 0;
  body.append(panel);
  showCurrent(page);
  document.title = `${found[1]} · Guildhall`;
  // Draw the tab off screen before it is shown. If a newer drawing has begun meanwhile, do not show this one.
  const show = async () => {
    const mine = ++turn,
      next = h("div");
    try {
      await found[2](next, show);
    } catch (e) {
      fill(next, h("p.field-error", { role: "alert" }, `${e.message} (${e.code || e.status || ""})`));
    }
    if (mine !== turn) return;
    panel.replaceWith(next);
    panel = next;
  };
  return show();
}
