// audit-words.js - texts for the actions of the audit log, and for the changes of an audit log entry.
import { rightNames } from "../../permission-labels.js";
import { locale, t } from "../../translate.js";

/** @type {Record<number, string>} */
export const ACTION_WORDS = {
  1: t("changed the server"),
  10: t("created a channel"),
  11: t("changed a channel"),
  12: t("deleted a channel"),
  13: t("added permissions in a channel"),
  14: t("changed permissions in a channel"),
  15: t("removed permissions in a channel"),
  20: t("kicked"),
  21: t("removed inactive members"),
  22: t("banned"),
  23: t("unbanned"),
  24: t("changed the member"),
  25: t("changed the roles of"),
  26: t("moved a member in voice"),
  27: t("disconnected a member from voice"),
  28: t("added the bot"),
  30: t("created a role"),
  31: t("changed a role"),
  32: t("deleted a role"),
  40: t("created an invite"),
  42: t("deleted an invite"),
  50: t("created a webhook"),
  51: t("changed a webhook"),
  52: t("deleted a webhook"),
  60: t("created an emoji"),
  61: t("changed an emoji"),
  62: t("deleted an emoji"),
  72: t("deleted a message of"),
  73: t("deleted messages"),
  74: t("pinned a message"),
  75: t("unpinned a message"),
  80: t("added an integration"),
  81: t("changed an integration"),
  82: t("removed an integration"),
  83: t("started a stage"),
  84: t("changed a stage"),
  85: t("ended a stage"),
  110: t("created a thread"),
  111: t("changed a thread"),
  112: t("deleted a thread"),
  121: t("changed command permissions"),
  90: t("created a sticker"),
  91: t("changed a sticker"),
  92: t("deleted a sticker"),
  100: t("created an event"),
  101: t("changed an event"),
  102: t("deleted an event"),
  130: t("created a soundboard sound"),
  131: t("changed a soundboard sound"),
  132: t("deleted a soundboard sound"),
  140: t("created an AutoMod rule"),
  141: t("changed an AutoMod rule"),
  142: t("deleted an AutoMod rule"),
  143: t("blocked a message of"),
  144: t("sent an AutoMod alert about"),
  145: t("timed out by AutoMod:"),
  146: t("quarantined by AutoMod:"),
  163: t("created an onboarding question"),
  164: t("changed an onboarding question"),
  165: t("deleted an onboarding question"),
  166: t("created the onboarding"),
  167: t("changed the onboarding"),
  192: t("set the voice channel status"),
  193: t("removed the voice channel status"),
};

/** Labels of the properties that an audit log entry can change. */
const KEY_WORDS = {
  name: t("Name"),
  topic: t("Topic"),
  description: t("Description"),
  nick: t("Nickname"),
  color: t("Colour"),
  hoist: t("Display separately in the member list"),
  mentionable: t("Allow anyone to mention this role"),
  position: t("Position"),
  permissions: t("Permissions"),
  allow: t("Allowed permissions"),
  deny: t("Denied permissions"),
  rate_limit_per_user: t("Slow mode"),
  nsfw: t("Age-restricted channel"),
  bitrate: t("Bitrate"),
  user_limit: t("User limit"),
  parent_id: t("Category"),
  channel_id: t("Channel"),
  system_channel_id: t("Channel for system messages"),
  inviter_id: t("Created by"),
  owner_id: t("Owner"),
  type: t("Type"),
  code: t("Code"),
  max_age: t("Expires after"),
  max_uses: t("Maximum number of uses"),
  uses: t("Times used"),
  temporary: t("Temporary membership"),
  communication_disabled_until: t("Timed out until"),
  $add: t("Roles added"),
  $remove: t("Roles removed"),
  icon_hash: t("Icon"),
  avatar_hash: t("Avatar"),
  status: t("Status"),
  enabled: t("Enabled"),
  location: t("Location"),
  tags: t("Related emoji"),
  archived: t("Archived"),
  locked: t("Locked"),
  mfa_level: t("Require two-factor authentication for moderators"),
  verification_level: t("Verification level"),
  default_message_notifications: t("Notifications"),
};

