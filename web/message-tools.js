// message-tools.js - actions for a message: react, reply, edit, open its thread, keyboard shortcuts.
import { h } from "./dom.js";
import { icon, iconButton } from "./icons.js";
import { emoji } from "./markdown.js";
import { t } from "./translate.js";

const EPHEMERAL = 64,
  LOADING = 128;

export const showReactions = async (app, channel, m, first) =>
  (await import("./reaction-list.js")).showReactions(app, channel, m, first);

/** Handles the keyboard shortcuts of a focused message. */
export function shortcut(app, channel, m, e) {
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

export function emojiPath(e) {
  return encodeURIComponent(e.id ? `${e.name}:${e.id}` : e.name);
}

export function reactions(app, channel, m) {
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
          title: t("Right click: who has reacted"),
          oncontextmenu: (e) => {
            e.preventDefault();
            e.stopPropagation();
            showReactions(app, channel, m, r);
          },
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

export function threadLine(app, m) {
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

export function foot(app, channel, m) {
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

export function tools(app, channel, m, guild) {
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
