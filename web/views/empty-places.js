// empty-places.js - advice that is shown in a guild without channels and in a channel without messages.
import { h } from "../dom.js";
import { icon } from "../icons.js";
import { emptyState } from "../first-steps.js";
import { DM } from "../store.js";
import { t } from "../translate.js";
import { addChannel, invite } from "./new-place.js";

/** The main area of the page if the user can see no text channel of the guild. */
export function emptyServer(app, guild, burger) {
  const manage = app.store.mayInGuild(guild, "MANAGE_CHANNELS");
  return [
    h("header.main-head", null, burger, icon("hash"), h("h1", null, guild.name)),
    h(
      "div.scroller.pad",
      { tabindex: 0, role: "region", "aria-label": guild.name },
      emptyState({
        icon: "hash",
        title: t("No text channel yet"),
        words: manage
          ? t("Create a channel, then invite people.")
          : t("You cannot see any text channel here. Ask a moderator for access."),
        action: manage ? t("New channel") : undefined,
        run: () => addChannel(app, guild, null),
      }),
    ),
  ];
}

/** The heading above the first message of a channel. */
export function beginning(app, channel, log) {
  const { store } = app,
    name = channel.guild_id ? `#${channel.name}` : store.nameOfChannel(channel);
  const write = store.may(channel, "SEND_MESSAGES"),
    mayInvite = channel.guild_id && store.may(channel, "CREATE_INSTANT_INVITE");
  return h(
    "div.beginning",
    null,
    h("h2", null, name),
    h("p.faint", null, t("This is the beginning of the conversation.")),
    !log.list.length &&
      h(
        "p.faint",
        null,
        !write
          ? t("Nobody has written here yet. You do not have permission to write here.")
          : channel.type === DM
            ? t("Say hello: write a message below.")
            : t("Nobody has written here yet. Write the first message below."),
      ),
    !log.list.length &&
      mayInvite &&
      h("button.button.secondary", { type: "button", onclick: () => invite(app, channel) }, t("Invite people")),
  );
}
