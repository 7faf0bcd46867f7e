// commands.js - application commands, components and modals: sends interactions and shows their results.
import { Refusal } from "./rest.js";
import { announce, fill, h, iconButton } from "./dom.js";
import { contextOf } from "./message.js";
import { askModal } from "./modals.js";
import { appIcon } from "./images.js";
import { isThread } from "./store.js";
import { suggest } from "./autocomplete.js";
import { currentLanguage, t } from "./translate.js";

const SUB = 1,
  GROUP = 2,
  STRING = 3,
  INTEGER = 4,
  BOOLEAN = 5,
  USER = 6,
  CHANNEL = 7,
  ROLE = 8,
  MENTIONABLE = 9,
  NUMBER = 10,
  ATTACHMENT = 11;
const PATIENCE_MS = 15000; // longer than the 3 seconds after which the server reports that the app did not respond
const REASONS = {
  1: t("The application is offline, or its response was not valid."),
  2: t("The application did not answer within 3 seconds."),
};

let counter = 0;
const nonce = () => `${Date.now()}${String(++counter).padStart(4, "0")}`;

/** Returns the name or description of a command or option in the user's language. */
export function localised(thing, name, locale) {
  return (
    thing[`${name}_localized`] ||
    thing[`${name}_localizations`]?.[locale] ||
    thing[`${name}_localizations`]?.[currentLanguage()] ||
    thing[name]
  );
}

/** Returns the name without localization, which interactions must contain. */
const ownName = (thing) => thing.name_default ?? thing.name;

/* --- command lists --- */

export class CommandIndex {
  constructor(app) {
    this.app = app;
    this.cache = new Map();
    app.store.on("commands", () => this.cache.clear());
    app.store.on("ready", () => this.cache.clear());
  }
  /** All commands that can be used in a channel. @returns {Promise<{commands: any[], apps: Map<string, any>}>} */
  async of(channel) {
    const key = channel.guild_id || channel.id;
    if (!this.cache.has(key))
      this.cache.set(
        key,
        this.load(channel).catch((e) => {
          this.cache.delete(key);
          throw e;
        }),
      );
    return this.cache.get(key);
  }
  async load(channel) {
    const { rest } = this.app;
    const paths = [
      channel.guild_id
        ? `/guilds/${channel.guild_id}/application-command-index`
        : `/channels/${channel.id}/application-command-index`,
      "/users/@me/application-command-index",
    ];
    const found = await Promise.all(
      paths.map((p) => rest.get(p).catch(() => ({ applications: [], application_commands: [] }))),
    );
    const apps = new Map(found.flatMap((f) => f.applications).map((a) => [a.id, a]));
    const commands = [...new Map(found.flatMap((f) => f.application_commands).map((c) => [c.id, c])).values()];
    return { commands, apps };
  }
}

/** Returns the subcommands of a command that a user can run, or the command itself if it has none. */
function leaves(command, locale) {
  const out = [];
  const visit = (node, path, options) => {
    const subs = (options || []).filter((o) => o.type === SUB || o.type === GROUP);
    if (!subs.length)
      out.push({
        command,
        path,
        options: options || [],
        name: [command, ...path].map((x) => localised(x, "name", locale)).join(" "),
        description: localised(node, "description", locale) || "",
      });
    for (const s of subs) visit(s, [...path, s], s.options);
  };
  visit(command, [], command.options);
  return out;
}

/** @param {string} text the text after the slash */
export async function findCommands(app, channel, text) {
  const { commands, apps } = await app.commands.of(channel);
  const words = text.toLowerCase().trim(),
    locale = app.store.settings.locale;
  const all = commands
    .filter((c) => (c.type ?? 1) === 1)
    .flatMap((c) => leaves(c, locale))
    .map((l) => ({ ...l, app: apps.get(l.command.application_id) }));
  const starts = all.filter((l) => l.name.toLowerCase().startsWith(words));
  const rest = all.filter((l) => !starts.includes(l) && l.name.toLowerCase().includes(words));
  return [...starts, ...rest].sort((a, b) => String(a.app?.name).localeCompare(String(b.app?.name))).slice(0, 50);
}

