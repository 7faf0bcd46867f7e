// composer-suggestions.js - suggestions in the message field: commands, people, roles, channels, emoji.
import { commandRow, findCommands } from "./commands.js";
import { h } from "./dom.js";
import { icon } from "./icons.js";
import { findEmoji, withTone } from "./emoji-names.js";
import { avatar } from "./images.js";
import { emoji } from "./markdown.js";
import { t } from "./translate.js";

const MOST = 8;
const WORD = /(?:^|[\s(])([@#:][^\s@#:]*)$/;

/** Returns the unfinished name before the cursor, such as "@bo". @param {HTMLTextAreaElement} input */
export const wordBefore = (input) => WORD.exec(input.value.slice(0, input.selectionStart))?.[1] || "";

/**
 * Finds the commands for a typed command line.
 * @param {any} app @param {any} channel @param {string} line the command line without "/"
 */
export async function findCommandsFor(app, channel, line) {
  const found = await findCommands(app, channel, line).catch(() => []);
  return found.map((leaf) => ({ leaf, group: leaf.app?.name }));
}

/**
 * Finds users, roles, channels or emoji for a typed name.
 * @param {any} app
 * @param {any} channel
 * @param {string} word "@bo", "#gen", ":smi"
 */
export async function findNames(app, channel, word) {
  const { store } = app,
    guild = store.guildOf(channel),
    text = word.slice(1).toLowerCase();
  if (word[0] === "@") return findMentions(app, channel, guild, text);
  if (word[0] === "#" && guild)
    return store
      .channelsOf(guild)
      .filter((c) => c.name?.toLowerCase().includes(text) && c.type !== 4)
      .slice(0, MOST)
      .map((c) => ({ channel: c, group: t("Channels") }));
  if (word[0] !== ":" || text.length < 2) return [];
  const own = (guild?.emojis || []).filter((e) => e.name.toLowerCase().includes(text)).slice(0, MOST);
  const found = await findEmoji(text, MOST);
  return [...own, ...found].slice(0, MOST).map((e) => ({ emoji: e, group: t("Emoji") }));
}

async function findMentions(app, channel, guild, text) {
  const { store } = app;
  const people = guild
    ? await store.findPeople(guild, text)
    : (channel.recipients || []).filter((u) => `${store.nameOf(u.id)} ${u.username}`.toLowerCase().includes(text));
  const everyone = guild && store.may(channel, "MENTION_EVERYONE");
  const roles = guild
    ? [...guild.roles.values()].filter(
        (r) => r.id !== guild.id && (r.mentionable || everyone) && r.name.toLowerCase().includes(text),
      )
    : [];
  return [
    ...people.slice(0, MOST).map((user) => ({ user, group: t("Members") })),
    ...roles.slice(0, MOST).map((role) => ({ role, group: t("Roles") })),
    ...(everyone ? ["@everyone", "@here"] : [])
      .filter((x) => x.slice(1).startsWith(text))
      .map((word) => ({ word, group: t("Roles") })),
  ];
}

export function suggestionRow(app, guild, s) {
  if (s.leaf) return commandRow(s.leaf);
  const main = (words) => h("span.suggestion-main", null, h("strong", null, words));
  if (s.user)
    return [
      avatar(s.user, "", "tiny-avatar"),
      main(app.store.nameOf(s.user.id, guild)),
      h("span.faint", null, `@${s.user.username}`),
    ];
  if (s.role) {
    const color = s.role.color ? { "--role": `#${s.role.color.toString(16).padStart(6, "0")}` } : null;
    return [icon("people"), h("span.suggestion-main.author", { style: color }, `@${s.role.name}`)];
  }
  if (s.word)
    return [
      icon("people"),
      main(s.word),
      h(
        "span.faint",
        null,
        s.word === "@here"
          ? t("notifies everybody in the channel who is online")
          : t("notifies everybody in the channel"),
      ),
    ];
  if (s.channel) return [icon("hash"), main(s.channel.name)];
  return [
    emoji(s.emoji.id ? s.emoji.name : withTone(s.emoji), s.emoji.id, s.emoji.animated),
    main(`:${s.emoji.names?.[0] || s.emoji.name}:`),
  ];
}

/**
 * Returns the text that is inserted when a suggestion is chosen.
 * @param {import("./mention-names.js").MentionNames} names
 */
export function suggestionText(names, s) {
  if (s.user) return `${names.user(s.user)} `;
  if (s.role) return `${names.role(s.role)} `;
  if (s.word) return `${s.word} `;
  if (s.channel) return `${names.channel(s.channel)} `;
  return `${s.emoji.id ? names.emoji(s.emoji) : withTone(s.emoji)} `;
}
