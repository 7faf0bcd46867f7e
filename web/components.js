// components.js - message components: buttons, select menus, layouts.
import { dialog, h } from "./dom.js";
import { emoji, markdown } from "./markdown.js";
import { attachment, picture } from "./images.js";
import { isThread } from "./store.js";
import { t } from "./translate.js";

const ROW = 1,
  BUTTON = 2,
  STRING_MENU = 3,
  USER_MENU = 5,
  ROLE_MENU = 6,
  MENTIONABLE_MENU = 7,
  CHANNEL_MENU = 8;
const SECTION = 9,
  TEXT_DISPLAY = 10,
  THUMBNAIL = 11,
  GALLERY = 12,
  FILE = 13,
  SEPARATOR = 14,
  CONTAINER = 17;
const STYLES = ["", "primary", "secondary", "success", "danger", "link"];
const LINK = 5;

/**
 * Renders a component of a message.
 * @param {any} c the component
 * @param {{use: (component: any, values: string[]|undefined, control: HTMLElement) => void, app: any,
 *   channel: any, context: any, message?: any}} context
 */
export function component(c, context) {
  return (
    RENDERERS[c.type]?.(c, context) || h("p.faint", null, t("Unsupported component (type {n})", { n: Number(c.type) }))
  );
}

const each = (list, context) => (list || []).map((c) => component(c, context));

const RENDERERS = {
  [ROW]: (c, p) => h("div.row", { role: "group" }, each(c.components, p)),
  [BUTTON]: button,
  [STRING_MENU]: menuOf,
  [USER_MENU]: menuOf,
  [ROLE_MENU]: menuOf,
  [MENTIONABLE_MENU]: menuOf,
  [CHANNEL_MENU]: menuOf,
  [SECTION]: (c, p) =>
    h(
      "div.section",
      null,
      h("div.section-text", null, each(c.components, p)),
      c.accessory && component(c.accessory, p),
    ),
  [TEXT_DISPLAY]: (c, p) => h("div.text-display", null, markdown(c.content || "", p.context)),
  [THUMBNAIL]: (c) => veil(c, picture(c.media, "thumbnail", c.description)),
  [GALLERY]: (c) =>
    h(
      "div.gallery",
      { dataset: { count: (c.items || []).length } },
      (c.items || []).map((i) => veil(i, picture(i.media, "gallery-picture", i.description))),
    ),
  [FILE]: (c) =>
    veil(
      c,
      attachment({
        filename: c.name || c.file?.url?.split("/").pop().split("?")[0] || t("A file"),
        url: c.file?.url || "",
        size: c.size,
        content_type: c.file?.content_type,
      }),
    ),
  [SEPARATOR]: (c) =>
    c.divider === false
      ? h("div.gap", { dataset: { spacing: c.spacing || 1 } })
      : h("hr", { dataset: { spacing: c.spacing || 1 } }),
  [CONTAINER]: (c, p) =>
    veil(
      c,
      h(
        "div.container",
        {
          style:
            c.accent_color != null ? { "--accent-color": `#${c.accent_color.toString(16).padStart(6, "0")}` } : null,
        },
        each(c.components, p),
      ),
    ),
};

function veil(c, el) {
  return c.spoiler ? h("details.spoiler-file", null, h("summary", null, t("Spoiler")), el) : el;
}

function emojiOf(e) {
  return e && (e.id ? emoji(e.name, e.id, e.animated) : h("span", { "aria-hidden": "true" }, e.name));
}

function button(c, context) {
  const words = [
    emojiOf(c.emoji),
    c.label,
    !c.label && c.emoji && h("span.hidden-text", null, c.emoji.name || t("emoji")),
  ];
  if (c.style === LINK) {
    const safe = /^https?:\/\//.test(c.url || "");
    return h(
      "a.button.secondary",
      {
        href: safe ? c.url : null,
        target: "_blank",
        rel: "noopener noreferrer nofollow",
        "aria-disabled": c.disabled ? "true" : null,
      },
      words,
      " ↗",
    );
  }
  const el = h(
    "button.button",
    {
      type: "button",
      class: STYLES[c.style] || "secondary",
      disabled: c.disabled,
      dataset: { customId: c.custom_id || "" },
      onclick: () => context.use(c, undefined, el),
    },
    words,
  );
  return el;
}

/* --- select menus --- */

/**
 * The options of a select menu of any type.
 * @returns {{value: string, label: string, description?: string, emoji?: any, chosen: boolean}[]}
 */