/** Properties that are not shown, because only programs use them. */
const HIDDEN = new Set(["id", "guild_id", "application_id", "permission_overwrites", "flags", "format_type", "asset"]);
const SECONDS = new Set(["rate_limit_per_user", "max_age"]),
  TIMES = new Set(["communication_disabled_until", "scheduled_start_time", "scheduled_end_time"]),
  PERMISSION_FIELDS = new Set(["permissions", "allow", "deny"]);

const keyWords = (key) =>
  KEY_WORDS[key] || (key.charAt(0).toUpperCase() + key.slice(1)).replaceAll("_", " ").replace(/ id$/, "");

function span(seconds) {
  const n = Number(seconds);
  if (!n) return t("none");
  if (n % 86400 === 0) return t("{n} day|{n} days", { n: n / 86400 });
  if (n % 3600 === 0) return t("{n} hour|{n} hours", { n: n / 3600 });
  return n % 60 === 0 ? t("{n} minute|{n} minutes", { n: n / 60 }) : t("{n} second|{n} seconds", { n });
}

/** Returns a value in readable form. @param {(id: string) => string|undefined} nameOf */
function valueWords(key, value, nameOf) {
  if (value === null || value === undefined || value === "") return t("none");
  if (value === true) return t("yes");
  if (value === false) return t("no");
  if (key === "color" || key === "colors")
    return value
      ? `#${Number(value.primary_color ?? value)
          .toString(16)
          .padStart(6, "0")}`
      : t("none");
  if (SECONDS.has(key)) return span(value);
  if (key === "bitrate") return `${Number(value) / 1000} kbps`;
  if (TIMES.has(key)) return new Date(value).toLocaleString(locale);
  if (key.endsWith("_hash")) return t("a picture");
  if (Array.isArray(value))
    return (
      value.map((x) => x?.name || nameOf(String(x)) || (typeof x === "object" ? "…" : String(x))).join(", ") ||
      t("none")
    );
  if (typeof value === "object") return Object.keys(value).length ? JSON.stringify(value) : t("none");
  return (/^\d{15,20}$/.test(String(value)) && nameOf(String(value))) || String(value);
}

/** Returns a text with the permissions that a change added and removed. */
function permissionWords(key, before, now) {
  const old = BigInt(before || 0),
    next = BigInt(now || 0),
    added = rightNames(String(next & ~old)),
    removed = rightNames(String(old & ~next));
  return [
    added.length && `${keyWords(key)}: + ${added.join(", ")}`,
    removed.length && `${keyWords(key)}: − ${removed.join(", ")}`,
  ].filter(Boolean);
}

/**
 * Returns one text for each change of an audit log entry.
 * @param {any} e
 * @param {(id: string) => string|undefined} nameOf
 */
export function changeLines(e, nameOf) {
  const options = e.options || {};
  const lines = (e.changes || []).flatMap((c) => {
    if (HIDDEN.has(c.key)) return [];
    if (PERMISSION_FIELDS.has(c.key)) return permissionWords(c.key, c.old_value, c.new_value);
    const before = valueWords(c.key, c.old_value, nameOf),
      now = valueWords(c.key, c.new_value, nameOf);
    if (c.old_value === undefined || before === now) return [`${keyWords(c.key)}: ${now}`];
    if (c.new_value === undefined) return [`${keyWords(c.key)}: ${before}`];
    return [`${keyWords(c.key)}: ${before} → ${now}`];
  });
  if (options.count) lines.push(t("{n} message|{n} messages", { n: options.count }));
  if (options.channel_id && nameOf(options.channel_id)) lines.push(`${t("Channel")}: ${nameOf(options.channel_id)}`);
  if (options.role_name) lines.push(`${t("Role")}: ${options.role_name}`);
  else if (options.id && nameOf(options.id)) lines.push(`${t("Applies to")}: ${nameOf(options.id)}`);
  return lines;
}
