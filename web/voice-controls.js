// voice-controls.js - the buttons of a call: microphone, sound, camera, screen, soundboard, stage, leave.
import { h, toast } from "./dom.js";
import { below, menu } from "./menu.js";
import { icon } from "./icons.js";
import { pickEmoji } from "./emoji-picker.js";
import { STAGE } from "./store.js";
import { t } from "./translate.js";
import { openSoundboard } from "./voice-soundboard.js";
import { deviceMenu, openVoiceSettings } from "./voice-settings.js";

/** A round button. @param {string} name @param {string} label @param {(e: any) => any} onclick @param {any} [more] */
const round = (name, label, onclick, more) =>
  h("button.round", { type: "button", "aria-label": label, title: label, onclick, ...more }, icon(name));

/**
 * Returns the buttons of a call.
 * @param {any} app @param {any} channel @param {any} own the user's voice state, if this window is in the channel
 */
export function voiceControls(app, channel, own) {
  const { store, voice } = app;
  if (!own) return joinControls(app, channel);
  const guild = store.guildOf(channel),
    media = voice.media,
    sharing = !!media?.streams.screen;
  const may = (right) => !guild || store.may(channel, right),
    fail = (words) => words && toast(words, "bad");
  return [
    channel.type === STAGE && stageControls(app, channel, own),
    h(
      "span.round-pair",
      null,
      muteButton(app, own, "round"),
      round("down", t("Devices"), (e) => deviceMenu(app, e.currentTarget), { class: "small" }),
    ),
    deafButton(app, own, "round"),
    may("STREAM") &&
      !own.suppress &&
      round(
        own.self_video ? "camera" : "camera-off",
        own.self_video ? t("Turn off camera") : t("Turn on camera"),
        async () => fail(await media?.setCamera(!own.self_video)),
        { "aria-pressed": String(!!own.self_video) },
      ),
    may("STREAM") &&
      !own.suppress &&
      round(
        "screen",
        sharing ? t("Stop sharing") : t("Share your screen"),
        async () => (sharing ? media.streams.stop(store.me.id) : fail(await media?.streams.share())),
        { "aria-pressed": String(sharing) },
      ),
    guild &&
      may("USE_SOUNDBOARD") &&
      !own.suppress &&
      round("music", t("Soundboard"), (e) => openSoundboard(app, channel, e.currentTarget)),
    guild && round("smile", t("Send effect"), (e) => sendEffect(app, channel, guild, e.currentTarget)),
    round("gear", t("Voice settings"), () => openVoiceSettings(app)),
    round("hangup", t("Disconnect"), () => voice.leave(), { class: "danger" }),
  ];
}

function joinControls(app, channel) {
  const full = app.store.ownVoice()?.channel_id === channel.id;
  return h(
    "div.voice-join",
    null,
    full && h("p.faint", null, t("You are connected on another device. Joining here moves the call to this window.")),
    h(
      "button.button.success",
      { type: "button", onclick: () => app.voice.join(channel) },
      icon(channel.guild_id ? "voice" : "phone"),
      channel.guild_id ? t("Join voice") : t("Join call"),
    ),
  );
}

/** A button that mutes and unmutes the user's own microphone. @param {any} own @param {string} kind the CSS class */
export function muteButton(app, own, kind) {
  const quiet = own.self_mute || own.self_deaf,
    forced = own.mute || own.suppress;
  const words = own.mute ? t("Muted by a moderator") : own.suppress ? t("You are in the audience") : "";
  const label = quiet ? t("Unmute") : t("Mute");
  return h(
    `button.${kind}`,
    {
      type: "button",
      "aria-label": label,
      title: words || label,
      "aria-pressed": String(quiet),
      class: [quiet ? "off" : "", forced ? "forced" : ""].join(" "),
      onclick: () =>
        app.voice.change(own.self_deaf ? { self_deaf: false, self_mute: false } : { self_mute: !own.self_mute }),
    },
    icon(quiet || forced ? "muted" : "mic"),
  );
}

export function deafButton(app, own, kind) {
  const label = own.self_deaf ? t("Undeafen") : t("Deafen");
  return h(
    `button.${kind}`,
    {
      type: "button",
      "aria-label": label,
      title: own.deaf ? t("Deafened by a moderator") : label,
      "aria-pressed": String(own.self_deaf),
      class: [own.self_deaf ? "off" : "", own.deaf ? "forced" : ""].join(" "),
      onclick: () => app.voice.change({ self_deaf: !own.self_deaf }),
    },
    icon(own.self_deaf || own.deaf ? "deaf" : "headphones"),
  );
}

function stageControls(app, channel, own) {
  const state = (b) =>
    app.tryCall(app.rest.patch(`/guilds/${channel.guild_id}/voice-states/@me`, { channel_id: channel.id, ...b }));
  const hand = own.request_to_speak_timestamp;
  const button = (words, run, kind, name) =>
    h(`button.button.${kind}`, { type: "button", onclick: run }, name && icon(name), words);
  if (!own.suppress && hand)
    return [
      button(t("Accept and speak"), () => state({ request_to_speak_timestamp: null }), "success", "mic"),
      button(t("Decline"), () => state({ suppress: true }), "secondary"),
    ];
  if (!own.suppress) return button(t("Back to the audience"), () => state({ suppress: true }), "secondary");
  return [
    button(
      hand ? t("Lower your hand") : t("Raise your hand"),
      () => state({ request_to_speak_timestamp: hand ? null : new Date().toISOString() }),
      "secondary",
      "hand",
    ),
    app.store.may(channel, "MUTE_MEMBERS") && button(t("Speak"), () => state({ suppress: false }), "primary"),
  ];
}

function sendEffect(app, channel, guild, at) {
  pickEmoji(guild, at, (x) =>
    app.tryCall(
      app.rest.post(
        `/channels/${channel.id}/voice-channel-effects`,
        x.id ? { emoji_id: x.id, emoji_name: x.name } : { emoji_name: x.name },
      ),
    ),
  );
}

/** Opens the menu that starts a call with or without video. */
export const callMenu = (app, channel, at) =>
  menu(
    below(at),
    [
      { label: t("Voice call"), icon: "phone", run: () => startCall(app, channel) },
      { label: t("Video call"), icon: "camera", run: () => startCall(app, channel, true) },
    ],
    t("Call"),
  );

/** Joins the call of a private channel. If no call is running, starts one and rings the other users. */
export async function startCall(app, channel, video) {
  const running = app.store.calls.has(channel.id);
  await app.voice.join(channel);
  await app.store.when("voice", () => !!app.voice.own());
  if (!running) app.tryCall(app.rest.post(`/channels/${channel.id}/call/ring`, {}));
  if (video) {
    const words = await app.voice.media.setCamera(true);
    if (words) toast(words, "bad");
  }
}