export function commandRow(leaf) {
  return [
    appIcon(leaf.app, "tiny-avatar"),
    h("span.suggestion-main", null, h("strong", null, `/${leaf.name}`), h("small", null, leaf.description)),
    h("span.faint", null, leaf.app?.name),
  ];
}

/* --- sending interactions --- */

/** Sends an interaction; resolves with the event of its success or failure, or type SILENCE after PATIENCE_MS. */
export async function interact(app, channel, body, files) {
  const id = nonce();
  const full = {
    nonce: id,
    session_id: app.store.session,
    channel_id: channel.id,
    ...(channel.guild_id ? { guild_id: channel.guild_id } : {}),
    ...body,
  };
  const ended = new Promise((resolve) => {
    const timer = setTimeout(() => resolve({ type: "SILENCE", d: {} }), PATIENCE_MS);
    app.store.interactions.set(id, (type, d) => {
      if (type === "INTERACTION_CREATE") return;
      clearTimeout(timer);
      resolve({ type, d });
    });
  });
  try {
    if (files?.length) {
      const form = new FormData();
      form.append("payload_json", JSON.stringify(full));
      files.forEach((f, i) => form.append(`files[${i}]`, f));
      await app.rest.post("/interactions", form);
    } else await app.rest.post("/interactions", full);
  } catch (refusal) {
    app.store.interactions.delete(id);
    throw refusal;
  }
  return ended;
}

export function failureWords(end, appName) {
  if (end.type === "SILENCE") return t("{name} has not answered yet.", { name: appName });
  if (end.type === "INTERACTION_FAILURE") return REASONS[end.d.reason_code] || t("The interaction failed.");
  return "";
}

/** Sends the interaction for a used button or select menu. */
export async function useComponent(app, channel, m, c, values, control) {
  const name = m.author.global_name || m.author.username;
  app.problems.delete(m.id);
  control.classList.add("loading");
  control.setAttribute("aria-busy", "true");
  let words = "";
  try {
    const end = await interact(app, channel, {
      type: 3,
      application_id: m.application_id || m.author.id,
      message_id: m.id,
      message_flags: m.flags,
      data: { component_type: c.type, custom_id: c.custom_id, ...(values ? { type: c.type, values } : {}) },
    });
    words = failureWords(end, name);
  } catch (refusal) {
    words = refusal instanceof Refusal ? refusal.words : String(refusal);
  }
  control.classList.remove("loading");
  control.removeAttribute("aria-busy");
  if (!words) return;
  app.problems.set(m.id, words);
  announce(words);
  app.store.changeMessage(channel.id, m.id, (x) => ({ ...x }));
}

/** Shows the modal with which an app responded. */
export function showModal(app, modal) {
  const channel = app.store.channels.get(modal.channel_id);
  if (!channel) return;
  askModal(modal, { app, channel, context: contextOf(app, channel), use() {} }, async (components, files) => {
    const attachments = files.map((f, i) => ({ id: String(i), filename: f.name }));
    const end = await interact(
      app,
      channel,
      {
        type: 5,
        application_id: modal.application.id,
        data: { id: modal.id, custom_id: modal.custom_id, components, ...(files.length ? { attachments } : {}) },
      },
      files,
    );
    const words = failureWords(end, modal.application.name);
    if (words && end.type !== "SILENCE") throw new Error(words);
  });
}

/** Returns the user or message commands for the context menu of a user or message. */
export async function contextCommands(app, channel, type, targetId) {
  const { commands, apps } = await app.commands.of(channel);
  return commands
    .filter((c) => c.type === type)
    .map((c) => ({
      label: localised(c, "name", app.store.settings.locale),
      icon: "bolt",
      run: () =>
        runCommand(app, channel, { command: c, app: apps.get(c.application_id), name: c.name }, [], {
          target_id: targetId,
        }),
    }));
}

