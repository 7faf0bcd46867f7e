// right-words.js - what the rights are called.
import { RIGHTS } from "./rights.js";
import { t } from "./words.js";

/** @type {Record<keyof typeof RIGHTS, string>} */
export const RIGHT_WORDS = {
  CREATE_INSTANT_INVITE: t("Make invites"),
  KICK_MEMBERS: t("Kick members"),
  BAN_MEMBERS: t("Ban members"),
  ADMINISTRATOR: t("Everything"),
  MANAGE_CHANNELS: t("Manage channels"),
  MANAGE_GUILD: t("Manage the server"),
  ADD_REACTIONS: t("Add reactions"),
  VIEW_AUDIT_LOG: t("Read the audit log"),
  PRIORITY_SPEAKER: t("Be heard first"),
  STREAM: t("Stream"),
  VIEW_CHANNEL: t("See channels"),
  SEND_MESSAGES: t("Send messages"),
  SEND_TTS_MESSAGES: t("Send messages that are read out"),
  MANAGE_MESSAGES: t("Manage messages"),
  EMBED_LINKS: t("Embed links"),
  ATTACH_FILES: t("Attach files"),
  READ_MESSAGE_HISTORY: t("Read older messages"),
  MENTION_EVERYONE: t("Mention everyone"),
  USE_EXTERNAL_EMOJIS: t("Use emoji of other servers"),
  CONNECT: t("Join voice channels"),
  SPEAK: t("Speak"),
  MUTE_MEMBERS: t("Mute members"),
  DEAFEN_MEMBERS: t("Deafen members"),
  MOVE_MEMBERS: t("Move members"),
  CHANGE_NICKNAME: t("Change the own nickname"),
  MANAGE_NICKNAMES: t("Manage nicknames"),
  MANAGE_ROLES: t("Manage roles"),
  MANAGE_WEBHOOKS: t("Manage webhooks"),
  MANAGE_EXPRESSIONS: t("Manage emoji and stickers"),
  USE_APPLICATION_COMMANDS: t("Use commands"),
  REQUEST_TO_SPEAK: t("Ask to speak"),
  MANAGE_THREADS: t("Manage threads"),
  CREATE_PUBLIC_THREADS: t("Start public threads"),
  CREATE_PRIVATE_THREADS: t("Start private threads"),
  SEND_MESSAGES_IN_THREADS: t("Write in threads"),
  MODERATE_MEMBERS: t("Time members out"),
  VIEW_GUILD_INSIGHTS: t("See the server’s figures"),
  USE_VAD: t("Speak without pressing a key"),
  MANAGE_EVENTS: t("Manage events"),
  USE_EXTERNAL_STICKERS: t("Use stickers of other servers"),
  USE_EMBEDDED_ACTIVITIES: t("Use activities"),
  VIEW_CREATOR_MONETIZATION_ANALYTICS: t("See what subscriptions bring in"),
  USE_SOUNDBOARD: t("Use the soundboard"),
  CREATE_EXPRESSIONS: t("Add emoji and stickers"),
  CREATE_EVENTS: t("Make events"),
  USE_EXTERNAL_SOUNDS: t("Use sounds of other servers"),
  SEND_VOICE_MESSAGES: t("Send voice messages"),
  SET_VOICE_CHANNEL_STATUS: t("Set the status of voice channels"),
  SEND_POLLS: t("Make polls"),
  USE_EXTERNAL_APPS: t("Use apps of their own"),
  PIN_MESSAGES: t("Pin messages"),
  BYPASS_SLOWMODE: t("Ignore slow mode"),
};

/** Every bit of a number of rights, in words; one that has none is called by its number. @param {string|null} bits */
export function rightNames(bits) {
  const names = new Map(Object.entries(RIGHTS).map(([name, n]) => [n, RIGHT_WORDS[name]]));
  const all = BigInt(bits || 0),
    set = Array.from(all.toString(2))
      .reverse()
      .flatMap((one, n) => (one === "1" ? [n] : []));
  return set.map((n) => names.get(n) ?? t("Right no. {n}", { n }));
}
