// voice-bar.js - the panel below the channel list while this window is in voice.
import { h, icon, iconButton } from "./dom.js";
import { t } from "./translate.js";
import { deafButton, muteButton } from "./voice-controls.js";
import { qualityClass, qualityWords } from "./voice-words.js";

/** @param {any} app @returns {HTMLElement|null} */
export function voiceBar(app) {
  const own = app.voice.own(),
    channel = own && app.store.channels.get(own.channel_id),
    media = app.voice.media;
  if (!channel || !media) return null;
  const connected = media.state === "connected",
    words = media.problem || media.input?.problem;
  const state = connected ? t("Voice connected") : media.problem ? t("No sound") : t("Connecting…");
  return h(
    "div.voice-bar",
    { role: "group", "aria-label": t("Voice") },
    h(
      "div.voice-bar-row",
      null,
      h(
        "span.quality",
        {
          class: connected ? qualityClass(media.quality) : "poor",
          title: media.quality ? qualityWords(media.quality) : state,
        },
        icon("signal"),
      ),
      h(
        "a.clip",
        { href: `/channels/${channel.guild_id || "@me"}/${channel.id}` },
        h("strong.clip", { class: connected ? "good" : "" }, state),
        h(
          "small.clip",
          null,
          app.store.nameOfChannel(channel),
          media.quality && h("span.quality-words", null, ` · ${qualityWords(media.quality)}`),
        ),
      ),
      iconButton("hangup", t("Leave voice"), () => app.voice.leave(), { class: "danger" }),
    ),
    words && h("p.voice-problem", { role: "status" }, words),
    h(
      "div.voice-bar-row",
      null,
      muteButton(app, own, "icon-button"),
      deafButton(app, own, "icon-button"),
      iconButton("gear", t("Voice settings"), async () => (await import("./voice-settings.js")).openVoiceSettings(app)),
    ),
  );
}
