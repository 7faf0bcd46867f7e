// voice-streams.js - shared screens of the user and of others, each with its own connection to the voice server.
import { toast } from "./dom.js";
import { VoiceConnection, pathOf } from "./voice-connection.js";
import { deviceProblem, streamProblem } from "./voice-words.js";

const PREVIEW_WIDTH = 480,
  PREVIEW_AFTER_MS = 1500;

export class VoiceStreams {
  /** @param {import("./voice-call.js").VoiceCall} call */
  constructor(call) {
    this.call = call;
    this.store = call.store;
    /**
     * The streams that this window sends or receives, by stream key.
     * @type {Map<string, {user: string, server?: string, connection?: VoiceConnection}>}
     */
    this.open = new Map();
    /** The user's own screen while it is shared; otherwise null. @type {MediaStream|null} */
    this.screen = null;
  }

  keyOf(user) {
    const channel = this.store.channels.get(this.call.voice.own()?.channel_id);
    return channel?.guild_id ? `guild:${channel.guild_id}:${channel.id}:${user}` : `call:${channel?.id}:${user}`;
  }

  watches(user) {
    return this.open.has(this.keyOf(user));
  }

  /** Shares a screen, with its sound if the browser supports that. @returns {Promise<string>} "" or the error text */
  async share() {
    const channel = this.store.channels.get(this.call.voice.own()?.channel_id);
    let screen;
    try {
      screen = await navigator.mediaDevices.getDisplayMedia({
        video: { frameRate: { ideal: 30 } },
        audio: { echoCancellation: false, noiseSuppression: false, autoGainControl: false },
      });
    } catch (e) {
      return deviceProblem(e, "screen");
    }
    if (this.screen || !channel || this.call.voice.own()?.channel_id !== channel.id) {
      screen.getTracks().forEach((track) => track.stop()); // the user has left the channel while choosing a screen
      return "";
    }
    this.screen = screen;
    this.screen.getVideoTracks()[0].onended = () => this.stop(this.store.me.id); // the browser's own button
    this.open.set(this.keyOf(this.store.me.id), { user: this.store.me.id });
    this.send(18, {
      type: channel.guild_id ? "guild" : "call",
      guild_id: channel.guild_id ?? null,
      channel_id: channel.id,
      preferred_region: null,
    });
    return "";
  }

  watch(user) {
    this.open.set(this.keyOf(user), { user });
    this.send(20, { stream_key: this.keyOf(user) });
    this.call.changed();
  }

  /** Ends the user's own stream if `user` is the user's id. Otherwise stops watching the stream of that user. */
  stop(user) {
    this.send(19, { stream_key: this.keyOf(user) });
    this.close(this.keyOf(user));
  }

  send(op, d) {
    this.call.app.gateway.send(op, d);
  }

  take(type, d) {
    const one = this.open.get(d.stream_key);
    if (!one) return;
    if (type === "STREAM_CREATE") one.server = d.rtc_server_id;
    else if (type === "STREAM_SERVER_UPDATE") this.connect(d, one);
    else if (type === "STREAM_DELETE") {
      const words = streamProblem(d.reason);
      if (words) toast(words, "bad");
      this.close(d.stream_key);
    }
  }

  connect(d, one) {
    const own = one.user === this.store.me.id,
      path = pathOf(d.endpoint);
    one.connection?.end();
    if (!path || !one.server) return;
    const target = {
      path,
      server: one.server,
      user: this.store.me.id,
      session: this.call.voice.own()?.session_id,
      token: d.token,
    };
    const connection = (one.connection = new VoiceConnection(target, {
      state: (state, code) => {
        // Watch the stream again (op 20), own streams too: the server answers with a new STREAM_SERVER_UPDATE.
        if (state === "lost" && code !== 4014 && one.connection === connection)
          setTimeout(() => this.open.get(d.stream_key) === one && this.send(20, { stream_key: d.stream_key }), 1000);
      },
      speaking: () => {},
      media: (user, kind, stream) => user === one.user && this.call.show(`stream:${user}`, kind, stream),
    }));
    if (own && this.screen) this.sendScreen(connection, d.stream_key);
  }

  sendScreen(connection, key) {
    const [picture] = this.screen.getVideoTracks(),
      [sound] = this.screen.getAudioTracks();
    picture.contentHint = "detail";
    connection.put("video", picture);
    if (sound) connection.put("audio", sound);
    connection.speak(sound ? 2 : 0);
    this.call.show(`stream:${this.store.me.id}`, "video", new MediaStream([picture]));
    setTimeout(() => this.sendPreview(key, picture).catch(() => {}), PREVIEW_AFTER_MS);
  }

  /** Uploads a small picture of the stream. Users who do not watch the stream see this picture. */
  async sendPreview(key, track) {
    const video = document.createElement("video"),
      canvas = document.createElement("canvas");
    video.muted = true;
    video.srcObject = new MediaStream([track]);
    await video.play();
    canvas.width = PREVIEW_WIDTH;
    canvas.height = Math.round((PREVIEW_WIDTH * video.videoHeight) / video.videoWidth);
    canvas.getContext("2d").drawImage(video, 0, 0, canvas.width, canvas.height);
    video.srcObject = null;
    const thumbnail = canvas.toDataURL("image/jpeg", 0.7);
    await this.call.app.rest.post(`/streams/${encodeURIComponent(key)}/preview`, { thumbnail });
  }

  close(key) {
    const one = this.open.get(key);
    if (!one) return;
    this.open.delete(key);
    one.connection?.end();
    if (one.user === this.store.me.id) {
      this.screen?.getTracks().forEach((track) => track.stop());
      this.screen = null;
    }
    this.call.show(`stream:${one.user}`, "audio", null);
    this.call.show(`stream:${one.user}`, "video", null);
  }

  /**
   * Called when the user's voice state has changed. After a move to another channel, closes the streams of the previous
   * channel.
   */
  update() {
    for (const [key, one] of [...this.open]) if (key !== this.keyOf(one.user)) this.close(key);
  }

  end() {
    for (const key of [...this.open.keys()]) this.close(key);
  }
}
