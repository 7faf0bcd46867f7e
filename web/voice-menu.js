// voice-menu.js - the context menu of a user in voice: volume, moderation, profile.
import { h } from "./dom.js";
import { below, menu } from "./menu.js";
import { STAGE } from "./store.js";
import { t } from "./translate.js";
import { volumeOf } from "./voice-preferences.js";

const MOST_CHANNELS = 15;

/**
 * Opens the context menu of a user in voice.
 * @param {any} app @param {any} channel @param {any} v the voice state @param {HTMLElement} at
 */
export function personMenu(app, channel, v, at) {
  const { store } = app,
    guild = store.guildOf(channel),
    name = store.nameOf(v.user_id, guild);
  menu(
    below(at),
    [
      app.voice.media && { el: volumeSlider(app, v.user_id) },
      ...(guild ? moderation(app, channel, guild, v) : []),
      { label: t("Profile"), icon: "user", run: () => app.showProfile(v.user_id, at) },
    ].filter(Boolean),
    name,
  );
}

function volumeSlider(app, user) {
  const input = h("input", {
    type: "range",
    "aria-label": t("User volume"),
    min: 0,
    max: 200,
    step: 5,
    value: String(Math.round(volumeOf(user) * 100)),
    oninput: () => {
      app.voice.media.setVolume(user, Number(input.value) / 100);
      shown.textContent = `${input.value} %`;
    },
  });
  const shown = h("b", null, `${Math.round(volumeOf(user) * 100)} %`);
  return h("div.menu-slider", null, h("span", null, t("User volume"), shown), input);
}

function moderation(app, channel, guild, v) {
  const { store } = app,
    path = `/guilds/${guild.id}/members/${v.user_id}`,
    call = (b) => app.tryCall(app.rest.patch(path, b)),
    may = (right) => store.may(channel, right);
  const suppress = (b) =>
    app.tryCall(
      app.rest.patch(`/guilds/${guild.id}/voice-states/${v.user_id}`, { channel_id: channel.id, suppress: b }),
    );
  const others = store
    .channelsOf(guild)
    .filter((c) => (c.type === 2 || c.type === STAGE) && c.id !== channel.id)
    .slice(0, MOST_CHANNELS);
  return [
    channel.type === STAGE &&
      may("MUTE_MEMBERS") && {
        label: v.suppress ? t("Invite to speak") : t("Move to the audience"),
        icon: "stage",
        run: () => suppress(!v.suppress),
      },
    may("MUTE_MEMBERS") && {
      label: v.mute ? t("Server unmute") : t("Server mute"),
      icon: "muted",
      run: () => call({ mute: !v.mute }),
    },
    may("DEAFEN_MEMBERS") && {
      label: v.deaf ? t("Server undeafen") : t("Server deafen"),
      icon: "deaf",
      run: () => call({ deaf: !v.deaf }),
    },
    ...(may("MOVE_MEMBERS")
      ? others.map((c) => ({
          label: t("Move to {name}", { name: c.name }),
          icon: "voice",
          run: () => call({ channel_id: c.id }),
        }))
      : []),
    may("MOVE_MEMBERS") && {
      label: t("Disconnect"),
      icon: "leave",
      danger: true,
      run: () => call({ channel_id: null }),
    },
  ];
}
