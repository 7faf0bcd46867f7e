// invite.js - the page of an invite link.
import { fill, h } from "../dom.js";
import { avatar, guildIcon } from "../images.js";
import { t } from "../translate.js";

/** Prefix of a registration code. A code without this prefix is an invite to a guild, a group DM or a friendship. */
const REGISTRATION_CODE = "reg-";

export async function mount(app, page, [code]) {
  const card = h("div.card", { role: "status" }, h("p.faint", null, "…"));
  fill(page, h("main.enter", null, card));
  document.title = `${t("Invite")} · Guildhall`;
  if (code.startsWith(REGISTRATION_CODE)) return forRegistration(app, card, code);
  try {
    show(app, card, await app.rest.get(`/invites/${encodeURIComponent(decodeURIComponent(code))}?with_counts=true`));
  } catch (refusal) {
    fill(
      card,
      h("h1", null, t("This invite is not valid")),
      h("p.faint", null, t("The invite may have expired, or you may not be allowed to use it.")),
      h("p.faint", null, `${refusal.message} (${refusal.code || refusal.status || t("the server did not respond")})`),
      h("a.button.secondary", { href: "/" }, t("Go to the home page")),
    );
  }
}

function forRegistration(app, card, code) {
  if (!app.rest.token) return app.go(`/register?invite=${encodeURIComponent(code)}`, true);
  fill(
    card,
    h("h1", null, t("This link is for registering a new account")),
    h("p.faint", null, t("You are already logged in. Log out to register another account with this link.")),
    h("a.button.secondary", { href: "/" }, t("Go to the home page")),
  );
  return undefined;
}

function show(app, card, invite) {
  const by = invite.inviter,
    name = invite.guild?.name || invite.channel?.name || by?.global_name || by?.username || t("someone");
  const problem = h("p.field-error", { role: "alert", hidden: true });
  const friend = !invite.guild && !invite.channel;
  async function accept() {
    if (!app.rest.token) {
      sessionStorage.setItem("next", location.pathname);
      return app.go("/login");
    }
    try {
      const done = await app.rest.post(`/invites/${encodeURIComponent(invite.code)}`, {});
      await (done.guild
        ? app.openGuild(done.guild.id, done.channel?.id)
        : done.channel
          ? app.openChannel(done.channel)
          : app.go("/friends"));
    } catch (refusal) {
      problem.hidden = false;
      problem.textContent = refusal.words || refusal.message;
    }
  }
  fill(
    card,
    h(
      "div.invite-head",
      null,
      invite.guild ? guildIcon(invite.guild, "large-avatar") : avatar(by, name, "large-avatar"),
    ),
    h(
      "p.faint.center",
      null,
      !by
        ? t("You are invited to join")
        : friend
          ? t("{name} invites you to be friends", { name: by.global_name || by.username })
          : t("{name} invites you to join", { name: by.global_name || by.username }),
    ),
    h("h1.center", null, name),
    invite.guild?.description && h("p.center", null, invite.guild.description),
    invite.approximate_member_count !== undefined &&
      h(
        "p.faint.center",
        null,
        t("{online} online · {n} member|{online} online · {n} members", {
          online: invite.approximate_presence_count ?? 0,
          n: invite.approximate_member_count,
        }),
      ),
    problem,
    h("button.button.primary.wide", { type: "button", onclick: accept }, t("Accept invite")),
  );
}
