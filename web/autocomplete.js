// autocomplete.js - a list of suggestions at an input field, for mouse and keyboard.
import { fill, h } from "./dom.js";

let number = 0;

/**
 * Adds suggestions to an input field.
 * @param {any} input the field; it becomes a combobox
 * @param {{find: () => any[]|Promise<any[]>, row: (item: any) => any, choose: (item: any) => void,
 *   group?: (item: any) => string, label: string, lasting?: boolean, quiet?: boolean, awaited?: () => boolean}} options
 *   lasting: Esc does not close the list; awaited: Enter waits for the running search; quiet: no suggestion is selected
 *   until an arrow key is pressed, so that Enter submits the form
 */
export function suggest(input, options) {
  const id = `suggest-${++number}`;
  const list = h("div.suggestions", { id, role: "listbox", "aria-label": options.label, hidden: true });
  let items = [],
    at = 0,
    asked = 0,
    looking = /** @type {Promise<void>|null} */ (null);
  // ARIA does not allow the role combobox for a textarea, so a textarea retains its own role.
  const lines = input.tagName === "TEXTAREA";
  const expanded = (open) => lines || input.setAttribute("aria-expanded", String(open));
  if (!lines) input.setAttribute("role", "combobox");
  input.setAttribute("aria-autocomplete", "list");
  input.setAttribute("aria-controls", id);
  expanded(false);

  function close() {
    asked++;
    looking = null;
    items = [];
    list.hidden = true;
    expanded(false);
    input.removeAttribute("aria-activedescendant");
  }

  function mark(i) {
    at = (i + items.length) % items.length;
    list.querySelectorAll("[role=option]").forEach((el, n) => {
      el.setAttribute("aria-selected", String(n === at));
      if (n === at) el.scrollIntoView({ block: "nearest" });
    });
    input.setAttribute("aria-activedescendant", `${id}-${at}`);
  }

  function choose(i) {
    const item = items[i];
    close();
    options.choose(item);
  }

  async function search() {
    const mine = ++asked,
      found = await options.find();
    if (mine !== asked) return;
    looking = null;
    if (!found.length) return close();
    // If the new list also contains the suggestion that was selected, keep it selected.
    const marked = list.hidden || at <= 0 ? null : list.querySelectorAll("[role=option]")[at]?.textContent;
    items = found;
    let group = null;
    fill(
      list,
      found.map((item, i) => {
        const name = options.group?.(item),
          heading = name && name !== group ? h("div.suggestion-group", { role: "presentation" }, name) : null;
        group = name;
        return [
          heading,
          h(
            "div.suggestion",
            {
              id: `${id}-${i}`,
              role: "option",
              "aria-selected": "false",
              onmousedown: (e) => {
                e.preventDefault();
                choose(i);
              },
            },
            options.row(item),
          ),
        ];
      }),
    );
    list.hidden = false;
    expanded(true);
    if (options.quiet && marked === null) {
      at = -1;
      input.removeAttribute("aria-activedescendant");
      return;
    }
    mark(
      marked === null
        ? 0
        : Math.max(
            0,
            [...list.querySelectorAll("[role=option]")].findIndex((el) => el.textContent === marked),
          ),
    );
  }

  function update() {
    return (looking = search());
  }

  /** Called when Enter is pressed during a search: waits for its result and chooses the first suggestion. */
  async function chooseFound() {
    const text = input.value;
    while (looking) await looking;
    if (input.value !== text || document.activeElement !== input) return;
    if (items.length) choose(0);
    else input.form?.requestSubmit();
  }

  input.addEventListener("input", update);
  input.addEventListener("blur", () => setTimeout(() => document.activeElement === input || close(), 150));
  input.addEventListener("keydown", (e) => {
    if (e.key === "Enter" && !e.shiftKey && !e.isComposing && looking && options.awaited?.()) {
      e.preventDefault();
      e.stopImmediatePropagation();
      return chooseFound();
    }
    if (list.hidden) return;
    if (e.key === "ArrowDown") mark(at + 1);
    else if (e.key === "ArrowUp") mark(at < 0 ? items.length - 1 : at - 1);
    else if ((e.key === "Enter" || e.key === "Tab") && !e.isComposing && at >= 0) choose(at);
    else if (e.key === "Escape" && !options.lasting) close();
    else return;
    e.preventDefault();
    e.stopImmediatePropagation();
  });
  return {
    list,
    update,
    close,
    get open() {
      return !list.hidden;
    },
  };
}
