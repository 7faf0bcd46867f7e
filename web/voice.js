// voice.js - joins and leaves voice channels in this window, and mutes the user; loads the code for media on demand.
export class Voice {
  /** @param {any} app */
  constructor(app) {
    this.app = app;
    this.store = app.store;
    /** Ids of the users who are speaking now. @type {Set<string>} */
    this.speaking = new Set();
    /**
     * Sound and video of the call; null until their code is loaded.
     * @type {import("./voice-call.js").VoiceCall|null}
     */
    this.media = null;
    /**
     * Id of the voice channel that this window has joined. In a new gateway session, the window joins this channel
     * again.
     */
    this.channel = null;
    /** The window that shows incoming calls; null until it is loaded. @type {{draw: () => void}|null} */
    this.ringer = null;
    this.store.onvoice = (type, d) => this.take(type, d);
    this.store.on("ready", () => this.channel && this.join(this.store.channels.get(this.channel)));
    this.store.on("calls", () => this.ring());
    this.store.on("voice", () => this.media?.update());
  }

  /** Returns the user's own voice state if it belongs to this window's gateway session. */
  own() {
    const own = this.store.ownVoice();
    return own?.session_id === this.store.session ? own : undefined;
  }

  async load() {
    const { VoiceCall } = await import("./voice-call.js");
    return (this.media ??= new VoiceCall(this.app, this));
  }

  /** Joins a channel. @param {any} channel @param {Record<string, any>} [more] */
  async join(channel, more) {
    if (!channel) return;
    this.channel = channel.id;
    (await this.load()).begin();
    this.request(channel, more);
  }

  leave() {
    const guild = this.store.channels.get(this.store.ownVoice()?.channel_id)?.guild_id ?? null;
    this.end();
    this.app.gateway.send(4, { guild_id: guild, channel_id: null, self_mute: false, self_deaf: false });
  }

  /** Changes the user's own voice state: self_mute, self_deaf, self_video. @param {Record<string, any>} more */
  change(more) {
    const own = this.own();
    if (!own) return;
    this.media?.apply({ ...own, ...more });
    this.request(this.store.channels.get(own.channel_id), more);
  }

  request(channel, more) {
    const { self_mute, self_deaf, self_video } = { .../** @type {any} */ (this.own() || this.last), ...more };
    this.last = { self_mute: !!self_mute, self_deaf: !!self_deaf };
    const guild = channel.guild_id ?? null;
    this.app.gateway.send(4, { guild_id: guild, channel_id: channel.id, ...this.last, self_video: !!self_video });
  }

  take(type, d) {
    if (type === "VOICE_SERVER_UPDATE") this.load().then((media) => media.moved(d));
    else this.media?.take(type, d);
  }

  /** Shows the incoming calls that are ringing. */
  async ring() {
    const rings = [...this.store.calls.values()].some((c) => c.ringing.includes(this.store.me?.id));
    if (rings || this.ringer) (this.ringer ??= (await import("./voice-ring.js")).ringer(this.app)).draw();
  }

  setSpeaking(user, speaks) {
    if (speaks === this.speaking.has(user)) return;
    if (speaks) this.speaking.add(user);
    else this.speaking.delete(user);
    this.store.touch("speaking");
  }

  /** Ends sound and video in this window. */
  end() {
    this.channel = null;
    this.media?.end();
    this.speaking.clear();
    this.store.touch("speaking");
  }
}
