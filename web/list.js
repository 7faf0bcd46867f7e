// list.js - lists of which only the items near the visible part have DOM elements.
import { calmly, h } from "./dom.js";

const MOST = 120,
  STEP = 40,
  NEAR = 500;
const AT_ONCE = 12; // maximum number of new messages that are rendered at once

/**
 * Replaces a list item's element. If a control in the old element has the focus, the same control in the new element
 * gets it.
 */
function replaceHeld(old, el) {
  const controls = (x) => [...x.querySelectorAll("article, button, a, select, input, textarea, [tabindex]")],
    held = controls(old).indexOf(document.activeElement);
  old.replaceWith(el);
  if (held >= 0) (controls(el)[held] || el.querySelector("article"))?.focus({ preventScroll: true });
}

/** The message list. Items can have any height. As long as the list is scrolled to its end, it follows new messages. */
export class MessageList {
  /**
   * Creates an empty list.
   * @param {{render: (item: any, before: any) => HTMLElement, more: () => Promise<boolean>, label: string,
   *   newer?: () => Promise<boolean>}} options more loads older items, newer loads newer items
   */
  constructor(options) {
    this.options = options;
    this.items = [];
    /** Id of the item above which the "new messages" divider is drawn, or null. @type {string|null} */
    this.mark = null;
    /** True if the server has newer items that are not loaded. */
    this.detached = false;
    this.first = 0;
    this.made = new Map();
    this.body = h("ol.messages", { "aria-label": options.label });
    this.head = h("div.list-head");
    this.el = h("div.scroller", { tabindex: 0, role: "region", "aria-label": options.label }, this.head, this.body);
    this.stuck = true;
    this.top = 0;
    this.el.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.el.addEventListener("keydown", (e) => this.key(e));
    this.resized = new ResizeObserver(() => this.stuck && this.toEnd());
    this.resized.observe(this.body);
    this.resized.observe(this.el);
  }

  /** Makes the up and down keys move between messages. The Tab key moves from a message to its buttons. */
  key(e) {
    const at = /** @type {HTMLElement} */ (e.target),
      all = /** @type {HTMLElement[]} */ ([...this.body.querySelectorAll("article")]);
    if ((e.key !== "ArrowUp" && e.key !== "ArrowDown") || (at !== this.el && at.tagName !== "ARTICLE") || !all.length)
      return;
    const here = all.indexOf(at),
      next = here < 0 ? all.at(-1) : all[here + (e.key === "ArrowUp" ? -1 : 1)];
    e.preventDefault();
    if (!next) return;
    this.stuck = this.stuck && next === all.at(-1);
    next.focus();
  }

  /** Number of items that have DOM elements. */
  get shown() {
    return Math.min(MOST, this.items.length - this.first);
  }

  get atEnd() {
    return this.el.scrollHeight - this.el.scrollTop - this.el.clientHeight < 40;
  }

  toEnd() {
    this.el.scrollTop = this.el.scrollHeight;
    this.top = this.el.scrollTop;
  }

  /** Shows these items. A list that was scrolled to its end stays at its end. */
  set(items) {
    this.items = items;
    if (this.stuck) this.first = this.firstAtEnd();
    else this.first = Math.max(0, Math.min(this.first, items.length - 1));
    this.draw();
    if (this.stuck) this.toEnd();
  }

  /**
   * Returns the index of the first item to draw at the end of the list. After many new messages at once, a timer draws
   * the older ones later.
   */
  firstAtEnd() {
    let first = this.items.length,
      fresh = 0;
    while (first > 0 && this.items.length - first < MOST) {
      if (!this.made.has(this.items[first - 1].id) && ++fresh > AT_ONCE) break;
      first--;
    }
    clearTimeout(this.growth);
    if (first > 0 && fresh > AT_ONCE) this.growth = setTimeout(() => this.stuck && this.set(this.items), 100);
    return first;
  }

  /** Called when `count` older items were inserted at the beginning of the list. */
  shifted(count) {
    this.first += count;
  }

  draw() {
    const shown = this.items.slice(this.first, this.first + MOST);
    const wanted = new Set(shown.map((m) => m.id));
    for (const [id, made] of this.made) {
      if (wanted.has(id)) continue;
      made.el.remove();
      this.made.delete(id);
    }
    let at = this.body.firstElementChild;
    shown.forEach((item, i) => {
      const before = shown[i - 1] || this.items[this.first - 1];
      const made = this.made.get(item.id),
        version = `${item.version || 0}:${before?.id || ""}:${item.id === this.mark}`;
      let el = made?.el;
      if (!made || made.version !== version) {
        el = this.options.render(item, before);
        this.made.set(item.id, { el, version });
        if (made) replaceHeld(made.el, el);
        if (made && at === made.el) at = el;
      }
      if (at === el) at = el.nextElementSibling;
      else this.body.insertBefore(el, at);
    });
  }

