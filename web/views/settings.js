// settings.js - one's own account, and one's own apps.
import { dialog, fill, h, toast } from "../dom.js";
import { dataUrl, quickForm, small, tabbedPage, table } from "../forms.js";
import { relative } from "../markdown.js";
import { appIcon, avatar } from "../pictures.js";
import { security } from "./second-factor.js";
import { currentLanguage, languages, setLanguage, t } from "../words.js";

const section = (title, ...rest) => h("section", null, title && h("h2", null, title), rest);

export async function mount(app, page, [tab, id]) {
  await app.ready();
  const tabs = [
    ["profile", "Profile", (b) => profile(app, b)], ["language", "Language", (b) => language(app, b)], ["privacy", "Privacy", (b) => privacy(app, b)], ["connections", "Connections", (b, r) => connections(app, b, r)],
    ["grants", "Authorised apps", (b, r) => grants(app, b, r)], ["security", "Second factor", (b, r) => security(app, b, r)], ["sessions", "Sessions", (b, r) => sessions(app, b, r)], ["apps", "My apps", (b, r) => (id ? oneApp(app, b, id, r) : apps(app, b, r))], ["teams", "Teams", (b, r) => teams(app, b, r)],
  ];
  return tabbedPage(app, page, { base: "/settings", title: t("Settings"), tabs, active: tab, back: "/channels/@me" });
}

function profile(app, body) {
  const me = app.store.me;
  fill(body, section(null, h("div.profile-head", null, avatar(me, "", "large-avatar"), h("div", null, h("strong", null, me.global_name || me.username), h("p.faint", null, `@${me.username}`))),
    quickForm([{ name: "global_name", label: t("Display name"), value: me.global_name }, { name: "bio", label: "About me", value: me.bio, rows: 3 }, { name: "avatar", label: "Picture", type: "file" }], t("Save"),
      async (v) => { await app.rest.patch("/users/@me", { global_name: v.global_name || null, bio: v.bio, ...(v.avatar ? { avatar: await dataUrl(v.avatar) } : {}) }); })),
  section(t("Password"), quickForm([{ name: "password", label: "The present one", type: "password" }, { name: "new_password", label: "A new one", type: "password" }], t("Save"),
    async (v) => { await app.renew(app.rest.patch("/users/@me", v)); })),
  section(null, h("div.actions", null, small(t("Log out"), async () => { await app.rest.post("/auth/logout", {}).catch(() => {}); app.signOut(); }, "danger"))));
}

function language(app, body) {
  const choice = h("select", { "aria-label": "Language of these pages", onchange: () => { setLanguage(choice.value); app.show(); location.reload(); } }, Object.entries(languages).map(([code, name]) => h("option", { value: code, selected: code === currentLanguage() }, name)));
  fill(body, section("These pages", choice), section("What apps are told", quickForm([{ name: "locale", label: "Locale", value: app.store.settings.locale || "en-US", hint: "Commands and apps use it: de, fr, sv-SE" }], t("Save"),
    async (v) => { app.store.settings = { ...app.store.settings, ...(await app.rest.patch("/users/@me/settings", v)) }; app.commands.cache.clear(); })));
}

function privacy(app, body) {
  const s = app.store.settings, from = s.friend_source_flags || {};
  fill(body, section("Who may ask to be your friend", quickForm([
    { name: "all", label: "Everybody", type: "checkbox", value: from.all }, { name: "mutual_friends", label: "Friends of friends", type: "checkbox", value: from.mutual_friends !== false }, { name: "mutual_guilds", label: "People of your servers", type: "checkbox", value: from.mutual_guilds !== false }], t("Save"),
  async (v) => { app.store.settings = { ...s, ...(await app.rest.patch("/users/@me/settings", { friend_source_flags: v })) }; })),
  section("Messages", quickForm([{ name: "default_guilds_restricted", label: "People of new servers may not write to you", type: "checkbox", value: s.default_guilds_restricted }, { name: "allow_game_friend_dms", label: "Friends of games may write to you", type: "checkbox", value: s.allow_game_friend_dms }], t("Save"),
    async (v) => { app.store.settings = { ...s, ...(await app.rest.patch("/users/@me/settings", v)) }; })));
}

async function connections(app, body, redraw) {
  const all = await app.rest.get("/users/@me/connections");
  const link = async (type) => { const a = await app.tryCall(app.rest.get(`/connections/${type}/authorize`)); if (a?.url) window.open(a.url, "_blank", "noopener"); };
  fill(body, section(null, table(["Platform", "Account", "Shown", ""], all.map((c) => [c.type, c.name, c.visibility ? "to everybody" : "to nobody",
    [small(c.visibility ? "Hide" : "Show", async () => { await app.tryCall(app.rest.patch(`/users/@me/connections/${c.type}/${c.id}`, { visibility: c.visibility ? 0 : 1 })); redraw(); }), " ", small(t("Remove"), async () => { await app.tryCall(app.rest.delete(`/users/@me/connections/${c.type}/${c.id}`)); redraw(); }, "danger")]])),
  h("div.actions", null, ["platform_a", "platform_b"].map((p) => small(`Connect ${p.replace("_", " ")}`, () => link(p))))));
}

async function grants(app, body, redraw) {
  const all = await app.rest.get("/oauth2/tokens");
  fill(body, section(null, table(["App", "May", ""], all.map((g) => [[appIcon(g.application, "tiny-avatar"), " ", g.application.name], g.scopes.join(", "), small(t("Remove"), async () => { await app.tryCall(app.rest.delete(`/oauth2/tokens/${g.id}`)); redraw(); }, "danger")]))));
}

