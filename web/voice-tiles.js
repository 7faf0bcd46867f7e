// voice-tiles.js - the tiles of users in a voice channel: video or avatar, name, speaking state; one can be enlarged.
import { fillChanged, h } from "./dom.js";
import { icon, iconButton } from "./icons.js";
import { avatar, ownPath, patternOf } from "./images.js";
import { personMenu } from "./voice-menu.js";
import { t } from "./translate.js";

const MOST_TILES = 48;

export class VoiceTiles {
  /** Starts without tiles. @param {any} app @param {any} channel @param {string} label */
  constructor(app, channel, label) {
    this.app = app;
    this.store = app.store;
    this.channel = channel;
    this.el = h("section.voice-tiles", { "aria-label": label });
    /** Key of the enlarged tile; "" if none is enlarged. */
    this.focus = "";
    /**
     * The tiles by key: its element, and a text computed from the data that the tile shows.
     * @type {Map<string, {sign: string, el: HTMLElement}>}
     */
    this.made = new Map();
    /** Paths of stream previews by user id; null while a preview is loading. @type {Map<string, string|null>} */
    this.previews = new Map();
  }

  /** @param {any[]} states voice states */
  draw(states) {
    const { media } = this.app.voice,
      shown = states.slice(0, MOST_TILES);
    const items = shown.flatMap((v) => [
      ...(v.self_stream ? [this.item(v, `stream:${v.user_id}`, media)] : []),
      this.item(v, v.user_id, media),
    ]);
    if (this.focus && !items.some((i) => i.key === this.focus)) this.focus = "";
    if (states.length > shown.length) {
      const n = states.length - shown.length;
      items.push({ key: "more", sign: String(n), make: () => h("p.voice-tile.rest", null, t("and {n} more", { n })) });
    }
    if (!items.length)
      items.push({ key: "none", sign: "", make: () => h("p.voice-empty", null, t("No one is connected.")) });
    fillChanged(this.el, this.made, items);
    this.el.classList.toggle("focused", !!this.focus);
    this.el.style.setProperty("--columns", String(Math.min(4, Math.ceil(Math.sqrt(items.length)))));
    this.el.dataset.count = String(Math.min(items.length, 3));
    for (const [key, { el }] of this.made) el.classList.toggle("large", key === this.focus);
    this.markSpeakers();
  }

  markSpeakers() {
    for (const [key, { el }] of this.made) el.classList.toggle("speaking", this.app.voice.speaking.has(key));
  }

  item(v, key, media) {
    const video = media?.videos.get(key),
      stream = key.startsWith("stream:"),
      name = this.store.nameOf(v.user_id, this.store.guildOf(this.channel)),
      preview = stream && !video ? this.preview(v.user_id) : null,
      watches = stream && media?.streams.watches(v.user_id);
    const { self_mute, mute, self_deaf, deaf, suppress, request_to_speak_timestamp: hand } = v;
    const sign = JSON.stringify([
      name,
      self_mute,
      mute,
      self_deaf,
      deaf,
      suppress,
      hand,
      video?.id,
      preview,
      watches,
      this.store.user(v.user_id)?.avatar,
      key === this.focus,
    ]);
    return { key, sign, make: () => this.tile(v, key, { name, video, stream, preview, watches }) };
  }

  tile(v, key, { name, video, stream, preview, watches }) {
    const own = v.user_id === this.store.me.id,
      here = this.app.voice.own()?.channel_id === this.channel.id;
    const title = stream ? t("Stream of {name}", { name }) : name;
    return h(
      "div.voice-tile",
      {
        class: [v.suppress ? "audience" : "", video ? "video" : "", stream ? "stream" : ""].join(" "),
        style: { "--own": patternOf(v.user_id).background },
      },
      video
        ? this.video(video, title, own && !stream)
        : preview
          ? h("img.stream-preview", { src: preview, alt: title })
          : avatar(this.store.user(v.user_id), name, "voice-avatar"),
      h("button.tile-focus", {
        type: "button",
        "aria-label": key === this.focus ? t("Back to the grid") : t("Show {name} large", { name: title }),
        "aria-pressed": String(key === this.focus),
        onclick: () => this.choose(key),
      }),
      stream && here && !own && !watches && this.watchButton(v.user_id, key),
      h("div.voice-name", null, !stream && marks(v), h("strong.clip", null, stream ? title : name)),
      stream && h("span.tag.live", null, "LIVE"),
      stream && here && (watches || own) && this.stopButton(v.user_id, own),
      !stream &&
        !own &&
        iconButton("more", t("Actions for {name}", { name }), (e) =>
          personMenu(this.app, this.channel, v, e.currentTarget),
        ),
    );
  }

  video(stream, label, mirrored) {
    const el = h("video", { class: mirrored ? "mirrored" : "", "aria-label": label, playsinline: true });
    el.muted = true;
    el.srcObject = stream;
    el.autoplay = true;
    return el;
  }

  watchButton(user, key) {
    const watch = () => {
      this.focus = key;
      this.app.voice.media.streams.watch(user);
    };
    return h("button.button.primary.watch", { type: "button", onclick: watch }, t("Watch stream"));
  }

  stopButton(user, own) {
    return iconButton("close", own ? t("Stop sharing") : t("Stop watching"), () =>
      this.app.voice.media.streams.stop(user),
    );
  }

  choose(key) {
    this.focus = this.focus === key ? "" : key;
    this.store.touch("call");
  }

  preview(user) {
    if (this.previews.has(user)) return this.previews.get(user);
    this.previews.set(user, null);
    const { guild_id: guild, id } = this.channel,
      key = guild ? `guild:${guild}:${id}:${user}` : `call:${id}:${user}`;
    this.app.rest.get(`/streams/${encodeURIComponent(key)}/preview`).then(
      (a) => {
        this.previews.set(user, ownPath(a.url));
        this.store.touch("call");
      },
      // The preview is uploaded some time after the stream has started, so request it again later.
      () => setTimeout(() => this.previews.delete(user), 3000),
    );
    return null;
  }
}

/** Returns icons for a user's voice state: muted, deafened, camera on, wants to speak. */
export function marks(v) {
  const mark = (name, words, kind) => h("span.mark", { title: words, class: kind || "" }, icon(name), hidden(words));
  const hidden = (words) => h("span.hidden-text", null, words);
  return [
    v.request_to_speak_timestamp && mark("hand", t("hand raised")),
    v.mute
      ? mark("muted", t("Muted by a moderator"), "forced")
      : (v.self_mute || v.suppress) && mark("muted", t("muted")),
    v.deaf ? mark("deaf", t("Deafened by a moderator"), "forced") : v.self_deaf && mark("deaf", t("deafened")),
  ];
}