  /**
   * Runs `change`, which draws other items. Then scrolls so that the first visible item stays at its position on the
   * screen.
   */
  around(change) {
    const mark = /** @type {HTMLElement[]} */ ([...this.body.children]).find(
      (c) => c.offsetTop + c.offsetHeight > this.el.scrollTop,
    );
    const before = mark ? mark.getBoundingClientRect().top : 0;
    change();
    if (mark?.isConnected) this.el.scrollTop += mark.getBoundingClientRect().top - before;
  }

  async scrolled() {
    const last = this.first + MOST >= this.items.length;
    // Items may have been added since the list was at its end. Only an upward scroll means that the user has left the
    // end.
    if (last && this.atEnd && !this.detached) this.stuck = true;
    else if (this.el.scrollTop < this.top - 2) this.stuck = false;
    this.top = this.el.scrollTop;
    if (this.moving) return;
    if (this.el.scrollTop < NEAR && this.first > 0) {
      this.showAbove();
    } else if (this.el.scrollTop < NEAR && this.first === 0 && this.items.length) {
      await this.loadMore();
    } else if (!last && this.el.scrollHeight - this.el.scrollTop - this.el.clientHeight < NEAR) {
      this.around(() => {
        this.first = Math.min(this.items.length - MOST, this.first + STEP);
        this.draw();
      });
    } else if (last && this.detached && this.el.scrollHeight - this.el.scrollTop - this.el.clientHeight < NEAR) {
      this.moving = true;
      await this.options.newer?.().catch(() => false);
      this.moving = false;
    }
  }

  /** Marks all items as changed, so that the next draw renders them again. */
  forget() {
    for (const made of this.made.values()) made.version = "";
  }

  /** Loads older items. Returns false if there are none, or if the request failed. */
  async loadMore() {
    if (this.moving) return false;
    this.moving = true;
    const found = await this.options.more().catch(() => false);
    this.moving = false;
    // A list that is scrolled to its top gets no further scroll event, so show the loaded items now.
    if (found && this.el.scrollTop < NEAR) this.showAbove();
    return found;
  }

  showAbove() {
    this.around(() => {
      this.first = Math.max(0, this.first - STEP);
      this.draw();
    });
  }

  jump(id) {
    const i = this.items.findIndex((m) => m.id === id);
    if (i < 0) return false;
    this.stuck = false;
    this.first = Math.max(0, i - MOST / 2);
    this.draw();
    const el = this.made.get(id)?.el;
    el?.scrollIntoView({ block: "center" });
    this.top = this.el.scrollTop;
    el?.classList.remove("flash");
    requestAnimationFrame(() => el?.classList.add("flash"));
    /** @type {HTMLElement|null|undefined} */ (el?.querySelector("article"))?.focus({ preventScroll: true });
    return true;
  }

  end() {
    clearTimeout(this.growth);
    this.resized.disconnect();
  }
}

/** A list of rows of equal height. Only the visible rows and a few rows around them have DOM elements. */
export class RowList {
  /**
   * Creates an empty list.
   * @param {{height: number, render: (item: any, at: number) => HTMLElement, label: string, role?: string}} options
   */
  constructor(options) {
    this.options = options;
    this.items = [];
    this.made = new Map();
    this.body = h("div.rows", { role: options.role || "group", "aria-label": options.label });
    this.el = h("div.scroller.row-list", { tabindex: 0, role: "region", "aria-label": options.label }, this.body);
    this.follow = false;
    this.el.addEventListener("scroll", () => this.draw(), { passive: true });
    this.resized = new ResizeObserver(() => this.draw());
    this.resized.observe(this.el);
  }
  set(items) {
    calmly(this.el, () => {
      this.items = items;
      this.body.style.height = `${items.length * this.options.height}px`;
      if (this.follow) this.el.scrollTop = this.el.scrollHeight;
      this.draw(true);
    });
  }
  draw(fresh) {
    const { height } = this.options;
    const first = Math.max(0, Math.floor(this.el.scrollTop / height) - 4);
    const last = Math.min(this.items.length, Math.ceil((this.el.scrollTop + this.el.clientHeight) / height) + 4);
    for (const [i, made] of this.made) {
      if (i >= first && i < last && !(fresh && made.item !== this.items[i])) continue;
      made.el.remove();
      this.made.delete(i);
    }
    for (let i = first; i < last; i++) {
      if (this.made.has(i)) continue;
      const el = this.options.render(this.items[i], i);
      el.style.top = `${i * height}px`;
      this.body.append(el);
      this.made.set(i, { el, item: this.items[i] });
    }
  }
  /** Redraws all rows, also those whose item is unchanged, because a row may show other data, too. */
  redraw() {
    for (const made of this.made.values()) made.el.remove();
    this.made.clear();
    this.draw();
  }
  end() {
    this.resized.disconnect();
  }
}
