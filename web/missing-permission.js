// missing-permission.js - explains refusals: which permission is missing, or how long to wait.
import { PERMISSION_LABELS } from "./permission-labels.js";
import { t } from "./translate.js";

const MISSING_PERMISSIONS = 50013;

/**
 * The permissions of each route: method, path, names. The first entry that matches counts.
 * @type {[string, RegExp, string[]][]}
 */
const NEEDS = [
  ["PUT", /^\/channels\/\d+\/permissions\//, ["MANAGE_ROLES"]],
  ["DELETE", /^\/channels\/\d+\/permissions\//, ["MANAGE_ROLES"]],
  ["POST", /^\/channels\/\d+\/invites$/, ["CREATE_INSTANT_INVITE"]],
  ["POST", /^\/channels\/\d+\/webhooks$/, ["MANAGE_WEBHOOKS"]],
  ["PATCH", /^\/channels\/\d+$/, ["MANAGE_CHANNELS"]],
  ["DELETE", /^\/channels\/\d+$/, ["MANAGE_CHANNELS"]],
  ["PUT", /^\/channels\/\d+\/pins\//, ["PIN_MESSAGES"]],
  ["DELETE", /^\/channels\/\d+\/pins\//, ["PIN_MESSAGES"]],
  ["DELETE", /^\/channels\/\d+\/messages\//, ["MANAGE_MESSAGES"]],
  ["POST", /^\/channels\/\d+\/messages$/, ["SEND_MESSAGES"]],
  ["*", /^\/guilds\/\d+\/roles/, ["MANAGE_ROLES"]],
  ["*", /^\/guilds\/\d+\/members\/\d+\/roles\//, ["MANAGE_ROLES"]],
  ["DELETE", /^\/guilds\/\d+\/members\/\d+$/, ["KICK_MEMBERS"]],
  ["*", /^\/guilds\/\d+\/bans/, ["BAN_MEMBERS"]],
  ["*", /^\/guilds\/\d+\/channels/, ["MANAGE_CHANNELS"]],
  ["GET", /^\/guilds\/\d+\/audit-logs/, ["VIEW_AUDIT_LOG"]],
  ["GET", /^\/guilds\/\d+\/webhooks/, ["MANAGE_WEBHOOKS"]],
  ["POST", /^\/guilds\/\d+\/(emojis|stickers|soundboard-sounds)/, ["CREATE_EXPRESSIONS"]],
  ["*", /^\/guilds\/\d+\/(emojis|stickers|soundboard-sounds)/, ["MANAGE_EXPRESSIONS"]],
  ["POST", /^\/guilds\/\d+\/scheduled-events/, ["CREATE_EVENTS"]],
  ["*", /^\/guilds\/\d+\/scheduled-events/, ["MANAGE_EVENTS"]],
  ["PUT", /^\/guilds\/\d+\/onboarding/, ["MANAGE_GUILD", "MANAGE_ROLES"]],
  ["*", /^\/guilds\/\d+/, ["MANAGE_GUILD"]],
  ["*", /^\/(invites|webhooks|applications)\//, ["MANAGE_GUILD"]],
];

/** The permissions that the fields of a request need. */
const OF_FIELDS = {
  nick: "MANAGE_NICKNAMES",
  roles: "MANAGE_ROLES",
  communication_disabled_until: "MODERATE_MEMBERS",
  mute: "MUTE_MEMBERS",
  deaf: "DEAFEN_MEMBERS",
  channel_id: "MOVE_MEMBERS",
  permission_overwrites: "MANAGE_ROLES",
};

function needed(method, path, body) {
  const plain = path.split("?")[0];
  if (method === "PATCH" && /^\/guilds\/\d+\/members\/\d+$/.test(plain))
    return Object.keys(OF_FIELDS).flatMap((key) => (body && key in body ? [OF_FIELDS[key]] : []));
  const names = NEEDS.find(([m, re]) => (m === "*" || m === method) && re.test(plain))?.[2] || [];
  return body && !Array.isArray(body) && body.permission_overwrites ? [...names, "MANAGE_ROLES"] : names;
}

/** The names of the permissions, as a list for people. @param {string[]} names */
export const permissionList = (names) => names.map((name) => `“${PERMISSION_LABELS[name]}”`).join(", ");

/**
 * A sentence with cause and fix for a refusal; undefined: the server's message is good enough.
 * @param {any} store @param {{status: number, code: number}} refusal @param {any} answer the response
 * @param {any[]} asked method, path and body of the request
 */
export function explain(store, refusal, answer, [method, path, body]) {
  if (refusal.status === 429 && answer?.retry_after) {
    const n = Math.ceil(answer.retry_after / 60);
    return t(
      "This was changed too often. Try again in {n} minute.|This was changed too often. Try again in {n} minutes.",
      { n },
    );
  }
  if (refusal.code !== MISSING_PERMISSIONS || !store.ready) return undefined;
  const [, kind, id] = path.split("?")[0].split("/"),
    channel = kind === "channels" ? store.channels.get(id) : null,
    guild = store.guilds.get(kind === "guilds" ? id : channel?.guild_id);
  const names = needed(method, path, body);
  if (!guild || !names.length) return undefined;
  const has = (name) => (channel ? store.may(channel, name) : store.mayInGuild(guild, name)),
    missing = names.filter((name) => !has(name));
  if (missing.length)
    return t("You need the permission {names}. Ask an administrator of the server for it.", {
      names: permissionList(missing),
    });
  return t("Your highest role must be above the role or member, and you can only give permissions that you have.");
}
