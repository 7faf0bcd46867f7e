// place-menu.js - the context menus of channels and guilds.
import { menu } from "../menu.js";
import { copyId, copyLink, menuPosition } from "../message-menu.js";
import { CATEGORY, isThread } from "../store.js";
import { t } from "../translate.js";
import { manageEntries } from "./channel/menu.js";
import { privateEntries } from "./group.js";
import { channelNotifications, guildNotifications, muteFor } from "./notification-menu.js";

/** Returns an event handler that opens a context menu. A right click with Shift opens the browser's own menu. */
export const onContext = (open) => (e) => {
  if (e.shiftKey && e.button === 2) return;
  e.preventDefault();
  open(e);
};

/** @param {Element|MouseEvent} at */
export function channelMenu(app, channel, at) {
  const { store } = app,
    muted = store.isMuted(channel),
    thread = isThread(channel);
  const setMute = (change) =>
    app.tryCall(
      thread
        ? app.rest.patch(`/channels/${channel.id}/thread-members/@me/settings`, change)
        : store.changeGuildSettings(channel.guild_id || "@me", { channel_overrides: { [channel.id]: change } }),
    );
  menu(
    menuPosition(at),
    [
      channel.type !== CATEGORY &&
        store.unread.has(channel.id) && {
          label: t("Mark as read"),
          icon: "check",
          run: () => app.tryCall(store.markRead(channel.id)),
        },
      (!thread || channel.member) && {
        label: muted ? t("Unmute") : t("Mute"),
        icon: muted ? "bell" : "bell-off",
        run: () => setMute(muteFor(muted ? null : -1)),
      },
      { label: t("Notification settings"), icon: "bell", run: () => channelNotifications(app, channel) },
      channel.type !== CATEGORY && { label: t("Copy link"), icon: "link", run: () => copyLink(channel) },
      { label: t("Copy ID"), icon: "hash", run: () => copyId(channel.id) },
      ...manageEntries(app, channel),
      ...privateEntries(app, channel),
    ].filter(Boolean),
    store.nameOfChannel(channel),
  );
}

/** The entries in the context menu of a guild. */
export function guildEntries(app, guild) {
  const { store } = app,
    muted = store.isGuildMuted(guild.id);
  return [
    { label: t("Mark as read"), icon: "check", run: () => app.tryCall(store.markGuildRead(guild.id)) },
    {
      label: muted ? t("Unmute server") : t("Mute server"),
      icon: muted ? "bell" : "bell-off",
      run: () => app.tryCall(store.changeGuildSettings(guild.id, muteFor(muted ? null : -1))),
    },
    { label: t("Notification settings"), icon: "bell", run: () => guildNotifications(app, guild) },
  ];
}

/** @param {Element|MouseEvent} at */
export function guildMenu(app, guild, at) {
  menu(
    menuPosition(at),
    [...guildEntries(app, guild), { label: t("Copy ID"), icon: "hash", run: () => copyId(guild.id) }],
    guild.name,
  );
}

/** @param {Element|MouseEvent} at */
export function personMenu(app, user, at) {
  const { store } = app,
    position = menuPosition(at),
    el = at instanceof Element ? at : /** @type {Element} */ (at.currentTarget);
  menu(
    position,
    [
      { label: t("Profile"), icon: "user", run: () => app.showProfile(user.id, el) },
      user.id !== store.me.id && { label: t("Message"), icon: "reply", run: () => app.messagePerson(user.id) },
      { label: t("Copy ID"), icon: "hash", run: () => copyId(user.id) },
    ].filter(Boolean),
    user.global_name || user.username,
  );
}