/** Runs a command; shows its state above the message field until the response arrives. */
export async function runCommand(app, channel, leaf, options, more, files) {
  const { command } = leaf,
    name = leaf.app?.name || t("The application");
  const note = app.notice(channel, `${command.type === 1 || !command.type ? "/" : ""}${leaf.name} · ${name}…`);
  let nested = options;
  for (const node of [...(leaf.path || [])].reverse())
    nested = [{ type: node.type, name: ownName(node), options: nested }];
  const data = {
    id: command.id,
    name: ownName(command),
    type: command.type ?? 1,
    version: command.version,
    ...(command.guild_id ? { guild_id: command.guild_id } : {}),
    ...more,
  };
  if (data.type === 1) data.options = nested;
  try {
    const end = await interact(app, channel, { type: 2, application_id: command.application_id, data }, files);
    const words = failureWords(end, name);
    if (words) note.fail(`${leaf.name}: ${words}`);
    else note.end();
    return !words;
  } catch (refusal) {
    note.end();
    throw refusal;
  }
}

/* --- command form --- */

/** Input fields for the options of a command. @returns {{el: HTMLElement, focus: () => void}} */
export function commandForm(app, channel, leaf, close) {
  const locale = app.store.settings.locale,
    files = [];
  const problem = h("p.field-error", { role: "alert", hidden: true });
  const fields = h("div.command-fields"),
    more = h("div.command-more");
  const made = new Map();
  const required = leaf.options.filter((o) => o.required),
    optional = leaf.options.filter((o) => !o.required);

  const collect = () => [...made.values()].map((f) => f.value()).filter((v) => v !== null);
  const show = (o, focus) => {
    const f = optionField(app, channel, leaf, o, { locale, files, collect });
    made.set(o.name, f);
    fields.append(f.el);
    drawMore();
    if (focus) f.control.focus();
  };
  const drawMore = () =>
    fill(
      more,
      optional
        .filter((o) => !made.has(o.name))
        .map((o) =>
          h(
            "button.chip",
            { type: "button", title: localised(o, "description", locale), onclick: () => show(o, true) },
            `+ ${localised(o, "name", locale)}`,
          ),
        ),
    );

  const form = h(
    "form.command-form",
    { "aria-label": `/${leaf.name}`, novalidate: true },
    h(
      "div.command-head",
      null,
      appIcon(leaf.app, "tiny-avatar"),
      h("strong", null, `/${leaf.name}`),
      h("span.faint.clip", null, leaf.description),
      iconButton("close", t("Cancel"), () => close()),
    ),
    fields,
    more,
    problem,
    h(
      "div.command-foot",
      null,
      h("span.hint", null, t("Enter to send, Esc to cancel")),
      h("button.button.primary", { type: "submit" }, t("Send")),
    ),
  );
  required.forEach((o) => show(o, false));
  drawMore();

  form.addEventListener("keydown", (e) => e.key === "Escape" && (e.stopPropagation(), close()));
  form.addEventListener("submit", async (e) => {
    e.preventDefault();
    if (![...made.values()].map((f) => f.check()).every(Boolean)) return;
    const values = collect();
    form.classList.add("loading");
    try {
      const attachments = files.map((f, i) => ({ id: String(i), filename: f.name }));
      close();
      await runCommand(app, channel, leaf, values, attachments.length ? { attachments } : {}, files);
    } catch (refusal) {
      app.notice(channel, "").fail(`/${leaf.name}: ${refusal.words || refusal.message}`);
    }
  });
  return {
    el: form,
    focus: () =>
      /** @type {HTMLElement} */ (
        fields.querySelector("input, select, textarea") || form.querySelector("button[type=submit]")
      ).focus(),
  };
}

function choicesOf(app, channel, o) {
  const { store } = app,
    guild = store.guildOf(channel);
  const people = guild ? [...guild.members.values()].map((m) => m.user) : [store.me, ...(channel.recipients || [])];
  const users = people.map((u) => ({ name: `${store.nameOf(u.id, guild)} (@${u.username})`, value: u.id }));
  const roles = guild
    ? [...guild.roles.values()].map((r) => ({ name: `@${r.name.replace(/^@/, "")}`, value: r.id }))
    : [];
  if (o.type === USER) return users;
  if (o.type === ROLE) return roles;
  if (o.type === MENTIONABLE) return [...users, ...roles];
  if (o.type === CHANNEL)
    return guild
      ? store
          .channelsOf(guild)
          .filter((c) => !isThread(c) && (!o.channel_types?.length || o.channel_types.includes(c.type)))
          .map((c) => ({ name: `#${c.name}`, value: c.id }))
      : [];
  if (o.type === BOOLEAN)
    return [
      { name: t("True"), value: true },
      { name: t("False"), value: false },
    ];
  return (o.choices || []).map((c) => ({ name: c.name_localized || c.name, value: c.value }));
}

