// dom.js - creates DOM elements. Text is always set as text, never as HTML.
import { iconButton } from "./icons.js";
import { t } from "./translate.js";

/** A form control. @typedef {HTMLInputElement & HTMLTextAreaElement & HTMLSelectElement} Control */
/**
 * A labelled form field.
 * @typedef {HTMLElement & {control: Control, problem: (text?: string) => void, values?: () => any}} Field
 */
/** @template {string} S @typedef {S extends `${infer T}.${string}` ? T : S} Tag */
/**
 * @template {string} S
 * @typedef {Tag<S> extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[Tag<S>] : HTMLElement} Made
 */

/**
 * Creates an element: h("button.primary", { onclick, "aria-label": "…" }, "Send").
 * @template {string} S
 * @param {S} spec tag and classes
 * @param {Record<string, any>|null} [props] "on…" are listeners, "dataset" and "style" are maps
 * @param {...any} children nodes, texts, or lists of them; null, undefined and false are ignored
 * @returns {Made<S>}
 */
export function h(spec, props, ...children) {
  const [tag, ...classes] = spec.split(".");
  const el = document.createElement(tag || "div");
  if (classes.length) el.className = classes.join(" ");
  for (const [name, value] of Object.entries(props || {})) setProp(el, name, value);
  add(el, children);
  return /** @type {Made<S>} */ (el);
}

function setProp(el, name, value) {
  if (value === undefined || value === null || value === false) return;
  if (name.startsWith("on")) el.addEventListener(name.slice(2), value);
  else if (name === "class") el.className += ` ${value}`;
  else if (name === "dataset") Object.assign(el.dataset, value);
  else if (name === "style") for (const [k, v] of Object.entries(value)) el.style.setProperty(k, v);
  else if (name === "value" || name === "checked" || name === "selected") el[name] = value;
  else el.setAttribute(name, value === true ? "" : String(value));
}

