// authorize.js - what an app asks for, and allowing it: the page that an install link leads to.
import { field, fill, h } from "../dom.js";
import { appIcon, avatar } from "../pictures.js";
import { RIGHTS } from "../rights.js";

const SCOPES = {
  identify: "See your name and picture", email: "See your email address", guilds: "See which servers you are in", "guilds.join": "Add you to servers", "guilds.members.read": "See who you are in your servers",
  bot: "Add its bot to a server", "applications.commands": "Add its commands", "relationships.read": "See your friends", "relationships.write": "Manage your friends", connections: "See your connected accounts",
  "role_connections.write": "Write facts about you for roles", voice: "Connect to voice for you", "gateway.connect": "Receive events for you", "webhook.incoming": "Make a webhook in a channel",
};

export async function mount(app, page) {
  const query = new URLSearchParams(location.search), card = h("div.card", null, h("p.faint", { role: "status" }, "…"));
  fill(page, h("main.enter", null, card));
  document.title = "Authorise · Guildhall";
  try {
    show(app, card, query, await app.rest.get(`/oauth2/authorize?${query}`));
  } catch (refusal) {
    fill(card, h("h1", null, "This link does not work"), h("p", null, refusal.words || refusal.message), h("p.faint", null, `(${refusal.code || refusal.status || "no answer"})`), h("a.button.secondary", { href: "/" }, "Go to the start"));
  }
}

function rightNames(bits) {
  return Object.entries(RIGHTS).filter(([, n]) => (BigInt(bits || 0) >> BigInt(n)) & 1n).map(([name]) => name.toLowerCase().replaceAll("_", " "));
}

function show(app, card, query, info) {
  const scopes = (query.get("scope") || "").split(/[ +]/).filter(Boolean);
  const toGuild = scopes.some((s) => s === "bot" || s === "applications.commands" || s === "webhook.incoming") && info.integration_type !== 1;
  const may = (info.guilds || []).filter((g) => (BigInt(g.permissions) & 0x28n) !== 0n);
  const guild = toGuild && field("Add to server", h("select", { required: true }, h("option", { value: "" }, "Choose a server"), may.map((g) => h("option", { value: g.id, selected: g.id === query.get("guild_id") }, g.name))));
  const rights = scopes.includes("bot") ? rightNames(query.get("permissions")) : [];
  const problem = h("p.field-error", { role: "alert", hidden: true });

  async function decide(authorize) {
    if (authorize && guild && !guild.control.value) return guild.problem("Choose a server");
    try {
      const body = { authorize, ...(guild && authorize ? { guild_id: guild.control.value } : {}), ...(query.get("permissions") ? { permissions: query.get("permissions") } : {}), ...(info.integration_type !== undefined ? { integration_type: info.integration_type } : {}) };
      const answer = await app.rest.post(`/oauth2/authorize?${query}`, body);
      const to = answer?.location || answer?.url;
      const leads = /^https?:\/\//.test(to || "") && query.get("redirect_uri");
      if (leads) location.assign(to);
      else done(authorize);
    } catch (refusal) {
      problem.hidden = false;
      problem.textContent = refusal.words || refusal.message;
    }
  }

  const done = (allowed) => fill(card, h("h1", null, allowed ? "Done" : "Nothing was changed"), h("p", null, allowed ? `${info.application.name} has what it asked for.` : "The app was told no."), h("a.button.primary", { href: guild?.control.value ? `/channels/${guild.control.value}` : "/" }, "Go on"));

  fill(card, h("div.invite-head.pair", null, appIcon(info.application, "large-avatar"), h("span", { "aria-hidden": "true" }, "⋯"), avatar(info.user, "", "large-avatar")),
    h("h1.center", null, info.application.name), h("p.faint.center", null, `asks ${info.user?.global_name || info.user?.username || "you"} to be allowed to`),
    h("ul.scopes", null, scopes.map((s) => h("li", null, SCOPES[s] || s))),
    rights.length > 0 && h("details", null, h("summary", null, `${rights.length} rights in the server`), h("ul.scopes", null, rights.map((r) => h("li", null, r)))),
    info.application.description && h("p", null, info.application.description), guild, problem,
    h("div.actions", null, h("button.button.secondary", { type: "button", onclick: () => decide(false) }, "Cancel"), h("button.button.primary", { type: "button", onclick: () => decide(true) }, "Authorise")));
}
