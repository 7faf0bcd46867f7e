// voice-message.js - plays a voice message: a button, the waveform, the duration.
import { h } from "./dom.js";
import { icon } from "./icons.js";
import { ownPath } from "./images.js";
import { t } from "./translate.js";

const BARS = 40;
let playing = /** @type {HTMLAudioElement|null} */ (null);

const minutes = (s) => `${Math.floor(s / 60)}:${String(Math.floor(s % 60)).padStart(2, "0")}`;

/** Decodes a waveform to loudness values from 0 to 255. @param {string} text base64 */
function bars(text) {
  try {
    const all = [...atob(text || "")].map((c) => c.charCodeAt(0));
    return Array.from({ length: BARS }, (_, i) => all[Math.floor((i * all.length) / BARS)] ?? 0);
  } catch {
    return new Array(BARS).fill(0);
  }
}

/**
 * Returns a player for a voice message.
 * @param {{url: string, duration_secs?: number, waveform?: string}} a the attachment
 */
export function voiceMessage(a) {
  const path = ownPath(a.url),
    length = a.duration_secs || 0;
  const sound = h("audio", { src: path, preload: "none" }),
    time = h("span.faint", null, minutes(length));
  const range = h("input", {
    type: "range",
    min: 0,
    max: Math.max(length, 0.1),
    step: 0.1,
    "aria-label": t("Position"),
  });
  range.value = "0";
  const button = h("button.icon-button", { type: "button", "aria-label": t("Play") }, icon("play"));
  const show = () => {
    button.setAttribute("aria-label", sound.paused ? t("Play") : t("Pause"));
    button.replaceChildren(icon(sound.paused ? "play" : "pause"));
    time.textContent = minutes(sound.paused && !sound.currentTime ? length : sound.currentTime);
    range.value = String(sound.currentTime);
  };
  button.addEventListener("click", () => {
    if (!sound.paused) return sound.pause();
    if (playing !== sound) playing?.pause();
    playing = sound;
    sound.play().catch(() => {
      time.textContent = t("This browser cannot play the file.");
    });
  });
  range.addEventListener("input", () => {
    sound.currentTime = Number(range.value);
  });
  for (const event of ["play", "pause", "timeupdate"]) sound.addEventListener(event, show);
  sound.addEventListener("ended", () => {
    sound.currentTime = 0;
    show();
  });
  return h(
    "div.voice-message",
    { role: "group", "aria-label": t("Voice message, {time}", { time: minutes(length) }) },
    button,
    h(
      "span.waveform",
      { "aria-hidden": "true" },
      bars(a.waveform).map((v) => h("i", { style: { "--loud": String(Math.max(0.08, v / 255)) } })),
    ),
    range,
    time,
    sound,
  );
}
