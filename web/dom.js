// dom.js - creates DOM elements. Text is always set as text, never as HTML.
import { t } from "./translate.js";

/** @typedef {HTMLInputElement & HTMLTextAreaElement & HTMLSelectElement} Control */
/** @typedef {HTMLElement & {control: Control, problem: (text?: string) => void, values?: () => any}} Field */
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
/** Redraws that wait for pointerup, by element. @type {Map<HTMLElement, () => void>} */
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
); // the button was released where no pointerup is sent, for example on a scrollbar
addEventListener(
  "click",
  () => {
    pressed = null;
  },
  true,
); // later redraws show the result of the click, so they do not wait

/**
 * Redraws an element. If the pointer is pressed inside it, waits for pointerup: a replaced button would get no click.
 * @param {HTMLElement} el @param {() => void} draw
 */
export function calmly(el, draw) {
  late.delete(el);
  if (pressed && pressed !== el && el.contains(pressed)) late.set(el, draw);
  else draw();
}

const nameOf = (x) => x.dataset.key ?? x.getAttribute("aria-label") ?? x.textContent;

/**
 * Replaces the children of an element. Restores the focus to the control with the same data-key, or else same label.
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
/** Redraws an element if its data `sign` changed. @param {HTMLElement} el @param {any} sign @param {() => any} make */
export function refillChanged(el, sign, make) {
  const next = JSON.stringify(sign);
  if (signs.get(el) === next) return;
  signs.set(el, next);
  refill(el, make());
}

/**
 * Redraws a long list. An item whose `sign` (a text of the data that it shows) is unchanged keeps its element.
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

const PATHS = {
  hash: "M5 9h14M4 15h14M10 4 8 20M16 4l-2 16",
  voice: "M4 9v6h4l5 4V5L8 9zM16 9a4 4 0 0 1 0 6M18 6a8 8 0 0 1 0 12",
  stage: "M12 3v12M8 7l4-4 4 4M5 14a7 7 0 0 0 14 0M8 21h8",
  forum: "M4 5h16v11H9l-5 4zM8 9h8M8 12h5",
  thread: "M6 4v10a4 4 0 0 0 4 4h8M14 14l4 4-4 4",
  announcement: "M4 10v4l11 5V5zM15 9a4 4 0 0 1 0 6M7 15v5h3v-4",
  people: "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7M3 20a6 6 0 0 1 12 0M16 4a3.5 3.5 0 0 1 0 7M18 14a6 6 0 0 1 3 6",
  gear: "M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6M12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M5 19l2-2M17 7l2-2",
  plus: "M12 5v14M5 12h14",
  smile: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18M8.5 14.5a4 4 0 0 0 7 0M9 10h.01M15 10h.01",
  pin: "M9 4h6l-1 6 3 3H7l3-3zM12 13v7",
  reply: "M10 8 5 12l5 4M5 12h9a5 5 0 0 1 5 5v1",
  edit: "M4 20h4L19 9l-4-4L4 16z",
  trash: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
  close: "M6 6l12 12M18 6 6 18",
  more: "M6 12h.01M12 12h.01M18 12h.01",
  menu: "M4 7h16M4 12h16M4 17h16",
  mic: "M12 14a3 3 0 0 0 3-3V6a3 3 0 0 0-6 0v5a3 3 0 0 0 3 3M6 11a6 6 0 0 0 12 0M12 17v4",
  muted: "M9 9v2a3 3 0 0 0 5 2M15 10V6a3 3 0 0 0-6-1M6 11a6 6 0 0 0 9 5M18 11a6 6 0 0 1-.5 2.5M12 17v4M4 4l16 16",
  deaf: "M4 15v-3a8 8 0 0 1 13-6M20 12v3M4 15h3v5H4zM17 15h3v5h-3zM4 4l16 16",
  headphones: "M4 15v-3a8 8 0 0 1 16 0v3M4 15h3v5H4zM17 15h3v5h-3z",
  camera: "M4 7h11v10H4zM15 11l5-3v8l-5-3",
  "camera-off": "M9 7h6v6M15 11l5-3v8l-5-3M13 17H4V7h1M4 4l16 16",
  screen: "M3 5h18v11H3zM9 20h6M12 13V8M9.5 10.5 12 8l2.5 2.5",
  music: "M9 18V6l10-2v12M9 18a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0M19 16a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0",
  phone: "M6 4h3l2 5-2.5 1.5a11 11 0 0 0 5 5L15 13l5 2v3a2 2 0 0 1-2 2A14 14 0 0 1 4 6a2 2 0 0 1 2-2",
  hangup: "M3 14c0-3 4-5 9-5s9 2 9 5l-1 2-4-1v-3a12 12 0 0 0-8 0v3l-4 1z",
  signal: "M5 20v-4M12 20v-9M19 20V4",
  leave: "M14 4h5v16h-5M4 12h10M10 8l4 4-4 4",
  wrench: "M14 6a4 4 0 0 1 5 5l-9 9-5-5 9-9M14 6l4-2 2 2-2 4",
  gif: "M4 6h16v12H4zM10 10H7v4h3v-2M13 10v4M17 14v-4h2M17 12h2",
  bolt: "M13 3 5 14h6l-1 7 8-11h-6z",
  search: "M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13M15.5 15.5 21 21",
  bell: "M6 16V11a6 6 0 0 1 12 0v5l2 2H4zM10 21h4",
  "bell-off": "M6 16V11a6 6 0 0 1 9-5M18 11v5l2 2H8M10 21h4M4 4l16 16",
  forward: "M14 8l5 4-5 4M19 12h-9a5 5 0 0 0-5 5v1",
  link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
  check: "M5 13l4 4L19 7",
  play: "M8 5l11 7-11 7z",
  pause: "M8 5v14M16 5v14",
  stop: "M7 7h10v10H7z",
  lock: "M6 11h12v9H6zM9 11V8a3 3 0 0 1 6 0v3",
  unlock: "M6 11h12v9H6zM9 11V8a3 3 0 0 1 6-1",
  archive: "M4 5h16v4H4zM6 9v10h12V9M10 13h4",
  unarchive: "M4 5h16v4H4zM6 9v10h12V9M12 18v-6M9.5 14l2.5-2 2.5 2",
  poll: "M5 20V10M12 20V4M19 20v-7",
  sticker: "M5 4h14v9l-6 7H5zM13 20v-7h6",
  send: "M4 12 20 4l-5 16-4-6z",
  up: "M12 19V5M6 11l6-6 6 6",
  down: "M12 5v14M6 13l6 6 6-6",
  eye: "M2 12s4-7 10-7 10 7 10 7-4 7-10 7S2 12 2 12M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6",
  user: "M12 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8M5 21a7 7 0 0 1 14 0",
  hand:
    "M8 12V6a1.5 1.5 0 0 1 3 0v5V4a1.5 1.5 0 0 1 3 0v7V6a1.5 1.5 0 0 1 3 0v8a6 6 0 0 1-11 3" +
    "l-3-5a1.5 1.5 0 0 1 3-1z",
};

/** @param {keyof typeof PATHS | string} name */
export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", PATHS[name] || PATHS.more);
  svg.appendChild(path);
  return svg;
}