async function sessions(app, body, redraw) {
  const all = (await app.rest.get("/auth/sessions")).user_sessions;
  const end = (s) => dialog("End this session", (close) => quickForm([{ name: "password", label: t("Password"), type: "password" }], "End it", async (v) => { await app.rest.post("/auth/sessions/logout", { session_id_hashes: [s.id_hash], password: v.password }); close(); redraw(); }));
  fill(body, section(null, table(["Client", "Where", "Last used", ""], all.map((s) => [`${s.client_info?.platform || "?"} ${s.client_info?.os || ""}`, s.client_info?.location || "", relative(new Date(s.approx_last_used_time)), small("End", () => end(s), "danger")]))));
}

/* --- apps --- */

async function apps(app, body, redraw) {
  const all = await app.rest.get("/applications?with_team_applications=true");
  fill(body, section(null, table(["App", "Bot", ""], all.map((a) => [[appIcon(a, "tiny-avatar"), " ", h("a", { href: `/settings/apps/${a.id}` }, a.name)], a.bot ? `@${a.bot.username}` : "–", small(t("Edit"), () => app.go(`/settings/apps/${a.id}`))]))),
    section("A new app", quickForm([{ name: "name", label: "Name" }, { name: "description", label: "What it does" }], "Make it", async (v) => {
      const made = await app.rest.post("/applications", v);
      await app.rest.post(`/applications/${made.id}/bot`, {}).catch(() => {});
      app.go(`/settings/apps/${made.id}`);
    })));
}

/** A token is shown once; only its hash is kept. */
function showSecret(title, secret) {
  return dialog(title, () => h("div.stack", null, h("p", null, "It is shown only now."), h("div.secret", { tabindex: 0 }, secret), h("div.actions", null, small("Copy", () => { navigator.clipboard?.writeText(secret); toast("Copied"); }, "primary"))));
}

async function oneApp(app, body, id, redraw) {
  const a = await app.rest.get(`/applications/${id}`);
  const commands = await app.rest.get(`/applications/${id}/application-command-index`).then((d) => d.application_commands, () => []);
  const install = `${location.origin}/oauth2/authorize?client_id=${id}&scope=bot+applications.commands&permissions=0`;
  const bot = async () => {
    if (a.bot && !(await app.confirm("A new token", "The old token ends at once, and so do its sessions.", "New token"))) return;
    const made = await app.tryCall(app.rest.post(`/applications/${id}/bot${a.bot ? "/reset" : ""}`, {}));
    if (made?.token) await showSecret("The bot’s token", made.token);
    redraw();
  };
  fill(body, section(a.name, quickForm([{ name: "name", label: "Name", value: a.name }, { name: "description", label: "What it does", value: a.description, rows: 2 }], t("Save"), async (v) => { await app.rest.patch(`/applications/${id}`, v); })),
    section("Bot", h("p", null, a.bot ? `@${a.bot.username}` : "It has none yet."), h("div", null, small(a.bot ? "New token" : "Make a bot", bot, "primary"))),
    section("Install link", h("input", { value: install, readonly: true, "aria-label": "Install link", onfocus: (e) => e.target.select() }), h("div", null, h("a.button.secondary", { href: `/oauth2/authorize?client_id=${id}&scope=bot+applications.commands` }, "Add it to a server"))),
    section("Interactions endpoint", quickForm([{ name: "interactions_endpoint_url", label: "URL", value: a.interactions_endpoint_url, hint: "Saving asks it with a signed PING, and with one whose signature is wrong: it has to answer the first and refuse the second." }], "Save and test",
      async (v) => { await app.rest.patch(`/applications/${id}`, { interactions_endpoint_url: v.interactions_endpoint_url || null }); return "It answers as it should"; }), h("p.hint", null, "Public key: ", h("code", null, a.verify_key))),
    section("Commands", table(["Name", "Kind", "Description"], commands.map((c) => [h("code", null, c.type === 1 || !c.type ? `/${c.name}` : c.name), ["", "slash", "user", "message", "entry point"][c.type || 1], c.description]))),
    section("Secret", h("div", null, small("New secret", async () => { const made = await app.tryCall(app.rest.post(`/applications/${id}/reset`, {})); if (made?.secret) showSecret("The app’s secret", made.secret); }))),
    section(null, h("div.actions", null, small(t("Delete"), async () => { if (await app.confirm(t("Delete"), `Delete ${a.name}?`, t("Delete"))) { if (await app.tryCall(app.rest.post(`/applications/${id}/delete`, {}))) app.go("/settings/apps"); } }, "danger"))));
}

async function teams(app, body, redraw) {
  const all = await app.rest.get("/teams");
  const full = await Promise.all(all.map((x) => app.rest.get(`/teams/${x.id}/members`).then((members) => ({ ...x, members }), () => ({ ...x, members: [] }))));
  fill(body, full.map((x) => section(x.name, table(["Who", "Role", ""], x.members.map((m) => [`@${m.user.username}${m.membership_state === 1 ? " (invited)" : ""}`, m.role || "admin", small(t("Remove"), async () => { await app.tryCall(app.rest.delete(`/teams/${x.id}/members/${m.user.id}`)); redraw(); }, "danger")])),
    quickForm([{ name: "username", label: "Invite somebody" }], "Invite", async (v) => { await app.rest.post(`/teams/${x.id}/members`, v); redraw(); }, "inline-form"))),
  section("A new team", quickForm([{ name: "name", label: "Name" }], "Make it", async (v) => { await app.rest.post("/teams", v); redraw(); })));
}
