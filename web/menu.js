// menu.js - context menus, and their position.
import { foremost, h } from "./dom.js";
import { icon } from "./icons.js";

/**
 * Opens a context menu. `run` gets the click event, because Shift can change what an entry does.
 * @param {({label: string, icon?: string, danger?: boolean, run: (e?: any) => void}|{el: HTMLElement})[]} items
 * el: a control that replaces the button of an entry
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
