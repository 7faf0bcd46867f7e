// row-window.js - a list of rows of which only those near the visible part have DOM elements. Spacers replace the rest.
import { calmly, fill, h } from "./dom.js";

const MOST_WHOLE = 150,
  MARGIN = 40, // number of rows with elements above and below the visible rows
  SLACK = 15; // elements are replaced when this many rows of the margin were scrolled into view

export class RowWindow {
  /**
   * Shows rows in `body`, which `scroller` scrolls.
   * @param {HTMLElement} scroller @param {HTMLElement} body contains the rows
   * @param {{height: number, render: (item: any) => HTMLElement}} options
   *   height: usual height of a row in pixels; a row's control has its key in data-key
   */
  constructor(scroller, body, options) {
    this.scroller = scroller;
    this.body = body;
    this.options = options;
    this.items = [];
    this.first = this.last = 0;
    /** DOM elements of the rows, by item. @type {Map<any, HTMLElement>} */
    this.made = new Map();
    this.above = h("div", { "aria-hidden": "true" });
    this.below = h("div", { "aria-hidden": "true" });
    scroller.addEventListener("scroll", () => this.scrolled(), { passive: true });
  }

  /** Shows these items with new elements. If a row had the focus, the new row with the same key gets the focus. */
  set(items) {
    calmly(this.body, () => {
      const held = document.activeElement instanceof HTMLElement && this.body.contains(document.activeElement);
      const key = held ? /** @type {HTMLElement} */ (document.activeElement).dataset.key : undefined;
      this.items = items;
      this.made.clear();
      this.draw(...this.wanted());
      if (key)
        /** @type {any} */ (this.body.querySelector(`[data-key="${CSS.escape(key)}"]`))?.focus({ preventScroll: true });
    });
  }

  /**
   * Returns the range of rows that need elements, as indexes: the first row, and the row after the last one.
   * @returns {[number, number]}
   */
  wanted() {
    const { height } = this.options,
      n = this.items.length;
    if (n <= MOST_WHOLE) return [0, n];
    const top = Math.max(0, this.scroller.scrollTop - this.body.offsetTop),
      first = Math.max(0, Math.min(Math.floor(top / height), n - 1) - MARGIN);
    return [first, Math.min(n, first + Math.ceil(this.scroller.clientHeight / height) + 2 * MARGIN)];
  }

  scrolled() {
    if (this.items.length <= MOST_WHOLE) return;
    const [first, last] = this.wanted();
    if (Math.abs(first - this.first) > SLACK || Math.abs(last - this.last) > SLACK) this.draw(first, last);
  }

  /** Scrolls so that the row for which `is` returns true is near the middle. @param {(item: any) => boolean} is */
  show(is) {
    const at = this.items.findIndex(is);
    if (at < 0 || (at >= this.first + SLACK && at < this.last - SLACK) || this.items.length <= MOST_WHOLE) return;
    this.scroller.scrollTop = this.body.offsetTop + at * this.options.height - this.scroller.clientHeight / 2;
    this.draw(...this.wanted());
  }

  draw(first, last) {
    const { height, render } = this.options,
      shown = this.items.slice(first, last),
      made = new Map(shown.map((item) => [item, this.made.get(item) || render(item)]));
    this.first = first;
    this.last = last;
    this.made = made;
    this.above.style.height = `${first * height}px`;
    this.below.style.height = `${(this.items.length - last) * height}px`;
    fill(this.body, first > 0 && this.above, [...made.values()], last < this.items.length && this.below);
  }
}
