// voice.js - the members of a voice channel, and the user's own voice controls.
import { below, fill, h, icon, iconButton, menu, refill } from "../dom.js";
import { avatar, ownPath } from "../images.js";
import { STAGE } from "../store.js";
import { pickEmoji } from "../emoji-picker.js";
import { t } from "../translate.js";

export function joinVoice(app, channel, more) {
  const own = app.store.ownVoice();
  app.gateway.send(4, {
    guild_id: channel?.guild_id ?? app.store.channels.get(own?.channel_id)?.guild_id ?? null,
    channel_id: channel?.id ?? null,
    self_mute: own?.self_mute ?? false,
    self_deaf: own?.self_deaf ?? false,
    ...more,
  });
}

/** The voice panel below the channel list. */
export function voiceBar(app) {
  const own = app.store.ownVoice(),
    channel = own && app.store.channels.get(own.channel_id);
  if (!channel) return null;
  return h(
    "div.voice-bar",
    { role: "group", "aria-label": t("Voice") },
    h(
      "div.clip",
      null,
      h("strong", null, app.store.nameOfChannel(channel)),
      h(
        "small.faint.clip",
        {
          title: t(
            "Voice does not work in browsers yet. Others see you in this channel, but no sound is sent or received.",
          ),
        },
        t("No sound in browsers"),
      ),
    ),
    iconButton(
      own.self_mute ? "muted" : "mic",
      own.self_mute ? t("Unmute") : t("Mute"),
      () => joinVoice(app, channel, { self_mute: !own.self_mute }),
      { "aria-pressed": String(own.self_mute) },
    ),
    iconButton(
      "deaf",
      own.self_deaf ? t("Undeafen") : t("Deafen"),
      () => joinVoice(app, channel, { self_deaf: !own.self_deaf }),
      { "aria-pressed": String(own.self_deaf) },
    ),
    iconButton("leave", t("Leave voice"), () => joinVoice(app, null)),
  );
}

