// message-system.js - system messages: joins, pins, calls, the beginning of a thread.
import { h } from "./dom.js";
import { avatar } from "./images.js";
import { content } from "./message-content.js";
import { fullTime, stamp } from "./message-times.js";
import { t } from "./translate.js";

export const SYSTEM = {
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

export function systemLine(app, m, name) {
  return h(
    "div.message.system",
    null,
    h("span.system-mark", { "aria-hidden": "true" }, "→"),
    h("span", null, SYSTEM[m.type](name, m)),
    " ",
    stamp(m),
  );
}

/**
 * The first message of a thread that was started from a message: shows the message from which the thread was started.
 */
export function threadStarter(app, channel, m, guild) {
  const first = m.referenced_message;
  if (!first) return h("div.message.system", null, t("The message that started this thread was deleted."));
  const name = first.webhook_id ? first.author.username : app.store.nameOf(first.author.id, guild);
  return h(
    "article.message",
    { tabindex: -1, "aria-label": `${name}, ${fullTime.format(new Date(first.timestamp))}` },
    h("span.gutter", null, avatar(first.author, name)),
    h(
      "div.message-body",
      null,
      h("header", null, h("span.author", null, name), stamp(first)),
      content(app, app.store.channels.get(first.channel_id) || channel, first),
    ),
  );
}
