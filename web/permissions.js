// permissions.js - computes a member's permissions in a guild or channel from roles and overwrites.

/** The permissions with their bit numbers, as in permissions.def of the server. */
export const PERMISSIONS = {
  CREATE_INSTANT_INVITE: 0,
  KICK_MEMBERS: 1,
  BAN_MEMBERS: 2,
  ADMINISTRATOR: 3,
  MANAGE_CHANNELS: 4,
  MANAGE_GUILD: 5,
  ADD_REACTIONS: 6,
  VIEW_AUDIT_LOG: 7,
  PRIORITY_SPEAKER: 8,
  STREAM: 9,
  VIEW_CHANNEL: 10,
  SEND_MESSAGES: 11,
  SEND_TTS_MESSAGES: 12,
  MANAGE_MESSAGES: 13,
  EMBED_LINKS: 14,
  ATTACH_FILES: 15,
  READ_MESSAGE_HISTORY: 16,
  MENTION_EVERYONE: 17,
  USE_EXTERNAL_EMOJIS: 18,
  VIEW_GUILD_INSIGHTS: 19,
  CONNECT: 20,
  SPEAK: 21,
  MUTE_MEMBERS: 22,
  DEAFEN_MEMBERS: 23,
  MOVE_MEMBERS: 24,
  USE_VAD: 25,
  CHANGE_NICKNAME: 26,
  MANAGE_NICKNAMES: 27,
  MANAGE_ROLES: 28,
  MANAGE_WEBHOOKS: 29,
  MANAGE_EXPRESSIONS: 30,
  USE_APPLICATION_COMMANDS: 31,
  REQUEST_TO_SPEAK: 32,
  MANAGE_EVENTS: 33,
  MANAGE_THREADS: 34,
  CREATE_PUBLIC_THREADS: 35,
  CREATE_PRIVATE_THREADS: 36,
  USE_EXTERNAL_STICKERS: 37,
  SEND_MESSAGES_IN_THREADS: 38,
  USE_EMBEDDED_ACTIVITIES: 39,
  MODERATE_MEMBERS: 40,
  VIEW_CREATOR_MONETIZATION_ANALYTICS: 41,
  USE_SOUNDBOARD: 42,
  CREATE_EXPRESSIONS: 43,
  CREATE_EVENTS: 44,
  USE_EXTERNAL_SOUNDS: 45,
  SEND_VOICE_MESSAGES: 46,
  SET_VOICE_CHANNEL_STATUS: 48,
  SEND_POLLS: 49,
  USE_EXTERNAL_APPS: 50,
  PIN_MESSAGES: 51,
  BYPASS_SLOWMODE: 52,
};
const bit = (name) => 1n << BigInt(PERMISSIONS[name]);
const EVERYTHING = ~0n;

/** @returns {bigint} */
export function guildPermissions(guild, member) {
  if (!guild || !member) return 0n;
  if (guild.owner_id === member.user.id) return EVERYTHING;
  let permissions = BigInt(guild.roles.get(guild.id)?.permissions || 0);
  for (const id of member.roles || []) permissions |= BigInt(guild.roles.get(id)?.permissions || 0);
  return permissions & bit("ADMINISTRATOR") ? EVERYTHING : permissions;
}

/** @returns {bigint} */
export function channelPermissions(guild, member, channel) {
  let permissions = guildPermissions(guild, member);
  if (permissions === EVERYTHING || !channel) return permissions;
  const list = channel.permission_overwrites || [];
  const own = new Set(member?.roles || []);
  const change = (deny, allow) => {
    permissions = (permissions & ~BigInt(deny)) | BigInt(allow);
  };
  const everyone = list.find((o) => o.id === guild.id);
  if (everyone) change(everyone.deny, everyone.allow);
  let deny = 0n,
    allow = 0n;
  for (const o of list) {
    if (!own.has(o.id)) continue;
    deny |= BigInt(o.deny);
    allow |= BigInt(o.allow);
  }
  change(deny, allow);
  const mine = list.find((o) => o.id === member?.user.id);
  if (mine) change(mine.deny, mine.allow);
  return permissions;
}

/**
 * Returns true if the bit set contains a permission.
 * @param {bigint} permissions @param {keyof typeof PERMISSIONS} name
 */
export const allows = (permissions, name) => (permissions & bit(name)) !== 0n;
export const rightBit = bit;
