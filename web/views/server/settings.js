// settings.js - the settings of a guild: the tabs, and the permissions that they need.
import { fill, h } from "../../dom.js";
import { tabbedPage } from "../../forms.js";
import { permissionList } from "../../missing-permission.js";
import { t } from "../../translate.js";
import { Watch } from "./shared.js";

const EXPRESSIONS = ["CREATE_EXPRESSIONS", "MANAGE_EXPRESSIONS"];
const OF_MEMBERS = ["MANAGE_ROLES", "MANAGE_NICKNAMES", "MODERATE_MEMBERS", "KICK_MEMBERS", "BAN_MEMBERS"];

/**
 * The tabs: path segment, label, permissions of which one is needed (an empty list needs none), and a function that
 * imports the code of the tab. A tab without a path segment is a heading.
 * @type {[string|null, string, string[], (() => Promise<any>)?][]}
 */
const TABS = [
  ["overview", t("Overview"), ["MANAGE_GUILD"], async () => (await import("./overview.js")).overview],
  ["roles", t("Roles"), ["MANAGE_ROLES"], async () => (await import("./roles.js")).roles],
  ["emoji", t("Emoji"), EXPRESSIONS, async () => (await import("./emoji.js")).emojis],
  ["stickers", t("Stickers"), EXPRESSIONS, async () => (await import("./stickers.js")).stickers],
  ["sounds", t("Soundboard"), EXPRESSIONS, async () => (await import("./sounds.js")).sounds],
  ["events", t("Events"), [], async () => (await import("./events.js")).events],
  [null, t("People"), []],
  ["members", t("Members"), OF_MEMBERS, async () => (await import("./members.js")).members],
  ["invites", t("Invites"), ["MANAGE_GUILD", "VIEW_AUDIT_LOG"], async () => (await import("./invites.js")).invites],
  ["bans", t("Bans"), ["BAN_MEMBERS"], async () => (await import("./bans.js")).bans],
  [null, t("Apps"), []],
  ["integrations", t("Integrations"), ["MANAGE_GUILD"], async () => (await import("./integrations.js")).integrations],
  ["commands", t("Commands"), ["MANAGE_GUILD"], async () => (await import("./commands.js")).commands],
  ["webhooks", t("Webhooks"), ["MANAGE_WEBHOOKS"], async () => (await import("./webhooks.js")).webhooks],
  [null, t("Moderation"), []],
  ["automod", t("AutoMod"), ["MANAGE_GUILD"], async () => (await import("./automod.js")).automod],
  ["log", t("Audit log"), ["VIEW_AUDIT_LOG"], async () => (await import("./audit-log.js")).auditLog],
  [null, t("Community"), []],
  ["welcome", t("Welcome screen"), ["MANAGE_GUILD"], async () => (await import("./welcome.js")).welcome],
  ["onboarding", t("Onboarding"), ["MANAGE_GUILD"], async () => (await import("./onboarding.js")).onboarding],
  ["widget", t("Widget"), ["MANAGE_GUILD"], async () => (await import("./widget.js")).widget],
  ["template", t("Template"), ["MANAGE_GUILD"], async () => (await import("./template.js")).template],
  ["insights", t("Insights"), ["VIEW_GUILD_INSIGHTS"], async () => (await import("./insights.js")).insights],
];

/** Returns the tabs that the user may open. A heading without such tabs below it is left out. */
function permitted(may) {
  const open = TABS.filter(([id, , names]) => !id || !names.length || names.some(may));
  return open.filter(([id], i) => id || (open[i + 1] && open[i + 1][0]));
}

export async function mount(app, page, [id, active]) {
  fill(page, h("p.loading-page", { role: "status" }, t("Connecting…")));
  await app.ready();
  if (!page.isConnected) return undefined;
  const g = app.store.guilds.get(id),
    watch = new Watch(app);
  if (!g) return app.go("/channels/@me", true);
  const may = (right) => app.store.mayInGuild(g, right);
  const asked = TABS.find(([name]) => name && name === active);
  const tabs = permitted(may).map(([name, label, , load]) => [
    name,
    label,
    async (body) => (await load())(app, g, body, watch),
  ]);
  if (asked && !tabs.some(([name]) => name === asked[0])) {
    const names = permissionList(asked[2].slice(0, 1));
    tabs.push([
      asked[0],
      asked[1],
      async (body) => fill(body, h("p", null, t("You need the permission {names} for this page.", { names }))),
    ]);
  }
  watch.on(["guilds"], () => app.store.guilds.has(id) || app.go("/channels/@me", true));
  await tabbedPage(app, page, {
    base: `/channels/${id}/settings`,
    title: g.name,
    tabs,
    active,
    back: `/channels/${id}`,
  });
  return () => watch.end();
}
