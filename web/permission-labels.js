// permission-labels.js - the labels of the permissions.
import { PERMISSIONS } from "./permissions.js";
import { t } from "./translate.js";

/** @type {Record<keyof typeof PERMISSIONS, string>} */
export const PERMISSION_LABELS = {
  CREATE_INSTANT_INVITE: t("Create invites"),
  KICK_MEMBERS: t("Kick members"),
  BAN_MEMBERS: t("Ban members"),
  ADMINISTRATOR: t("Administrator"),
  MANAGE_CHANNELS: t("Manage channels"),
  MANAGE_GUILD: t("Manage server"),
  ADD_REACTIONS: t("Add reactions"),
  VIEW_AUDIT_LOG: t("View audit log"),
  PRIORITY_SPEAKER: t("Priority speaker"),
  STREAM: t("Video and screen sharing"),
  VIEW_CHANNEL: t("View channels"),
  SEND_MESSAGES: t("Send messages"),
  SEND_TTS_MESSAGES: t("Send text-to-speech messages"),
  MANAGE_MESSAGES: t("Manage messages"),
  EMBED_LINKS: t("Embed links"),
  ATTACH_FILES: t("Attach files"),
  READ_MESSAGE_HISTORY: t("Read message history"),
  MENTION_EVERYONE: t("Mention @everyone, @here and all roles"),
  USE_EXTERNAL_EMOJIS: t("Use external emoji"),
  CONNECT: t("Join voice channels"),
  SPEAK: t("Speak"),
  MUTE_MEMBERS: t("Mute members"),
  DEAFEN_MEMBERS: t("Deafen members"),
  MOVE_MEMBERS: t("Move members"),
  CHANGE_NICKNAME: t("Change own nickname"),
  MANAGE_NICKNAMES: t("Manage nicknames"),
  MANAGE_ROLES: t("Manage roles"),
  MANAGE_WEBHOOKS: t("Manage webhooks"),
  MANAGE_EXPRESSIONS: t("Manage emoji and stickers"),
  USE_APPLICATION_COMMANDS: t("Use application commands"),
  REQUEST_TO_SPEAK: t("Request to speak"),
  MANAGE_THREADS: t("Manage threads"),
  CREATE_PUBLIC_THREADS: t("Create public threads"),
  CREATE_PRIVATE_THREADS: t("Create private threads"),
  SEND_MESSAGES_IN_THREADS: t("Send messages in threads"),
  MODERATE_MEMBERS: t("Time out members"),
  VIEW_GUILD_INSIGHTS: t("View server insights"),
  USE_VAD: t("Use voice activity"),
  MANAGE_EVENTS: t("Manage events"),
  USE_EXTERNAL_STICKERS: t("Use external stickers"),
  USE_EMBEDDED_ACTIVITIES: t("Use activities"),
  VIEW_CREATOR_MONETIZATION_ANALYTICS: t("View subscription revenue"),
  USE_SOUNDBOARD: t("Use soundboard"),
  CREATE_EXPRESSIONS: t("Create emoji and stickers"),
  CREATE_EVENTS: t("Create events"),
  USE_EXTERNAL_SOUNDS: t("Use external sounds"),
  SEND_VOICE_MESSAGES: t("Send voice messages"),
  SET_VOICE_CHANNEL_STATUS: t("Set voice channel status"),
  SEND_POLLS: t("Create polls"),
  USE_EXTERNAL_APPS: t("Use external apps"),
  PIN_MESSAGES: t("Pin messages"),
  BYPASS_SLOWMODE: t("Bypass slow mode"),
};

/**
 * Returns the labels of the permissions in a bit set. For an unknown bit, returns its number.
 * @param {string|null} bits
 */
export function rightNames(bits) {
  const names = new Map(Object.entries(PERMISSIONS).map(([name, n]) => [n, PERMISSION_LABELS[name]]));
  const all = BigInt(bits || 0),
    set = Array.from(all.toString(2))
      .reverse()
      .flatMap((one, n) => (one === "1" ? [n] : []));
  return set.map((n) => names.get(n) ?? t("Unknown permission (bit {n})", { n }));
}