/** @param {Node} el @param {any[]} children */
export function add(el, children) {
  for (const child of children.flat(9)) {
    if (child === null || child === undefined || child === false) continue;
    el.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** Replaces the children of an element. @param {Element} el @param {...any} children */
export function fill(el, ...children) {
  el.replaceChildren();
  add(el, children);
  return el;
}

const CLICK_MS = 50; // time between pointerup and click, for mouse and touch
let pressed = /** @type {Node|null} */ (null),
  lettingGo;
/** Delayed redraws: by element, the function that redraws it after pointerup. @type {Map<HTMLElement, () => void>} */
const late = new Map();

function letGo() {
  const waiting = [...late.values()];
  pressed = null;
  late.clear();
  waiting.forEach((draw) => draw());
}

addEventListener(
  "pointerdown",
  (e) => {
    clearTimeout(lettingGo);
    pressed = e.button === 0 && e.target instanceof Node ? e.target : null;
  },
  true,
);
for (const end of ["pointerup", "pointercancel"])
  addEventListener(
    end,
    () => {
      clearTimeout(lettingGo);
      lettingGo = setTimeout(letGo, CLICK_MS);
    },
    true,
  );
addEventListener(
  "pointermove",
  (e) => {
    if (pressed && !e.buttons && late.size) letGo();
  },
  true,
); // the button was released where the page gets no pointerup, for example on a scrollbar
addEventListener(
  "click",
  () => {
    pressed = null;
  },
  true,
); // later redraws already show the result of the click, so they need not wait

/**
 * Redraws an element. If the pointer is pressed inside the element, the redraw waits for pointerup, because a button
 * that is replaced while it is pressed gets no click.
 * @param {HTMLElement} el @param {() => void} draw
 */
export function calmly(el, draw) {
  late.delete(el);
  if (pressed && pressed !== el && el.contains(pressed)) late.set(el, draw);
  else draw();
}

const nameOf = (x) => x.dataset.key ?? x.getAttribute("aria-label") ?? x.textContent;

/**
 * Replaces the children of an element. If a control in it has the focus, focuses the new control with the same
 * data-key, or else with the same label.
 * @param {HTMLElement} el @param {...any} children
 */
export function refill(el, ...children) {
  calmly(el, () => {
    const at = document.activeElement,
      held = at instanceof HTMLElement && at !== el && el.contains(at) ? nameOf(at) : null;
    const scrolled = [...el.querySelectorAll(".table-wrap")].map((x) => x.scrollLeft);
    fill(el, ...children);
    el.querySelectorAll(".table-wrap").forEach((x, i) => {
      x.scrollLeft = scrolled[i] || 0;
    });
    if (held !== null)
      /** @type {HTMLElement[]} */ ([...el.querySelectorAll("a, button, [tabindex]")])
        .find((x) => nameOf(x) === held)
        ?.focus({ preventScroll: true });
  });
}

const signs = new WeakMap();
/**
 * Redraws an element if `sign` has changed. `sign` is a value that the caller computed from the element's data.
 * @param {HTMLElement} el @param {any} sign @param {() => any} make
 */
export function refillChanged(el, sign, make) {
  const next = JSON.stringify(sign);
  if (signs.get(el) === next) return;
  signs.set(el, next);
  refill(el, make());
}

/**
 * Redraws a long list. An item has a `sign`, a text computed from the item's data. An item whose sign is unchanged
 * retains its element.
 * @param {HTMLElement} el @param {Map<string, {sign: string, el: Element}>} made the current elements
 * @param {{key: string, sign: string, make: () => Element}[]} items
 */
export function fillChanged(el, made, items) {
  const wanted = new Set(items.map((i) => i.key));
  for (const [key, one] of made) {
    if (wanted.has(key)) continue;
    one.el.remove();
    made.delete(key);
  }
  let at = el.firstElementChild;
  for (const { key, sign, make } of items) {
    const before = made.get(key);
    if (!before || before.sign !== sign) {
      const next = make(),
        held = before?.el.contains(document.activeElement);
      if (before) before.el.replaceWith(next);
      if (before && at === before.el) at = next;
      made.set(key, { sign, el: next });
      if (held) /** @type {HTMLElement} */ (next).focus({ preventScroll: true });
    }
    const now = made.get(key).el;
    if (at === now) at = now.nextElementSibling;
    else el.insertBefore(now, at);
  }
}

/** Makes screen readers read a text aloud. @param {string} text */
export function announce(text) {
  document.getElementById("status").textContent = text;
}

let fieldNumber = 0;

/**
 * A form field: label, control, hint and error text.
 * @param {string} label @param {HTMLElement} control an input, a select, a textarea @param {any} [hint]
 * @returns {Field}
 */
export function field(label, control, hint) {
  const id = `field-${++fieldNumber}`;
  control.id = id;
  const error = h("p.field-error", { id: `${id}-error`, hidden: true });
  control.setAttribute("aria-describedby", error.id);
  const el = h("div.field", null, h("label", { for: id }, label), control, hint && h("p.hint", null, hint), error);
  const problem = (text) => {
    error.hidden = !text;
    error.textContent = text || "";
    control.setAttribute("aria-invalid", text ? "true" : "false");
  };
  return Object.assign(el, { control: /** @type {Control} */ (control), problem });
}

/** Opens a modal dialog. Calls `build` with a function close(value). Resolves to the value that is passed to close. */
export function dialog(title, build, props) {
  return new Promise((resolve) => {
    let answer;
    const before = document.activeElement;
    const close = (value) => {
      answer = value;
      el.close();
    };
    const heading = h("h2", { id: `dialog-${++fieldNumber}` }, title);
    const el = /** @type {HTMLDialogElement} */ (
      h(
        "dialog.dialog",
        { "aria-labelledby": heading.id, ...props },
        h(
          "header",
          null,
          heading,
          iconButton("close", t("Close"), () => close()),
        ),
        h("div.dialog-body", null, build(close)),
      )
    );
    el.addEventListener("close", () => {
      el.remove();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
      resolve(answer);
    });
    el.addEventListener("mousedown", (e) => e.target === el && el.close());
    document.body.appendChild(el);
    el.showModal();
    const first = el.querySelector(
      "[autofocus], .dialog-body input, .dialog-body textarea, .dialog-body select, .dialog-body button",
    );
    if (first instanceof HTMLElement) first.focus();
  });
}

/**
 * Returns the topmost open dialog, or the body if no dialog is open. Elements outside of a modal dialog get no input.
 * @returns {HTMLElement}
 */
export function foremost() {
  return /** @type {HTMLElement[]} */ ([...document.querySelectorAll("dialog[open]")]).at(-1) || document.body;
}

/**
 * Shows a short message in the corner for 6 seconds. The message is a popover, so that the browser draws it above every
 * dialog.
 */
export function toast(text, kind) {
  const container = foremost();
  let box = /** @type {HTMLElement|null} */ (container.querySelector(":scope > .toasts"));
  if (!box) container.appendChild((box = h("div.toasts", { popover: "manual" })));
  // Close the popover and open it again below, so that it is above popovers that were opened later.
  if (box.matches(":popover-open")) box.hidePopover();
  box.showPopover();
  const el = h("div.toast", { class: kind || "", role: kind === "bad" ? "alert" : "status" }, text);
  box.appendChild(el);
  setTimeout(() => el.remove(), 6000);
}

/** Makes the arrow keys move the focus between the buttons of a list. */
export function arrowKeys(el, selector) {
  el.addEventListener("keydown", (e) => {
    if (e.key !== "ArrowDown" && e.key !== "ArrowUp") return;
    const all = [...el.querySelectorAll(selector)].filter((b) => b.offsetParent);
    const here = all.indexOf(document.activeElement);
    if (here < 0) return;
    all[(here + (e.key === "ArrowDown" ? 1 : all.length - 1)) % all.length].focus();
    e.preventDefault();
  });
  return el;
}
