// voice-bar.js - the panel below the channel list that is shown while this window is in a voice channel.
import { h, refillChanged } from "./dom.js";
import { icon, iconButton } from "./icons.js";
import { t } from "./translate.js";
import { deafButton, muteButton } from "./voice-controls.js";
import { qualityClass, qualityWords } from "./voice-words.js";

const box = h("div.voice-bar", { role: "group" }, h("div.voice-bar-row"), h("p.voice-problem"), h("div.voice-bar-row")),
  [top, problem, buttons] = /** @type {HTMLElement[]} */ ([...box.children]);

/** Returns the panel of the running call. @param {any} app @returns {HTMLElement|null} */
export function voiceBar(app) {
  const own = app.voice.own(),
    channel = own && app.store.channels.get(own.channel_id),
    media = app.voice.media;
  if (!channel || !media) return null;
  const connected = media.state === "connected",
    words = media.problem || media.input?.problem;
  const state = connected ? t("Voice connected") : media.problem ? t("No sound") : t("Connecting…");
  const quality = media.quality && qualityWords(media.quality),
    path = `/channels/${channel.guild_id || "@me"}/${channel.id}`,
    name = app.store.nameOfChannel(channel);
  box.setAttribute("aria-label", t("Voice"));
  problem.hidden = !words;
  problem.textContent = words || "";
  refillChanged(top, [state, quality, path, name], () => [
    h(
      "span.quality",
      { class: connected ? qualityClass(media.quality) : "poor", title: quality || state },
      icon("signal"),
    ),
    h(
      "a.clip",
      { href: path },
      h("strong.clip", { class: connected ? "good" : "" }, state),
      h("small.clip", null, name, quality && ` · ${quality}`),
    ),
    iconButton("hangup", t("Leave voice"), () => app.voice.leave(), { class: "danger" }),
  ]);
  refillChanged(buttons, own, () => [
    muteButton(app, own, "icon-button"),
    deafButton(app, own, "icon-button"),
    iconButton("gear", t("Voice settings"), async () => (await import("./voice-settings.js")).openVoiceSettings(app)),
  ]);
  return box;
}
