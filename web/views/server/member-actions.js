// member-actions.js - dialogs that change a member's roles or nickname, or time out, kick or ban a member.
import { t } from "../../translate.js";
import { choiceRow, formDialog, ownRank, rolesOf } from "./shared.js";

const MINUTE = 60,
  HOUR = 3600,
  DAY = 86400;

/** @type {[number, string][]} */
const TIME_OUTS = [
  [MINUTE, t("{n} minute|{n} minutes", { n: 1 })],
  [5 * MINUTE, t("{n} minute|{n} minutes", { n: 5 })],
  [10 * MINUTE, t("{n} minute|{n} minutes", { n: 10 })],
  [HOUR, t("{n} hour|{n} hours", { n: 1 })],
  [DAY, t("{n} day|{n} days", { n: 1 })],
  [7 * DAY, t("{n} week|{n} weeks", { n: 1 })],
  [28 * DAY, t("{n} week|{n} weeks", { n: 4 })],
];
/** @type {[number, string][]} */
const DELETIONS = [
  [0, t("Do not delete messages")],
  [HOUR, t("The last hour")],
  [6 * HOUR, t("The last {n} hours", { n: 6 })],
  [DAY, t("The last {n} hours", { n: 24 })],
  [3 * DAY, t("The last {n} days", { n: 3 })],
  [7 * DAY, t("The last {n} days", { n: 7 })],
];
const reasonRow = { name: "reason", label: t("Reason"), props: { maxlength: 512 }, hint: t("Shown in the audit log.") };

const nameOf = (m) => m.nick || m.user.global_name || m.user.username;
export const timedOut = (m) =>
  m.communication_disabled_until && new Date(m.communication_disabled_until) > new Date()
    ? new Date(m.communication_disabled_until)
    : null;

/** Returns the position of a member's highest role. Returns Infinity for the guild's owner. */
const rankOf = (g, m) =>
  g.owner_id === m.user.id ? Infinity : Math.max(0, ...(m.roles || []).map((id) => g.roles.get(id)?.position ?? 0));

/** Returns true if the user's highest role is above that of the member, which kick, ban and time-out require. */
export const isAbove = (app, g, m) =>
  m.user.id !== app.store.me.id && g.owner_id !== m.user.id && ownRank(app, g) > rankOf(g, m);

/** Updates the member in the store at once, because the event GUILD_MEMBER_UPDATE may arrive after the response. */
const keep = (app, g, m, now) => {
  app.store.addMember(g, { ...g.members.get(m.user.id), ...m, ...now });
  app.store.touch("members");
};

export function editMember(app, g, m) {
  const rank = ownRank(app, g),
    may = (right) => app.store.mayInGuild(g, right),
    own = m.user.id === app.store.me.id;
  const list = may("MANAGE_ROLES") ? rolesOf(g).filter((r) => r.id !== g.id && !r.managed && r.position < rank) : [];
  const rows = /** @type {any[]} */ ([]);
  if (list.length)
    rows.push(
      choiceRow(
        "roles",
        t("Roles"),
        list.map((r) => [r.id, r.name]),
        m.roles,
      ),
    );
  if (own ? may("CHANGE_NICKNAME") : may("MANAGE_NICKNAMES"))
    rows.push({ name: "nick", label: t("Nickname"), value: m.nick, props: { maxlength: 32 } });
  return formDialog(m.user.username, rows, t("Save"), async (v) => {
    const shown = new Set(list.map((r) => r.id)),
      others = m.roles.filter((id) => !shown.has(id)), // roles that this dialog does not offer are retained
      change = {
        ...(v.nick !== undefined && v.nick !== (m.nick || "") ? { nick: v.nick || null } : {}),
        ...(v.roles ? { roles: [...others, ...v.roles] } : {}),
      };
    if (own && "nick" in change) {
      keep(app, g, m, await app.rest.patch(`/guilds/${g.id}/members/@me`, { nick: change.nick }));
      delete change.nick;
    }
    if (Object.keys(change).length)
      keep(app, g, m, await app.rest.patch(`/guilds/${g.id}/members/${m.user.id}`, change));
  });
}

export function timeOut(app, g, m) {
  return formDialog(
    t("Time out"),
    [{ name: "seconds", label: t("Duration"), options: TIME_OUTS, value: 10 * MINUTE }, reasonRow],
    t("Time out"),
    async (v) => {
      const until = new Date(Date.now() + Number(v.seconds) * 1000).toISOString();
      const now = await app.rest.call(
        "PATCH",
        `/guilds/${g.id}/members/${m.user.id}`,
        { communication_disabled_until: until },
        v.reason,
      );
      keep(app, g, m, now);
    },
    { intro: t("Time out {name}? A timed out member cannot write or speak.", { name: nameOf(m) }), danger: true },
  );
}

export async function endTimeOut(app, g, m) {
  const path = `/guilds/${g.id}/members/${m.user.id}`;
  const now = await app.tryCall(app.rest.patch(path, { communication_disabled_until: null }), t("The time-out ended"));
  if (now) keep(app, g, m, now);
}

export async function kick(app, g, m) {
  const done = await formDialog(
    t("Kick"),
    [reasonRow],
    t("Kick"),
    (v) => app.rest.call("DELETE", `/guilds/${g.id}/members/${m.user.id}`, undefined, v.reason),
    { intro: t("Kick {name}? With a new invite, {name} can come back.", { name: nameOf(m) }), danger: true },
  );
  if (done) gone(app, g, m.user.id);
  return done;
}

/** Bans a user. @param {{user: any, nick?: string}} m */
export async function ban(app, g, m) {
  const done = await formDialog(
    t("Ban"),
    [{ name: "seconds", label: t("Delete messages"), options: DELETIONS, value: 0 }, reasonRow],
    t("Ban"),
    (v) =>
      app.rest.call(
        "PUT",
        `/guilds/${g.id}/bans/${m.user.id}`,
        { delete_message_seconds: Number(v.seconds) },
        v.reason,
      ),
    { intro: t("Ban {name}? {name} cannot come back until the ban is revoked.", { name: nameOf(m) }), danger: true },
  );
  if (done) gone(app, g, m.user.id);
  return done;
}

function gone(app, g, id) {
  g.members.delete(id);
  app.store.touch("members");
}
