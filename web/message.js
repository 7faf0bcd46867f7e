// message.js - renders a message: author, time, content, embeds, components, reactions, polls.
import { component } from "./components.js";
import { add, h, icon, iconButton } from "./dom.js";
import { emoji, inline, markdown } from "./markdown.js";
import { attachment, avatar } from "./images.js";
import { embed } from "./embed.js";
import { poll } from "./poll.js";
import { voiceMessage } from "./voice-message.js";
import { locale, t } from "./translate.js";

const GROUPED_MS = 7 * 60 * 1000;
const REPLY = 19,
  COMMAND = 20,
  CONTEXT_COMMAND = 23,
  EPHEMERAL = 64,
  LOADING = 128,
  LAYOUT = 1 << 15,
  VOICE_MESSAGE = 1 << 13,
  THREAD_STARTER = 21,
  BLOCKED = 2;

const SYSTEM = {
  1: (name, m) => t("{name} added {other} to the group", { name, other: m.mentions?.[0]?.username || t("someone") }),
  2: (name) => t("{name} left the group", { name }),
  3: (name) => t("{name} started a call", { name }),
  4: (name, m) => t("{name} changed the group name: {text}", { name, text: m.content }),
  5: (name) => t("{name} changed the group icon", { name }),
  6: (name) => t("{name} pinned a message", { name }),
  7: (name) => t("{name} joined. Welcome!", { name }),
  8: (name) => t("{name} boosted the server", { name }),
  18: (name, m) => t("{name} started a thread: {text}", { name, text: m.content }),
  27: (name, m) => t("{name} started the stage: {text}", { name, text: m.content }),
  28: (name) => t("{name} ended the stage", { name }),
  29: (name) => t("{name} is now a speaker", { name }),
  31: (name, m) => t("{name} changed the stage’s topic: {text}", { name, text: m.content }),
  36: (name) => t("{name} turned on raid protection", { name }),
  46: (name) => t("The poll of {name} has ended", { name }),
};

const clock = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat(locale, { dateStyle: "long" });
const full = new Intl.DateTimeFormat(locale, { dateStyle: "full", timeStyle: "short" });

/** Returns the functions with which markdown() shows mentions in a channel by name. */
export function contextOf(app, channel, mentions) {
  const { store } = app,
    guild = store.guildOf(channel);
  return {
    user: (id) => {
      const known = store.user(id) || (mentions || []).find((u) => u.id === id);
      return known && { name: store.user(id) ? store.nameOf(id, guild) : known.global_name || known.username };
    },
    role: (id) => {
      const role = guild?.roles.get(id);
      return (
        role && {
          name: role.name.replace(/^@/, ""),
          color: role.color ? `#${role.color.toString(16).padStart(6, "0")}` : null,
        }
      );
    },
    channel: (id) => {
      const c = store.channels.get(id);
      return c && { name: store.nameOfChannel(c), open: () => app.openChannel(c) };
    },
  };
}

function sameDay(a, b) {
  return new Date(a.timestamp).toDateString() === new Date(b.timestamp).toDateString();
}

function isContinued(m, before) {
  return (
    before &&
    before.author.id === m.author.id &&
    before.type === 0 &&
    m.type === 0 &&
    !m.webhook_id === !before.webhook_id &&
    sameDay(m, before) &&
    before.author.username === m.author.username &&
    new Date(m.timestamp).getTime() - new Date(before.timestamp).getTime() < GROUPED_MS
  );
}

function stamp(m, small) {
  const at = new Date(m.timestamp);
  const words =
    small || at.toDateString() === new Date().toDateString()
      ? clock.format(at)
      : `${at.toLocaleDateString(locale)} ${clock.format(at)}`;
  return h("time.faint", { datetime: m.timestamp, title: full.format(at) }, words);
}

/**
 * @param {any} m @param {any} [before] the message above it
 * @param {boolean} [isNew] the first unread message; a divider is drawn above it
 * @param {{quiet?: boolean}} [how] quiet: without date and actions, for search results
 */
