// sortable.js - lists whose rows the user can move by drag and drop, or by Alt with the arrow keys.

// Share of a row's height: a drop in its upper part goes before the row, a drop in its lower part after the row.
const EDGE = 0.3;

/**
 * Makes the rows of a list movable. Rows are elements with data-sort (the key) and draggable="true". The list itself
 * has the event listeners, so rows may be redrawn.
 * @param {HTMLElement} list
 * @param {{drop: (key: string, target: string, where: "before"|"after"|"into") => void,
 * step: (key: string, by: number) => void, holds: (target: string) => boolean}} options holds returns true
 * if other rows can be dropped into this row, such as channels into a category
 */
export function sortable(list, { drop, step, holds }) {
  let dragged = /** @type {string|null} */ (null),
    marked = /** @type {HTMLElement|null} */ (null);
  const rowOf = (e) => /** @type {HTMLElement|null} */ (e.target instanceof Element && e.target.closest("[data-sort]"));
  const unmark = () => {
    if (marked) delete marked.dataset.drop;
    marked = null;
  };
  const whereOf = (row, y) => {
    const box = row.getBoundingClientRect(),
      part = (y - box.top) / box.height;
    if (holds(row.dataset.sort)) return part < EDGE ? "before" : part > 1 - EDGE ? "after" : "into";
    return part < 0.5 ? "before" : "after";
  };
  list.addEventListener("dragstart", (e) => {
    const row = rowOf(e);
    if (row?.getAttribute("draggable") !== "true") return;
    dragged = row.dataset.sort;
    e.dataTransfer.effectAllowed = "move";
    e.dataTransfer.setData("text/plain", row.textContent);
  });
  list.addEventListener("dragover", (e) => {
    const row = rowOf(e);
    if (!dragged) return;
    unmark();
    if (!row || row.dataset.sort === dragged) return;
    e.preventDefault();
    marked = row;
    row.dataset.drop = whereOf(row, e.clientY);
  });
  list.addEventListener("drop", (e) => {
    const row = rowOf(e),
      key = dragged;
    unmark();
    dragged = null;
    if (!row || !key || row.dataset.sort === key) return;
    e.preventDefault();
    drop(key, row.dataset.sort, whereOf(row, e.clientY));
  });
  list.addEventListener("dragend", () => {
    unmark();
    dragged = null;
  });
  list.addEventListener(
    "keydown",
    (e) => {
      const row = rowOf(e);
      if (!row || !e.altKey || (e.key !== "ArrowUp" && e.key !== "ArrowDown")) return;
      if (row.getAttribute("draggable") !== "true") return;
      e.preventDefault();
      e.stopPropagation();
      step(row.dataset.sort, e.key === "ArrowUp" ? -1 : 1);
    },
    true,
  );
  return list;
}
