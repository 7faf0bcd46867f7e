// voice-page.js - the page of a voice channel or stage, and the panel of a call, which is above the messages of its
// channel.
import { h, refillChanged } from "./dom.js";
import { icon } from "./icons.js";
import { STAGE } from "./store.js";
import { t } from "./translate.js";
import { voiceControls } from "./voice-controls.js";
import { VoiceTiles } from "./voice-tiles.js";

/** @param {any} app @param {any} channel @returns {{el: HTMLElement, end: () => void}} */
export function voicePage(app, channel) {
  const { store, voice } = app,
    stage = channel.type === STAGE;
  const tiles = new VoiceTiles(app, channel, stage ? t("Speakers") : t("Connected members")),
    audience = stage ? new VoiceTiles(app, channel, t("Audience")) : null;
  const head = h("div.voice-head"),
    heading = h("h2"),
    problems = h("div.voice-problems"),
    controls = h("div.voice-controls", { role: "group", "aria-label": t("Voice controls") });
  if (audience) audience.el.classList.add("small");
  const el = h(
    "div.voice-page",
    { class: stage ? "stage" : "" },
    head,
    tiles.el,
    audience && heading,
    audience?.el,
    problems,
    controls,
  );

  async function openStage() {
    const topic = await app.ask(t("Start the stage"), t("Topic"), "", t("Start"));
    if (topic) app.tryCall(app.rest.post("/stage-instances", { channel_id: channel.id, topic }));
  }

  function stageTopic() {
    const live = store.stages.get(channel.id),
      manage = store.may(channel, "MANAGE_CHANNELS");
    const button = (words, run, kind) => h(`button.button.${kind}`, { type: "button", onclick: run }, words);
    return h(
      "div.stage-topic",
      null,
      live ? h("h2", null, live.topic) : h("p.faint", null, channel.topic || t("The stage has not started.")),
      manage &&
        (live
          ? button(
              t("End the stage"),
              () => app.tryCall(app.rest.delete(`/stage-instances/${channel.id}`)),
              "secondary",
            )
          : button(t("Start the stage"), openStage, "primary")),
    );
  }

  function draw() {
    const states = store.voiceOf(channel.id),
      found = states.find((v) => v.user_id === store.me.id),
      own = found && voice.own();
    // If no user is left in a call, hide its panel.
    el.hidden = !channel.guild_id && !states.length;
    const order = (a, b) => Number(b.self_stream || b.self_video) - Number(a.self_stream || a.self_video);
    states.sort(order);
    tiles.draw(stage ? states.filter((v) => !v.suppress) : states);
    const listeners = states.filter((v) => v.suppress);
    audience?.draw(listeners);
    heading.hidden = !listeners.length;
    if (audience) audience.el.hidden = !listeners.length;
    heading.textContent = t("Audience – {n}", { n: listeners.length });
    const { media } = voice,
      permissions = String(store.permissions(channel)),
      live = store.stages.get(channel.id)?.topic;
    refillChanged(head, [!!own, live, permissions, channel.topic], () => [stage && stageTopic(), own && encryption()]);
    refillChanged(problems, [own?.mute, own?.deaf, !!own, media?.problem, media?.input?.problem], () =>
      problemLines(app, own),
    );
    refillChanged(controls, [own, found, permissions, !!media?.streams.screen], () => voiceControls(app, channel, own));
  }

  function effect() {
    const e = store.effect;
    if (e?.channel_id !== channel.id) return;
    const shown = h("span.effect", { "aria-hidden": "true" }, e.emoji?.name || "♪");
    el.append(shown);
    setTimeout(() => shown.remove(), 2500);
  }

  draw();
  const mark = () => {
    tiles.markSpeakers();
    audience?.markSpeakers();
  };
  const off = [
    ...["voice", "call", "calls", "members"].map((topic) => store.on(topic, draw)),
    store.on("effects", effect),
    store.on("speaking", mark),
  ];
  return { el, end: () => off.forEach((f) => f()) };
}

/** A notice that the call is not end-to-end encrypted. */
function encryption() {
  return h(
    "details.e2ee",
    null,
    h("summary", null, icon("unlock"), t("Not end-to-end encrypted")),
    h("p", null, t("The server could listen to this call, because this page does not support DAVE encryption.")),
  );
}

/** Returns lines of text with the reasons why the user gets no sound or cannot speak. */
export function problemLines(app, own) {
  const media = app.voice.media,
    line = (words, action) => h("p.voice-problem", { role: "alert" }, h("span", null, words), action);
  return [
    media?.problem && line(media.problem),
    own &&
      media?.input?.problem &&
      line(
        media.input.problem,
        h("button.button.secondary", { type: "button", onclick: () => media.restartInput() }, t("Try again")),
      ),
    own?.mute && line(t("A moderator muted you: nobody hears you.")),
    own?.deaf && line(t("A moderator deafened you: you hear nobody.")),
  ];
}