/** A button with an icon and an accessible label. */
export function iconButton(name, label, onclick, props) {
  return h("button.icon-button", { type: "button", "aria-label": label, title: label, onclick, ...props }, icon(name));
}

/** Announces a text to screen readers. @param {string} text */
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

/** Opens a modal dialog. build gets the function close(value); the promise resolves to this value. */
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

/** Returns the topmost open dialog, or the body without one. Elements outside get no input. @returns {HTMLElement} */
export function foremost() {
  return /** @type {HTMLElement[]} */ ([...document.querySelectorAll("dialog[open]")]).at(-1) || document.body;
}

/**
 * Opens a context menu. run gets the click event, because an entry may act differently if Shift is pressed.
 * @param {({label: string, icon?: string, danger?: boolean, run: (e?: any) => void}|{el: HTMLElement})[]} items
 *   el: a control that replaces the button of an entry
 */
export function menu(at, items, label) {
  document.querySelector(".menu")?.remove();
  const before = document.activeElement;
  const gone = (e) => !el.contains(e.target) && end();
  const end = () => {
    el.remove();
    document.removeEventListener("mousedown", gone, true);
    if (before instanceof HTMLElement && before.isConnected) before.focus();
  };
  const el = h(
    "div.menu",
    { role: "menu", "aria-label": label },
    items.map((item) =>
      "el" in item
        ? item.el
        : h(
            "button",
            {
              role: "menuitem",
              type: "button",
              class: item.danger ? "danger" : "",
              onclick: (e) => {
                end();
                item.run(e);
              },
            },
            item.icon && icon(item.icon),
            item.label,
          ),
    ),
  );
  el.addEventListener("keydown", (e) => {
    const all = /** @type {HTMLElement[]} */ ([...el.querySelectorAll("button, input")]),
      here = all.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    if (e.key === "Escape") end();
    else if (e.key === "ArrowDown") all[(here + 1) % all.length].focus();
    else if (e.key === "ArrowUp") all[(here + all.length - 1) % all.length].focus();
    else return;
    e.preventDefault();
    e.stopPropagation();
  });
  foremost().appendChild(el);
  const box = el.getBoundingClientRect();
  el.style.left = `${Math.max(4, Math.min(at.x, innerWidth - box.width - 8))}px`;
  el.style.top = `${Math.max(4, Math.min(at.y, innerHeight - box.height - 8))}px`;
  document.addEventListener("mousedown", gone, true);
  /** @type {HTMLElement|null} */ (el.querySelector("button, input"))?.focus();
}

/** Returns the position directly below an element, for a menu. @param {Element} el */
export function below(el) {
  const box = el.getBoundingClientRect();
  return { x: box.left, y: box.bottom + 4 };
}

/** Shows a short message in the corner for 6 seconds. Its box is a popover, so it is drawn above every dialog. */
export function toast(text, kind) {
  const container = foremost();
  let box = /** @type {HTMLElement|null} */ (container.querySelector(":scope > .toasts"));
  if (!box) container.appendChild((box = h("div.toasts", { popover: "manual" })));
  if (box.matches(":popover-open")) box.hidePopover(); // opened again below, to be above newer popovers
  box.showPopover();
  const el = h("div.toast", { class: kind || "", role: kind === "bad" ? "alert" : "status" }, text);
  box.appendChild(el);
  setTimeout(() => el.remove(), 6000);
}

/** Lets arrow keys move the focus between the buttons of a list. */
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