export function message(app, channel, m, before, isNew, how = {}) {
  const { store } = app,
    guild = store.guildOf(channel);
  const name = m.webhook_id ? m.author.username : store.nameOf(m.author.id, guild);
  const parts = [];
  if (!how.quiet && (!before || !sameDay(m, before)))
    parts.push(h("div.day", { role: "separator" }, h("span", null, dayName(new Date(m.timestamp)))));
  if (isNew) parts.push(h("div.new-divider", { role: "separator", "aria-label": t("New messages") }, t("New")));
  try {
    const drawn = SYSTEM[m.type]
      ? systemLine(app, m, name)
      : m.type === THREAD_STARTER
        ? threadStarter(app, channel, m, guild)
        : body(app, channel, m, isNew ? null : before, name, guild, how);
    const blocked = store.relationships.get(m.author.id)?.type === BLOCKED;
    parts.push(blocked ? h("details.blocked", null, h("summary", null, t("Blocked message")), drawn) : drawn);
  } catch (e) {
    // An error in one message must not prevent the others from being shown.
    reportError(e);
    parts.push(h("div.message.system", null, t("This message could not be displayed.")));
  }
  return h("li.message-item", { dataset: { id: m.id } }, parts);
}

function dayName(date) {
  const today = new Date().toDateString(),
    yesterday = new Date(Date.now() - 86400000).toDateString();
  return date.toDateString() === today
    ? t("Today")
    : date.toDateString() === yesterday
      ? t("Yesterday")
      : day.format(date);
}

function systemLine(app, m, name) {
  return h(
    "div.message.system",
    null,
    h("span.system-mark", { "aria-hidden": "true" }, "→"),
    h("span", null, SYSTEM[m.type](name, m)),
    " ",
    stamp(m),
  );
}

/** The first entry of a thread that was started from a message: shows this message of the parent channel. */
function threadStarter(app, channel, m, guild) {
  const first = m.referenced_message;
  if (!first) return h("div.message.system", null, t("The message that started this thread was deleted."));
  const name = first.webhook_id ? first.author.username : app.store.nameOf(first.author.id, guild);
  return h(
    "article.message",
    { tabindex: -1, "aria-label": `${name}, ${full.format(new Date(first.timestamp))}` },
    h("span.gutter", null, avatar(first.author, name)),
    h(
      "div.message-body",
      null,
      h("header", null, h("span.author", null, name), stamp(first)),
      content(app, app.store.channels.get(first.channel_id) || channel, first),
    ),
  );
}

function body(app, channel, m, before, name, guild, how) {
  const continued = isContinued(m, before) && m.type !== REPLY;
  const color = app.store.colorOf(m.author.id, guild);
  const el = h("article.message", {
    class: [
      continued ? "continued" : "",
      m.flags & EPHEMERAL ? "ephemeral" : "",
      mentionsMe(app, m) ? "mentions-me" : "",
    ].join(" "),
    tabindex: -1,
    "aria-label": `${name}, ${full.format(new Date(m.timestamp))}`,
    // With Shift, or on selected text, a right click opens the menu of the browser instead.
    oncontextmenu: (e) => {
      if (e.shiftKey || e.ctrlKey || !getSelection().isCollapsed || e.target.closest("input, textarea")) return;
      e.preventDefault();
      app.messageMenu(channel, m, e);
    },
    onkeydown: (e) => e.target === el && shortcut(app, channel, m, e),
  });
  add(el, [
    m.type === REPLY && replyLine(app, m, guild),
    (m.type === COMMAND || m.type === CONTEXT_COMMAND) && commandLine(app, m, guild),
    continued
      ? h("span.gutter", null, stamp(m, true))
      : h(
          "button.gutter.plain",
          {
            type: "button",
            "aria-label": t("Profile of {name}", { name }),
            onclick: (e) => app.showProfile(m.author.id, e.currentTarget),
          },
          avatar(m.author, name),
        ),
    h(
      "div.message-body",
      null,
      !continued &&
        h(
          "header",
          null,
          h("span.author", { style: color ? { "--role": color } : null }, name),
          m.author.bot && h("span.tag", null, m.webhook_id && !m.application_id ? "HOOK" : "APP"),
          stamp(m),
        ),
      content(app, channel, m),
      reactions(app, channel, m),
      threadLine(app, m),
      foot(app, channel, m),
    ),
    !how.quiet && tools(app, channel, m, guild),
  ]);
  return el;
}

function mentionsMe(app, m) {
  const me = app.store.me?.id;
  return m.author.id !== me && (m.mention_everyone || (m.mentions || []).some((u) => u.id === me));
}