export function voicePage(app, main, channel, head) {
  const { store } = app,
    guild = store.guildOf(channel);
  const drawn = h("div.voice-drawn"),
    body = h("div.voice-page", null, drawn);
  const stage = channel.type === STAGE;

  /** Preview images of streams: URL by user id, null while it is loading. */
  const previews = new Map();

  function preview(v, name) {
    if (!v.self_stream) return previews.delete(v.user_id) && null;
    if (!previews.has(v.user_id)) {
      previews.set(v.user_id, null);
      app.rest.get(`/streams/${encodeURIComponent(`guild:${guild.id}:${channel.id}:${v.user_id}`)}/preview`).then(
        (a) => {
          previews.set(v.user_id, ownPath(a.url));
          draw();
        },
        () => {},
      );
    }
    return (
      previews.get(v.user_id) &&
      h("img.stream-preview", { src: previews.get(v.user_id), alt: t("Stream of {name}", { name }) })
    );
  }

  function person(v) {
    const name = store.nameOf(v.user_id, guild);
    const speaks = app.voiceLine.speaking.has(v.user_id);
    return h(
      "div.voice-tile",
      { class: [v.suppress ? "audience" : "", speaks ? "speaking" : ""].join(" ") },
      preview(v, name) || avatar(store.user(v.user_id), name, "large-avatar"),
      h("strong", null, name),
      h(
        "div.voice-marks",
        null,
        speaks && h("span.tag.live", null, t("speaking")),
        (v.self_mute || v.mute) && h("span.tag", null, t("muted")),
        (v.self_deaf || v.deaf) && h("span.tag", null, t("deafened")),
        v.self_stream && h("span.tag.live", null, t("streaming")),
        v.self_video && h("span.tag", null, t("video")),
        v.request_to_speak_timestamp && h("span.tag", null, t("hand raised")),
      ),
      v.user_id !== store.me.id &&
        iconButton("more", t("Actions for {name}", { name }), (e) => moderate(v, name, e.currentTarget)),
    );
  }

  function moderate(v, name, at) {
    const path = `/guilds/${guild.id}/members/${v.user_id}`,
      call = (b) => app.tryCall(app.rest.patch(path, b));
    const others = store.channelsOf(guild).filter((c) => (c.type === 2 || c.type === STAGE) && c.id !== channel.id);
    menu(
      below(at),
      [
        stage &&
          store.may(channel, "MUTE_MEMBERS") && {
            label: v.suppress ? t("Invite to speak") : t("Move to the audience"),
            icon: "stage",
            run: () =>
              app.tryCall(
                app.rest.patch(`/guilds/${guild.id}/voice-states/${v.user_id}`, {
                  channel_id: channel.id,
                  suppress: !v.suppress,
                }),
              ),
          },
        store.may(channel, "MUTE_MEMBERS") && {
          label: v.mute ? t("Unmute") : t("Mute"),
          icon: "muted",
          run: () => call({ mute: !v.mute }),
        },
        store.may(channel, "DEAFEN_MEMBERS") && {
          label: v.deaf ? t("Undeafen") : t("Deafen"),
          icon: "deaf",
          run: () => call({ deaf: !v.deaf }),
        },
        ...(store.may(channel, "MOVE_MEMBERS")
          ? others.map((c) => ({
              label: t("Move to {name}", { name: c.name }),
              icon: "voice",
              run: () => call({ channel_id: c.id }),
            }))
          : []),
        store.may(channel, "MOVE_MEMBERS") && {
          label: t("Disconnect"),
          icon: "leave",
          danger: true,
          run: () => call({ channel_id: null }),
        },
        { label: t("Profile"), icon: "user", run: () => app.showProfile(v.user_id, at) },
      ].filter(Boolean),
      name,
    );
  }

  function controls(own) {
    if (!own) return h("button.button.success", { type: "button", onclick: () => joinVoice(app, channel) }, t("Join"));
    const state = (b) =>
      app.tryCall(app.rest.patch(`/guilds/${guild.id}/voice-states/@me`, { channel_id: channel.id, ...b }));
    return [
      stage &&
        own.suppress &&
        h(
          "button.button.secondary",
          {
            type: "button",
            onclick: () =>
              state({ request_to_speak_timestamp: own.request_to_speak_timestamp ? null : new Date().toISOString() }),
          },
          icon("hand"),
          own.request_to_speak_timestamp ? t("Lower your hand") : t("Raise your hand"),
        ),
      stage &&
        own.suppress &&
        store.may(channel, "MUTE_MEMBERS") &&
        h("button.button.secondary", { type: "button", onclick: () => state({ suppress: false }) }, t("Speak")),
      stage &&
        !own.suppress &&
        h(
          "button.button.secondary",
          { type: "button", onclick: () => state({ suppress: true }) },
          t("Back to the audience"),
        ),
      h(
        "button.button.secondary",
        {
          type: "button",
          onclick: (e) =>
            pickEmoji(guild, e.currentTarget, (x) =>
              app.tryCall(
                app.rest.post(
                  `/channels/${channel.id}/voice-channel-effects`,
                  x.id ? { emoji_id: x.id, emoji_name: x.name } : { emoji_name: x.name },
                ),
              ),
            ),
        },
        icon("smile"),
        t("Send effect"),
      ),
      h("button.button.danger", { type: "button", onclick: () => joinVoice(app, null) }, t("Leave")),
    ];
  }

  async function openStage() {
    const topic = await app.ask(t("Start the stage"), t("Topic"), "", t("Start"));
    if (topic) app.tryCall(app.rest.post("/stage-instances", { channel_id: channel.id, topic }));
  }

  function draw() {
    const states = store.voiceOf(channel.id),
      own = states.find((v) => v.user_id === store.me.id),
      live = store.stages.get(channel.id);
    const speakers = stage ? states.filter((v) => !v.suppress) : states,
      audience = stage ? states.filter((v) => v.suppress) : [];
    refill(
      drawn,
      stage &&
        h(
          "div.stage-topic",
          null,
          live
            ? [
                h("h2", null, live.topic),
                store.may(channel, "MANAGE_CHANNELS") &&
                  h(
                    "button.button.secondary",
                    { type: "button", onclick: () => app.tryCall(app.rest.delete(`/stage-instances/${channel.id}`)) },
                    t("End the stage"),
                  ),
              ]
            : [
                h("p.faint", null, channel.topic || t("The stage has not started.")),
                store.may(channel, "MANAGE_CHANNELS") &&
                  h("button.button.primary", { type: "button", onclick: openStage }, t("Start the stage")),
              ],
        ),
      h(
        "section.voice-tiles",
        { "aria-label": stage ? t("Speakers") : t("Connected members") },
        speakers.length ? speakers.map(person) : h("p.faint", null, t("No one is connected.")),
      ),
      stage &&
        audience.length > 0 &&
        h(
          "section",
          { "aria-label": t("Audience") },
          h("h3", null, t("Audience – {n}", { n: audience.length })),
          h("div.voice-tiles.small", null, audience.map(person)),
        ),
      h(
        "p.notice",
        { role: "note" },
        t("Voice does not work in browsers yet. Others see you in this channel, but no sound is sent or received."),
      ),
      h("div.voice-controls", null, controls(own)),
    );
  }

  function effect() {
    const e = store.effect;
    if (e?.channel_id !== channel.id) return;
    const el = h("span.effect", { "aria-hidden": "true" }, e.emoji?.name || "♪");
    body.append(el);
    setTimeout(() => el.remove(), 2500);
  }

  fill(main, head, h("div.scroller", { tabindex: 0 }, body));
  draw();
  const off = [
    store.on("voice", draw),
    store.on("effects", effect),
    store.on("members", draw),
    store.on("speaking", draw),
  ];
  return () => off.forEach((f) => f());
}
