// message-content.js - the content of a message: text, forwarded messages, files, embeds, stickers, polls, components.
import { component } from "./components.js";
import { h } from "./dom.js";
import { icon } from "./icons.js";
import { embed } from "./embed.js";
import { attachment } from "./images.js";
import { markdown } from "./markdown.js";
import { messageEditor } from "./message-editor.js";
import { fullTime } from "./message-times.js";
import { poll } from "./poll.js";
import { t } from "./translate.js";
import { voiceMessage } from "./voice-message.js";

const LOADING = 128,
  LAYOUT = 1 << 15,
  VOICE_MESSAGE = 1 << 13;

/** Returns functions for markdown() that return the name of a mentioned user, role or channel. */
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

/** Replaces attachment:// URLs in embeds and components by the URLs of the message's attachments. */
function withFiles(parts, files) {
  if (Array.isArray(parts)) return parts.map((x) => withFiles(x, files));
  if (!parts || typeof parts !== "object") return parts;
  const address = (k, v) =>
    (k === "url" || k === "icon_url") && typeof v === "string" && v.startsWith("attachment://")
      ? (files.get(v.slice(13)) ?? v)
      : withFiles(v, files);
  return Object.fromEntries(Object.entries(parts).map(([k, v]) => [k, address(k, v)]));
}

export function content(app, channel, m) {
  const context = contextOf(app, channel, m.mentions);
  if (m.flags & LOADING)
    return h("p.thinking", { role: "status" }, t("{name} is thinking…", { name: app.store.nameOf(m.author.id) }));
  const use = (c, values, control) => app.useComponent(channel, m, c, values, control);
  const parts = [];
  if (app.editing?.id === m.id) parts.push(messageEditor(app, channel, m));
  else if (m.content) parts.push(h("div.text", null, markdown(m.content, context), m.edited_timestamp && edited(m)));
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

/**
 * Shows a sticker as an image. A Lottie sticker (format 3) is shown as its name, because img elements cannot show it.
 */
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
  const at = fullTime.format(new Date(m.edited_timestamp));
  return h(
    "time.edited",
    { datetime: m.edited_timestamp, title: at, "aria-label": t("edited, {time}", { time: at }) },
    `(${t("edited")})`,
  );
}

/** A forwarded message: its copied content, and a link to the original message. */
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
        `#${app.store.nameOfChannel(known)} · ${fullTime.format(new Date(copy.timestamp))}`,
      ),
  );
}