function replyLine(app, m, guild) {
  const other = m.referenced_message;
  const jump = () => other && app.jumpTo?.(other.id, m.message_reference?.channel_id);
  return h(
    "button.reply-line.plain",
    { type: "button", onclick: jump, title: other ? t("Jump to the original message") : null },
    icon("reply"),
    other
      ? [
          h("strong", null, app.store.nameOf(other.author.id, guild)),
          h("span.clip", null, inline((other.content || t("A message without text")).slice(0, 120), {})),
        ]
      : h("em", null, t("The message was deleted")),
  );
}

function commandLine(app, m, guild) {
  const meta = m.interaction_metadata || m.interaction,
    user = meta?.user || {};
  return h(
    "div.reply-line",
    null,
    icon("bolt"),
    h("strong", null, user.id ? app.store.keepUser(user) && app.store.nameOf(user.id, guild) : t("Someone")),
    " ",
    t("used"),
    " ",
    h(
      "span.mention",
      null,
      (m.interaction?.name && `${m.type === COMMAND ? "/" : ""}${m.interaction.name}`) || t("a command"),
    ),
  );
}

/** Replaces attachment:// URLs by the URLs of the message's attachments. */
function withFiles(parts, files) {
  if (Array.isArray(parts)) return parts.map((x) => withFiles(x, files));
  if (!parts || typeof parts !== "object") return parts;
  const address = (k, v) =>
    (k === "url" || k === "icon_url") && typeof v === "string" && v.startsWith("attachment://")
      ? (files.get(v.slice(13)) ?? v)
      : withFiles(v, files);
  return Object.fromEntries(Object.entries(parts).map(([k, v]) => [k, address(k, v)]));
}

function content(app, channel, m) {
  const context = contextOf(app, channel, m.mentions);
  if (m.flags & LOADING)
    return h("p.thinking", { role: "status" }, t("{name} is thinking…", { name: app.store.nameOf(m.author.id) }));
  const use = (c, values, control) => app.useComponent(channel, m, c, values, control);
  const parts = [];
  if (m.content) parts.push(h("div.text", null, markdown(m.content, context), m.edited_timestamp && edited(m)));
  for (const s of m.message_snapshots || []) parts.push(forwarded(app, channel, m, s.message));
  const byName = new Map((m.attachments || []).map((a) => [a.filename, a.url])),
    drawn = (x) => (byName.size ? withFiles(x, byName) : x) || [];
  const inEmbeds = JSON.stringify(byName.size ? m.embeds || [] : []);
  const files = (m.attachments || []).filter(
    (a) => (!(m.flags & LAYOUT) || !a.url) && !inEmbeds.includes(`"attachment://${a.filename}"`),
  );
  if (m.flags & VOICE_MESSAGE && files.length) parts.push(voiceMessage(files[0]));
  else if (files.length) parts.push(h("div.attachments", null, files.map(attachment)));
  for (const e of drawn(m.embeds)) parts.push(embed(e, context));
  for (const s of m.sticker_items || []) parts.push(sticker(s));
  if (m.poll) parts.push(poll(app, channel, m));
  if (m.components?.length)
    parts.push(
      h(
        "div.components",
        { class: m.flags & LAYOUT ? "layout" : "" },
        drawn(m.components).map((c) => component(c, { use, app, channel, context, message: m })),
      ),
    );
  return parts;
}

/** A sticker as an image. For a Lottie sticker (format 3), which img elements cannot show, only its name. */
function sticker(s) {
  if (s.format_type === 3) return h("div.sticker", null, s.name);
  return h("img.sticker", {
    src: `/stickers/${s.id}.${s.format_type === 4 ? "gif" : "png"}`,
    alt: s.name,
    title: s.name,
    loading: "lazy",
  });
}

function edited(m) {
  const at = full.format(new Date(m.edited_timestamp));
  return h(
    "time.edited",
    { datetime: m.edited_timestamp, title: at, "aria-label": t("edited, {time}", { time: at }) },
    `(${t("edited")})`,
  );
}

