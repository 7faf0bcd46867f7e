// voice-soundboard.js - the soundboard: plays sounds of the guild to everybody in the voice channel.
import { dialog, fill, h } from "./dom.js";
import { emptyState } from "./first-steps.js";
import { t } from "./translate.js";

/** Opens the soundboard of the guild. @param {any} app @param {any} channel */
export function openSoundboard(app, channel, _at) {
  return dialog(t("Soundboard"), () => {
    const box = h("div.sounds", null, h("p.faint", { role: "status" }, t("Loading…"))),
      problem = h("p.field-error", { role: "alert", hidden: true });
    const play = async (s) => {
      problem.hidden = true;
      try {
        await app.rest.post(`/channels/${channel.id}/send-soundboard-sound`, { sound_id: s.sound_id });
      } catch (e) {
        problem.hidden = false;
        problem.textContent = e.words || e.message;
      }
    };
    const button = (s) =>
      h(
        "button.sound",
        { type: "button", onclick: () => play(s) },
        h("span", { "aria-hidden": "true" }, s.emoji_name || "♪"),
        h("span.clip", null, s.name),
      );
    Promise.all([
      app.rest.get(`/guilds/${channel.guild_id}/soundboard-sounds`).then((a) => a.items),
      app.rest.get("/soundboard-default-sounds").catch(() => []),
    ]).then(
      ([own, shared]) =>
        fill(
          box,
          own.length + shared.length
            ? [...own, ...shared].map(button)
            : emptyState({
                icon: "music",
                title: t("No sounds yet"),
                words: t("Members with the permission can upload sounds in the server settings."),
              }),
        ),
      (e) => fill(box, h("p.field-error", { role: "alert" }, e.words || e.message)),
    );
    return [box, problem];
  });
}
