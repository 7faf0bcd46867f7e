// shared.js - parts that the pages of server and channel settings share.
import { dialog, fill, h, refill } from "../../dom.js";
import { quickForm, small } from "../../forms.js";
import { t } from "../../translate.js";

const LIVE_MS = 500; // minimum time in ms between two requests of the same list

export const section = (title, ...rest) => h("section", null, title && h("h2", null, title), rest);
/** Returns the creation time in a snowflake. @param {string} id */
export const timeOf = (id) => new Date(Number((BigInt(id) >> 22n) + 1420070400000n));
export const roleColor = (r) => (r.color ? `#${r.color.toString(16).padStart(6, "0")}` : null);

export function roleChip(r) {
  return h("span.chip", { style: { "--role": roleColor(r) || "transparent" } }, r.name);
}

/** Returns the roles of a guild, from highest to lowest. */
export const rolesOf = (g) =>
  [...g.roles.values()].sort((a, b) => b.position - a.position || (BigInt(a.id) < BigInt(b.id) ? -1 : 1));

/** Returns the position of the user's own highest role. Returns Infinity for the guild's owner. */
export function ownRank(app, g) {
  if (g.owner_id === app.store.me.id) return Infinity;
  const roles = g.members.get(app.store.me.id)?.roles || [];
  return Math.max(0, ...roles.map((id) => g.roles.get(id)?.position ?? 0));
}

/** Shows an error text, and a button that tries again. */
export function failure(e, again) {
  return h(
    "div.stack",
    null,
    h("p.field-error", { role: "alert" }, e.words || e.message),
    h("div", null, small(t("Try again"), again)),
  );
}

/** The store subscriptions of a page. end() removes them when the page is closed. */
export class Watch {
  constructor(app) {
    this.app = app;
    /** @type {(() => void)[]} */
    this.offs = [];
  }
  on(topics, f) {
    for (const topic of topics) this.offs.push(this.app.store.on(topic, f));
  }
  end() {
    this.offs.splice(0).forEach((off) => off());
  }
}

/**
 * Draws a section of a page, and draws it again after each change of one of the topics.
 * @param {Watch} watch @param {string[]} topics
 * @param {(redraw: () => Promise<void>) => any} draw returns the children, or a promise of them
 */
export async function live(watch, topics, draw) {
  const el = h("div.live");
  let turn = 0,
    last = 0,
    timer;
  const show = async () => {
    const mine = ++turn;
    last = performance.now();
    try {
      const children = await draw(show);
      if (mine === turn) refill(el, children);
    } catch (e) {
      if (mine === turn) fill(el, failure(e, show));
    }
  };
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(() => el.isConnected && show(), Math.max(0, LIVE_MS - (performance.now() - last)));
  };
  // The topic "acted" changes after each request of this page, as some changes cause no event for their session.
  if (topics.length) watch.on([...topics, "acted", "ready", "connected"], later);
  await show();
  return el;
}

/**
 * Opens a dialog with a form. If the server refuses the form, the dialog stays open and shows the error.
 * @param {string} title @param {Parameters<typeof quickForm>[0]} rows @param {string} action
 * @param {(values: any) => Promise<any>} send @param {{intro?: any, danger?: boolean, wide?: boolean}} [more]
 */
export function formDialog(title, rows, action, send, { intro, danger, wide } = {}) {
  return dialog(
    title,
    (close) => {
      const form = quickForm(rows, action, async (values) => {
        const answer = await send(values);
        close(answer ?? true);
      });
      const submit = form.querySelector(".form-foot button");
      if (danger) submit.classList.replace("primary", "danger");
      submit.before(h("button.button.secondary", { type: "button", onclick: () => close() }, t("Cancel")));
      form.querySelector(".form-foot").classList.add("right");
      return [intro && h("p", null, intro), form];
    },
    wide ? { class: "wide" } : null,
  );
}

/** Asks for confirmation, then calls `send`, which deletes an object. If `send` fails, the dialog shows the error. */
export const confirmDelete = (title, words, send, action = t("Delete")) =>
  formDialog(title, [], action, send, { intro: words, danger: true });

/** A button that copies a text. */
export function copyButton(app, text, label) {
  return h(
    "button.button.secondary",
    {
      type: "button",
      "aria-label": label,
      onclick: () => app.tryCall(Promise.resolve(navigator.clipboard?.writeText(text)), t("Copied")),
    },
    t("Copy"),
  );
}

/**
 * Returns an element of `rows` for quickForm: a group of check boxes. Its value is the list of the chosen values.
 * @param {string} name @param {string} label @param {[string, string][]} choices @param {string[]} chosen
 */
export function choiceRow(name, label, choices, chosen, hint) {
  const boxes = choices.map(([value]) => h("input", { type: "checkbox", value, checked: chosen.includes(value) }));
  const el = h(
    "fieldset.choice-field",
    null,
    h("legend", null, label),
    hint && h("p.hint", null, hint),
    h(
      "div.choices",
      null,
      choices.length
        ? choices.map(([, words], i) => h("label.choice", null, boxes[i], words))
        : h("p.faint", null, t("Nothing here yet")),
    ),
  );
  return { name, label, custom: { el, value: () => boxes.filter((b) => b.checked).map((b) => b.value) } };
}