/** A forwarded message: a copy of its content, with a link to the original. */
function forwarded(app, channel, m, copy) {
  const from = m.message_reference || {},
    known = app.store.channels.get(from.channel_id);
  return h(
    "blockquote.forwarded",
    null,
    h("p.faint.forwarded-head", null, icon("forward"), t("Forwarded")),
    content(app, known || channel, { ...copy, id: m.id, author: m.author, flags: copy.flags & ~LOADING }),
    known &&
      h(
        "button.link",
        { type: "button", onclick: () => app.jumpTo(from.message_id, from.channel_id) },
        `#${app.store.nameOfChannel(known)} · ${full.format(new Date(copy.timestamp))}`,
      ),
  );
}

/** Handles the keyboard shortcuts of a focused message. */
function shortcut(app, channel, m, e) {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  const own = m.author.id === app.store.me.id;
  const run = {
    e: own && (() => app.editMessage(channel, m)),
    r: app.store.may(channel, "SEND_MESSAGES") && (() => app.replyTo(m)),
    f: () => app.forward(channel, m),
    Delete: () => app.deleteMessage(channel, m, e.shiftKey),
  }[e.key];
  if (!run) return;
  e.preventDefault();
  run();
}

function emojiPath(e) {
  return encodeURIComponent(e.id ? `${e.name}:${e.id}` : e.name);
}

function reactions(app, channel, m) {
  if (!m.reactions?.length) return null;
  return h(
    "div.reactions",
    { role: "group", "aria-label": t("Reactions") },
    m.reactions.map((r) =>
      h(
        "button.reaction",
        {
          type: "button",
          "aria-pressed": String(r.me),
          "aria-label": `${r.emoji.name}, ${r.count}`,
          onclick: () =>
            app.tryCall(
              app.rest.call(
                r.me ? "DELETE" : "PUT",
                `/channels/${channel.id}/messages/${m.id}/reactions/${emojiPath(r.emoji)}/@me`,
              ),
            ),
        },
        emoji(r.emoji.name, r.emoji.id, r.emoji.animated),
        h("span", null, r.count),
      ),
    ),
  );
}

export function react(app, channel, m, e) {
  return app.tryCall(app.rest.put(`/channels/${channel.id}/messages/${m.id}/reactions/${emojiPath(e)}/@me`));
}

function threadLine(app, m) {
  if (!m.thread) return null;
  const open = () => app.openChannel(app.store.channels.get(m.thread.id) || m.thread);
  return h(
    "button.thread-line",
    { type: "button", onclick: open },
    icon("thread"),
    h("strong", null, m.thread.name),
    h("span.faint", null, t("{n} message|{n} messages", { n: m.thread.message_count ?? 0 })),
  );
}

function foot(app, channel, m) {
  const notes = [];
  if (m.flags & EPHEMERAL) {
    notes.push(
      h(
        "p.ephemeral-note",
        null,
        "◉ ",
        t("Only you can see this"),
        " · ",
        h(
          "button.link",
          { type: "button", onclick: () => app.store.changeMessage(channel.id, m.id, () => null) },
          t("Dismiss"),
        ),
      ),
    );
  }
  const problem = app.problems.get(m.id);
  if (problem) notes.push(h("p.field-error", { role: "alert" }, problem));
  return notes;
}

function tools(app, channel, m, guild) {
  if (m.flags & (EPHEMERAL | LOADING)) return null;
  const quick = ["👍", "❤️", "😂"];
  return h(
    "div.tools",
    { role: "group", "aria-label": t("Actions") },
    app.store.may(channel, "ADD_REACTIONS") &&
      quick.map((e) =>
        h(
          "button.icon-button",
          {
            type: "button",
            "aria-label": t("React with {emoji}", { emoji: e }),
            onclick: () => react(app, channel, m, { name: e }),
          },
          e,
        ),
      ),
    app.store.may(channel, "ADD_REACTIONS") &&
      iconButton("smile", t("Add a reaction"), (e) =>
        app.pickEmoji(guild, e.currentTarget, (x) => react(app, channel, m, x)),
      ),
    app.store.may(channel, "SEND_MESSAGES") && iconButton("reply", t("Reply"), () => app.replyTo(m)),
    m.author.id === app.store.me.id && iconButton("edit", t("Edit"), () => app.editMessage(channel, m)),
    iconButton("more", t("More"), (e) => app.messageMenu(channel, m, e.currentTarget)),
  );
}