function optionsOf(c, { app, channel }) {
  const { store } = app,
    guild = store.guildOf(channel);
  const chosen = new Set((c.default_values || []).map((d) => d.id));
  if (c.type === STRING_MENU) return (c.options || []).map((o) => ({ ...o, chosen: !!o.default }));
  const out = [];
  if (c.type === USER_MENU || c.type === MENTIONABLE_MENU) {
    const people = guild ? [...guild.members.values()].map((m) => m.user) : [store.me, ...(channel.recipients || [])];
    for (const u of people) out.push({ value: u.id, label: store.nameOf(u.id, guild), description: `@${u.username}` });
  }
  if (guild && (c.type === ROLE_MENU || c.type === MENTIONABLE_MENU))
    for (const r of guild.roles.values()) out.push({ value: r.id, label: `@${r.name.replace(/^@/, "")}` });
  if (guild && c.type === CHANNEL_MENU) {
    for (const x of store.channelsOf(guild))
      if (!isThread(x) && (!c.channel_types?.length || c.channel_types.includes(x.type)))
        out.push({ value: x.id, label: `#${x.name}` });
  }
  return out.map((o) => ({ ...o, chosen: chosen.has(o.value) }));
}

const PLACEHOLDERS = {
  [STRING_MENU]: t("Make a selection"),
  [USER_MENU]: t("Choose a user"),
  [ROLE_MENU]: t("Choose a role"),
  [MENTIONABLE_MENU]: t("Choose a user or role"),
  [CHANNEL_MENU]: t("Choose a channel"),
};

/** A select menu that allows several values: a button that opens a list of check boxes. */
function manyMenu(c, options, label, done) {
  const least = c.min_values ?? 1,
    most = c.max_values ?? 1;
  const words = () =>
    options
      .filter((o) => o.chosen)
      .map((o) => o.label)
      .join(", ") || label;
  const el = h(
    "button.menu-button",
    { type: "button", "aria-haspopup": "dialog", disabled: c.disabled, "aria-label": label },
    h("span", null, words()),
    "▾",
  );
  el.addEventListener("click", async () => {
    const values = await dialog(label, (close) => {
      const hint = h("p.hint", { role: "status" });
      const save = h(
        "button.button.primary",
        { type: "button", onclick: () => close(boxes.filter((b) => b.checked).map((b) => b.value)) },
        t("Choose"),
      );
      const boxes = options.map((o) =>
        h("input", { type: "checkbox", value: o.value, checked: o.chosen, onchange: check }),
      );
      function check() {
        const n = boxes.filter((b) => b.checked).length;
        save.disabled = n < least || n > most;
        hint.textContent =
          least === most ? t("{n} of {most}", { n, most }) : t("{n} of {least} to {most}", { n, least, most });
      }
      check();
      return [
        h(
          "div.choices",
          { role: "group", "aria-label": label },
          options.map((o, i) =>
            h(
              "label.choice",
              null,
              boxes[i],
              emojiOf(o.emoji),
              h("span", null, o.label, o.description && h("small", null, o.description)),
            ),
          ),
        ),
        hint,
        save,
      ];
    });
    if (!values) return;
    for (const o of options) o.chosen = values.includes(o.value);
    el.firstElementChild.textContent = words();
    done(values, el);
  });
  return Object.assign(el, { values: () => options.filter((o) => o.chosen).map((o) => o.value) });
}

function oneMenu(c, options, label, done) {
  const el = h(
    "select.select",
    { "aria-label": label, disabled: c.disabled, onchange: () => done(el.value ? [el.value] : [], el) },
    h("option", { value: "" }, label),
    options.map((o) =>
      h(
        "option",
        { value: o.value, selected: o.chosen },
        (o.emoji && !o.emoji.id ? `${o.emoji.name} ` : "") + o.label + (o.description ? ` – ${o.description}` : ""),
      ),
    ),
  );
  return Object.assign(el, { values: () => (el.value ? [el.value] : []) });
}

/** Returns a select menu as a form control. The method values() of this control returns the chosen values. */
export function menuControl(c, context, done) {
  const options = optionsOf(c, context),
    label = c.placeholder || PLACEHOLDERS[c.type];
  return (c.max_values ?? 1) > 1 ? manyMenu(c, options, label, done) : oneMenu(c, options, label, done);
}

function menuOf(c, context) {
  return h(
    "div.menu-line",
    null,
    menuControl(c, context, (values, el) => context.use(c, values, el)),
  );
}
