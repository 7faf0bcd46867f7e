// profile.js - the profile of a user, with actions.
import { contextCommands } from "../commands.js";
import { dialog, fill, h } from "../dom.js";
import { below, menu } from "../menu.js";
import { iconButton } from "../icons.js";
import { markdown } from "../markdown.js";
import { avatar } from "../images.js";
import { statusText } from "../own-status.js";
import { t } from "../translate.js";
import { ban, isAbove, kick, timeOut } from "./server/member-actions.js";

/** The banner of a profile: the user's picture, or a stripe in the user's colour. */
function profileBanner(user) {
  if (user.banner) return h("img.profile-banner", { src: `/banners/${user.id}/${user.banner}.png`, alt: "" });
  if (user.accent_color === null || user.accent_color === undefined) return null;
  const color = `#${user.accent_color.toString(16).padStart(6, "0")}`;
  return h("div.profile-banner.stripe", { style: { "background-color": color } });
}

export async function showProfile(app, id, at) {
  const { store, rest } = app;
  const [, , guildId, channelId] = location.pathname.split("/");
  const guild = store.guilds.get(guildId),
    channel = store.channels.get(channelId);
  const profile = await rest
    .get(`/users/${id}/profile?with_mutual_guilds=true&with_mutual_friends=true${guild ? `&guild_id=${guild.id}` : ""}`)
    .catch(() => null);
  const user = store.keepUser(profile?.user) || store.user(id) || { id, username: t("unknown") };
  const member = guild?.members.get(id),
    rel = store.relationships.get(id);
  const roles = (member?.roles || [])
    .map((r) => guild.roles.get(r))
    .filter(Boolean)
    .sort((a, b) => b.position - a.position);
  let written = false;
  const note = h("textarea", {
    rows: 2,
    maxlength: 256,
    "aria-label": t("Note"),
    placeholder: t("Note (only visible to you)"),
    oninput: () => {
      written = true;
    },
    onchange: () => app.tryCall(rest.put(`/users/@me/notes/${id}`, { note: note.value }), t("Saved")),
  });
  const drawNote = () => {
    if (!written) note.value = store.notes?.[id] || "";
  };
  drawNote();
  const off = store.on("notes", drawNote); // the note may have been changed in another window

  dialog(store.nameOf(id, guild), (close) =>
    h(
      "div.profile",
      null,
      profileBanner(user),
      h(
        "div.profile-head",
        null,
        avatar(user, "", "large-avatar"),
        h(
          "div",
          null,
          h("strong", null, store.nameOf(id, guild)),
          h(
            "p.faint",
            null,
            `@${user.username}`,
            user.bot && ` · ${t("app")}`,
            profile?.user_profile?.pronouns && ` · ${profile.user_profile.pronouns}`,
          ),
          statusText(store, id) && h("p", null, statusText(store, id)),
        ),
      ),
      (profile?.user_profile?.bio || user.bio) &&
        h("div.profile-bio", null, markdown(profile?.user_profile?.bio || user.bio)),
      roles.length > 0 &&
        h(
          "div.chips",
          null,
          roles.map((r) =>
            h(
              "span.chip",
              { style: r.color ? { "--role": `#${r.color.toString(16).padStart(6, "0")}` } : null },
              r.name,
            ),
          ),
        ),
      (profile?.connected_accounts || []).length > 0 &&
        h(
          "div.chips",
          null,
          profile.connected_accounts.map((c) => h("span.chip", null, `${c.type}: ${c.name}`)),
        ),
      profile?.mutual_guilds?.length > 0 &&
        h("p.faint", null, t("{n} server in common|{n} servers in common", { n: profile.mutual_guilds.length })),
      id !== store.me.id && note,
      id !== store.me.id &&
        h(
          "div.actions",
          null,
          !user.bot &&
            rel?.type !== 1 &&
            rel?.type !== 4 &&
            h(
              "button.button.secondary",
              {
                type: "button",
                onclick: async () => {
                  if (await app.tryCall(rest.put(`/users/@me/relationships/${id}`, {}), t("Friend request sent")))
                    close();
                },
              },
              t("Add friend"),
            ),
          h(
            "button.button.primary",
            {
              type: "button",
              onclick: () => {
                close();
                app.messagePerson(id);
              },
            },
            t("Message"),
          ),
          channel &&
            iconButton("more", t("More"), async (e) =>
              moreMenu(app, e.currentTarget, { id, guild, channel, member, close }),
            ),
        ),
    ),
  ).then(off);
}

async function moreMenu(app, at, { id, guild, channel, member, close }) {
  const { store, rest } = app,
    path = guild && `/guilds/${guild.id}/members/${id}`;
  const apps = await contextCommands(app, channel, 2, id).catch(() => []);
  const may = (r) => guild && member && store.mayInGuild(guild, r),
    above = guild && member && isAbove(app, guild, member);
  const items = [
    ...apps,
    may("MANAGE_NICKNAMES") && {
      label: t("Nickname in this server"),
      icon: "edit",
      run: async () => {
        const nick = await app.ask(t("Nickname"), t("Nickname"), member.nick || "");
        if (nick !== undefined) app.tryCall(rest.patch(path, { nick }));
      },
    },
    above && may("MODERATE_MEMBERS") && { label: t("Time out"), icon: "muted", run: () => timeOut(app, guild, member) },
    above &&
      may("KICK_MEMBERS") && { label: t("Kick"), icon: "leave", danger: true, run: () => kick(app, guild, member) },
    above && may("BAN_MEMBERS") && { label: t("Ban"), icon: "close", danger: true, run: () => ban(app, guild, member) },
  ].filter(Boolean);
  const run = (item) => ({
    ...item,
    run: () => {
      close();
      item.run();
    },
  });
  if (items.length) menu(below(at), items.map(run), t("More"));
}
