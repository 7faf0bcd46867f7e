// authorize.js - the OAuth2 consent page that an install link opens.
import { field, fill, h } from "../dom.js";
import { appIcon, avatar } from "../images.js";
import { rightNames } from "../permission-labels.js";
import { t } from "../translate.js";

const SCOPES = {
  openid: t("Confirm who you are"),
  identify: t("See your name and picture"),
  email: t("See your email address"),
  guilds: t("See which servers you are in"),
  "guilds.join": t("Add you to servers"),
  "guilds.members.read": t("See your profile in your servers"),
  bot: t("Add the bot of this app to a server"),
  "applications.commands": t("Add the commands of this app"),
  "relationships.read": t("See your friends"),
  "relationships.write": t("Manage your friends"),
  connections: t("See your connected accounts"),
  "role_connections.write": t("Update your metadata for linked roles"),
  voice: t("Join voice channels for you"),
  "gateway.connect": t("Receive your events in real time"),
  "webhook.incoming": t("Create a webhook in a channel"),
};

export async function mount(app, page) {
  const query = new URLSearchParams(location.search),
    card = h("div.card", null, h("p.faint", { role: "status" }, "…"));
  fill(page, h("main.enter", null, card));
  document.title = `${t("Authorise")} · Guildhall`;
  try {
    show(app, card, await app.rest.get(`/oauth2/authorize?${query}`));
  } catch (refusal) {
    fill(
      card,
      h("h1", null, t("This link is not valid")),
      h("p", null, refusal.words || refusal.message),
      h("p.faint", null, `(${refusal.code || refusal.status || t("the server did not respond")})`),
      h("a.button.secondary", { href: "/" }, t("Go to the home page")),
    );
  }
}

// Show and send only values from the server's response, because only the server parses the parameters of the URL.
function show(app, card, info) {
  const { scopes } = info;
  const toGuild =
    scopes.includes("webhook.incoming") ||
    (scopes.some((s) => s === "bot" || s === "applications.commands") && info.integration_type !== 1);
  const withWebhook = scopes.includes("webhook.incoming");
  const enough = scopes.some((s) => s === "bot" || s === "applications.commands") ? 0x28n : 0x20000008n;
  const may = (info.guilds || []).filter((g) => (BigInt(g.permissions) & enough) !== 0n);
  const guild =
    toGuild &&
    field(
      t("Add to server"),
      h(
        "select",
        { required: true },
        h("option", { value: "" }, t("Choose a server")),
        may.map((g) => h("option", { value: g.id, selected: g.id === info.guild_id }, g.name)),
      ),
    );
  const channel =
    withWebhook &&
    field(t("Webhook in channel"), h("select", { required: true }, h("option", { value: "" }, t("Choose a channel"))));
  const permissions = scopes.includes("bot") ? rightNames(info.permissions) : [];
  const problem = h("p.field-error", { role: "alert", hidden: true });

  async function listChannels() {
    const id = guild.control.value;
    fill(channel.control);
    const all = id ? await app.rest.get(`/guilds/${id}/channels`) : [];
    if (id !== guild.control.value) return;
    fill(
      channel.control,
      h("option", { value: "" }, t("Choose a channel")),
      all.filter((c) => c.type !== 4).map((c) => h("option", { value: c.id }, c.name)),
    );
  }
  if (channel) {
    guild.control.addEventListener("change", () => listChannels().catch(() => {}));
    listChannels().catch(() => {});
  }

  async function decide(authorize) {
    if (authorize && guild && !guild.control.value) return guild.problem(t("Choose a server"));
    if (authorize && channel && !channel.control.value) return channel.problem(t("Choose a channel"));
    try {
      const body = {
        authorize,
        ...(guild && authorize ? { guild_id: guild.control.value } : {}),
        ...(channel && authorize ? { webhook_channel_id: channel.control.value } : {}),
        permissions: info.permissions,
        integration_type: info.integration_type,
      };
      const answer = await app.rest.post(`/oauth2/authorize?${info.query}`, body);
      const to = answer?.location || answer?.url;
      const leads = /^https?:\/\//.test(to || "") && info.redirect_uri;
      if (leads) location.assign(to);
      else done(authorize);
    } catch (refusal) {
      problem.hidden = false;
      problem.textContent = refusal.words || refusal.message;
    }
  }

  const done = (allowed) =>
    fill(
      card,
      h("h1", null, allowed ? t("Done") : t("Nothing was changed")),
      h(
        "p",
        null,
        allowed
          ? t("{name} is now authorised.", { name: info.application.name })
          : t("You declined the request of the app."),
      ),
      h("a.button.primary", { href: guild?.control.value ? `/channels/${guild.control.value}` : "/" }, t("Continue")),
    );

  fill(
    card,
    h(
      "div.invite-head.pair",
      null,
      appIcon(info.application, "large-avatar"),
      h("span", { "aria-hidden": "true" }, "⋯"),
      avatar(info.user, "", "large-avatar"),
    ),
    h("h1.center", null, info.application.name),
    h(
      "p.faint.center",
      null,
      t("asks {name} for permission to", { name: info.user?.global_name || info.user?.username || t("you") }),
    ),
    h(
      "ul.scopes",
      null,
      scopes.map((s) => h("li", null, SCOPES[s] || s)),
    ),
    permissions.length > 0 &&
      h(
        "details",
        { open: true },
        h("summary", null, t("{n} permission in the server|{n} permissions in the server", { n: permissions.length })),
        h(
          "ul.scopes",
          null,
          permissions.map((r) => h("li", null, r)),
        ),
      ),
    info.application.description && h("p", null, info.application.description),
    guild,
    channel,
    info.redirect_uri &&
      h("p.faint", null, t("You will then be redirected to {address}.", { address: info.redirect_uri })),
    problem,
    h(
      "div.actions",
      null,
      h("button.button.secondary", { type: "button", onclick: () => decide(false) }, t("Cancel")),
      h("button.button.primary", { type: "button", onclick: () => decide(true) }, t("Authorise")),
    ),
  );
}
