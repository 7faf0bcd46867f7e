// message.js - renders a message: author, time, content, reactions, actions.
import { add, h } from "./dom.js";
import { icon } from "./icons.js";
import { avatar } from "./images.js";
import { inline } from "./markdown.js";
import { content } from "./message-content.js";
import { SYSTEM, systemLine, threadStarter } from "./message-system.js";
import { dayName, fullTime, isContinued, sameDay, stamp } from "./message-times.js";
import { foot, reactions, shortcut, threadLine, tools } from "./message-tools.js";
import { t } from "./translate.js";

export { contextOf } from "./message-content.js";
export { react } from "./message-tools.js";

const REPLY = 19,
  COMMAND = 20,
  THREAD_STARTER = 21,
  CONTEXT_COMMAND = 23,
  EPHEMERAL = 64,
  BLOCKED = 2;

/**
 * Renders a message.
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
    // An error in one message must not prevent other messages from being shown.
    reportError(e);
    parts.push(h("div.message.system", null, t("This message could not be displayed.")));
  }
  return h("li.message-item", { dataset: { id: m.id } }, parts);
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
    "aria-label": `${name}, ${fullTime.format(new Date(m.timestamp))}`,
    // A right click with Shift, or on selected text, opens the browser's own menu.
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
