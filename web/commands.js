// commands.js - application commands, components and modals: sends interactions and shows their results.
import { announce, h } from "./dom.js";
import { appIcon } from "./images.js";
import { contextOf } from "./message.js";
import { askModal } from "./modals.js";
import { Refusal } from "./rest.js";
import { currentLanguage, t } from "./translate.js";

const SUB = 1,
  GROUP = 2;
const PATIENCE_MS = 15000; // longer than 3 seconds, after which the server itself reports that the app did not respond
const REASONS = {
  1: t("The application is offline, or its response was not valid."),
  2: t("The application did not answer within 3 seconds."),
};

let counter = 0;
export const nonce = () => `${Date.now()}${String(++counter).padStart(4, "0")}`;

/**
 * Returns the name or description of a command or option in the user's language. `name` is the name of the property.
 */
export function localised(thing, name, locale) {
  return (
    thing[`${name}_localized`] ||
    thing[`${name}_localizations`]?.[locale] ||
    thing[`${name}_localizations`]?.[currentLanguage()] ||
    thing[name]
  );
}

/** Returns the name without localization; interactions must contain this name. */
export const ownName = (thing) => thing.name_default ?? thing.name;

/* --- command lists --- */

export class CommandIndex {
  constructor(app) {
    this.app = app;
    this.cache = new Map();
    app.store.on("commands", () => this.cache.clear());
    app.store.on("ready", () => this.cache.clear());
  }
  /**
   * Returns all commands that the user can use in a channel, and their apps.
   * @returns {Promise<{commands: any[], apps: Map<string, any>}>}
   */
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

/** Returns the sub-commands of a command that a user can run. Returns the command itself if it has no sub-commands. */
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

/** Finds the commands whose names match the text. @param {string} text the text after the slash */
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

/**
 * Sends an interaction. Resolves to the event with its success or failure, or to the type SILENCE if none arrives
 * within PATIENCE_MS.
 */
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

/** Sends the interaction after the user has used a button or select menu. */
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

/** Shows the modal that an app sent as its response. */
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

/** Returns the user commands or message commands for the context menu of a user or message. */
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

/** Runs a command. Until the response arrives, shows the state of the command above the message field. */
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