function optionField(app, channel, leaf, o, { locale, files, collect }) {
  const label = localised(o, "name", locale),
    hint = localised(o, "description", locale);
  const choices = choicesOf(app, channel, o);
  const id = `option-${nonce()}`;
  const error = h("span.field-error", { role: "alert", hidden: true });
  let control,
    read,
    picked = null;
  if (choices.length) {
    control = h(
      "select",
      { id },
      h("option", { value: "" }, ""),
      choices.map((c, i) => h("option", { value: String(i) }, c.name)),
    );
    read = () => (control.value === "" ? undefined : choices[Number(control.value)].value);
  } else if (o.type === ATTACHMENT) {
    control = h("input", { id, type: "file" });
    read = () => {
      if (!control.files.length) return undefined;
      if (!files.includes(control.files[0])) files.push(control.files[0]);
      return String(files.indexOf(control.files[0]));
    };
  } else {
    const numeric = o.type === INTEGER || o.type === NUMBER;
    control = h("input", {
      id,
      type: "text",
      inputmode: numeric ? "decimal" : null,
      maxlength: o.max_length,
      autocomplete: "off",
    });
    read = () => {
      if (control.value === "") return undefined;
      if (picked && picked.name === control.value) return picked.value;
      return numeric ? Number(control.value) : control.value;
    };
  }
  const el = h(
    "div.command-field",
    null,
    h("label", { for: id, title: hint }, label, o.required && h("span.required", { "aria-hidden": "true" }, "*")),
    control,
    h("small.hint", null, hint),
    error,
  );
  if (o.autocomplete) {
    el.append(
      suggest(control, {
        label: hint,
        row: (c) => c.name,
        choose: (c) => {
          picked = c;
          control.value = c.name;
        },
        find: () => complete(app, channel, leaf, o, control.value, collect),
      }).list,
    );
  }
  const problem = () => {
    const v = read();
    if (v === undefined) return o.required ? t("Required") : "";
    if ((o.type === INTEGER && !Number.isSafeInteger(v)) || (o.type === NUMBER && !Number.isFinite(v)))
      return t("Not a number");
    if (typeof v === "number" && v < (o.min_value ?? -Infinity)) return t("At least {n}", { n: o.min_value });
    if (typeof v === "number" && v > (o.max_value ?? Infinity)) return t("At most {n}", { n: o.max_value });
    if (o.type === STRING && [...String(v)].length < (o.min_length || 0))
      return t("At least {n} character|At least {n} characters", { n: o.min_length });
    return "";
  };
  return {
    el,
    control,
    check() {
      const words = problem();
      error.hidden = !words;
      error.textContent = words;
      control.setAttribute("aria-invalid", String(!!words));
      return !words;
    },
    value() {
      const v = read();
      return v === undefined ? null : { type: o.type, name: ownName(o), value: v };
    },
  };
}

async function complete(app, channel, leaf, o, text, collect) {
  const others = collect().filter((v) => v.name !== ownName(o));
  const value = o.type === STRING ? text : text;
  let options = [...others, { type: o.type, name: ownName(o), value, focused: true }];
  for (const node of [...leaf.path].reverse()) options = [{ type: node.type, name: ownName(node), options }];
  const { command } = leaf;
  try {
    const end = await interact(app, channel, {
      type: 4,
      application_id: command.application_id,
      data: { id: command.id, name: ownName(command), type: 1, version: command.version, options },
    });
    return end.type === "APPLICATION_COMMAND_AUTOCOMPLETE_RESPONSE" ? end.d.choices || [] : [];
  } catch {
    return [];
  }
}
