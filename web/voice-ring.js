// voice-ring.js - incoming calls: the window with Accept and Decline, and the ringing sound.
import { fill, h } from "./dom.js";
import { icon } from "./icons.js";
import { avatar } from "./images.js";
import { playSound, soundOn } from "./notifications.js";
import { DM } from "./store.js";
import { t } from "./translate.js";

const RING_MS = 2000;

/** @param {any} app */
export function ringer(app) {
  const { store } = app,
    box = h("div.ring", { role: "alertdialog", "aria-label": t("Incoming call"), hidden: true });
  let tone;
  document.body.append(box);

  function draw() {
    const call = [...store.calls.values()].find((c) => c.ringing.includes(store.me?.id)),
      channel = call && store.channels.get(call.channel_id);
    box.hidden = !channel;
    clearInterval(tone);
    if (!channel) return fill(box);
    const caller = channel.type === DM ? channel.recipients[0] : store.user(store.voiceOf(channel.id)[0]?.user_id),
      name = store.nameOfChannel(channel);
    const answer = (video) => async () => {
      app.go(`/channels/@me/${channel.id}`);
      const { startCall } = await import("./voice-controls.js");
      startCall(app, channel, video);
    };
    const decline = () => app.tryCall(app.rest.post(`/channels/${channel.id}/call/stop-ringing`, {}));
    const button = (kind, name, label, onclick) =>
      h("button.round", { type: "button", class: kind, "aria-label": label, title: label, onclick }, icon(name));
    fill(
      box,
      avatar(caller, name, "large-avatar"),
      h("strong.clip", null, name),
      h("p.faint", null, t("Incoming call")),
      h(
        "div.ring-actions",
        null,
        button("danger", "hangup", t("Decline"), decline),
        button("", "camera", t("Accept with video"), answer(true)),
        button("success", "phone", t("Accept"), answer(false)),
      ),
    );
    if (!soundOn()) return;
    playSound();
    tone = setInterval(playSound, RING_MS);
  }
  return { draw };
}
