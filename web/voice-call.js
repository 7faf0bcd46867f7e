// voice-call.js - sound and video of the voice channel that this window has joined: connection, microphone, camera.
import { toast } from "./dom.js";
import { VoiceConnection, pathOf } from "./voice-connection.js";
import { VoiceInput } from "./voice-input.js";
import { VoiceOutput } from "./voice-output.js";
import { preferences, setVolumeOf } from "./voice-preferences.js";
import { VoiceStreams } from "./voice-streams.js";
import { deviceProblem, noRoute, noVoice, refusal } from "./voice-words.js";

const LONGEST_PAUSE_MS = 8000;

/** Returns the media constraints for the camera. */
function cameraWishes() {
  const size = { width: { ideal: 1280 }, height: { ideal: 720 }, frameRate: { ideal: 30 } };
  return { ...size, deviceId: preferences.camera ? { ideal: preferences.camera } : undefined };
}

export class VoiceCall {
  /** @param {any} app @param {import("./voice.js").Voice} voice */
  constructor(app, voice) {
    this.app = app;
    this.store = app.store;
    this.voice = voice;
    /**
     * Videos that are received: by user id (camera), or by "stream:" and user id (shared screen).
     * @type {Map<string, MediaStream>}
     */
    this.videos = new Map();
    this.streams = new VoiceStreams(this);
    /** Called with each new level of the microphone. @type {((level: number, speaks: boolean) => void)|null} */
    this.onlevel = null;
    this.failures = 0;
    this.reset();
  }

  reset() {
    /** @type {""|"connecting"|"connected"} */
    this.state = "";
    /** Sentence with the cause of a problem and what the user can do; "" if there is no problem. */
    this.problem = "";
    /**
     * Quality of the connection: round trip time in ms and share of lost packets in %; null if unknown.
     * @type {{ms: number, loss: number}|null}
     */
    this.quality = null;
    this.joined = false;
    this.level = 0;
  }

  changed() {
    this.store.touch("call");
  }

  /**
   * Opens the microphone and the loudspeakers. It must be called by a click handler, because browsers start sound only
   * after a click.
   */
  begin() {
    this.problem = "";
    if (!this.input) {
      this.input = new VoiceInput((level, open) => this.microphoneLevel(level, open));
      this.output = new VoiceOutput();
      this.restartInput();
    }
    if (!this.state) this.state = "connecting";
    this.changed();
  }

  async restartInput() {
    await this.input?.start();
    this.apply(this.voice.own());
    this.changed();
  }

  /* --- the connection --- */

  /** Handles VOICE_SERVER_UPDATE: connects to the voice server, also after a move to another channel. */
  moved(d) {
    this.connection?.end();
    clearTimeout(this.retry);
    if (!this.input) this.begin();
    const own = this.store.ownVoice(),
      path = pathOf(d.endpoint);
    this.state = "connecting";
    if (path && d.token) {
      const target = {
        path,
        server: d.guild_id || d.channel_id,
        user: this.store.me.id,
        session: own?.session_id || this.store.session,
        token: d.token,
      };
      const connection = (this.connection = new VoiceConnection(target, {
        state: (state, code) => connection === this.connection && this.connectionChanged(state, code),
        speaking: (user, bits) => this.voice.setSpeaking(user, bits !== 0),
        media: (user, kind, stream) => this.show(user, kind, stream),
        quality: (quality) => {
          this.quality = quality;
          this.changed();
        },
      }));
      if (this.camera) connection.put("video", this.camera.getVideoTracks()[0]);
      this.apply(own);
    } else this.problem = noVoice();
    this.changed();
  }

  connectionChanged(state, code) {
    if (state === "connected") {
      this.state = state;
      this.failures = 0;
      this.problem = "";
    } else if (state === "noroute") this.problem = noRoute();
    else {
      this.voice.speaking.clear();
      this.store.touch("speaking");
      const words = refusal(code);
      if (words) {
        this.voice.leave();
        this.problem = words;
        toast(words, "bad");
      } else if (code !== 4014) this.reconnect(); // 4014: the user was moved or disconnected
    }
    this.changed();
  }

  /** Sends op 4 (join) again, with increasing delays, until the server sends VOICE_SERVER_UPDATE. */
  reconnect() {
    this.state = "connecting";
    this.quality = null;
    this.retry = setTimeout(
      () => {
        const own = this.voice.own();
        if (own) this.voice.request(this.store.channels.get(own.channel_id));
        this.reconnect();
      },
      Math.min(LONGEST_PAUSE_MS, 300 * 2 ** this.failures++),
    );
  }

  take(type, d) {
    if (type === "VOICE_CHANNEL_EFFECT_SEND") {
      if (d.sound_id && d.channel_id === this.voice.own()?.channel_id && !this.output?.deaf)
        this.output?.play(`/soundboard-sounds/${d.sound_id}`, d.sound_volume ?? 1).catch(() => {});
    } else this.streams.take(type, d);
  }

  /** Called when the user's own voice state has changed, by this window, by a moderator, or by another device. */
  update() {
    const own = this.voice.own();
    if (own) {
      this.joined = true;
      if (this.voice.channel) this.voice.channel = own.channel_id;
      this.apply(own);
    } else if (this.joined) this.voice.end();
    this.streams.update();
  }

  /* --- sound --- */

  /** Applies the user's own voice state to microphone and loudspeakers. */
  apply(own) {
    if (!own || !this.input) return;
    const deaf = own.self_deaf || own.deaf,
      invited = own.request_to_speak_timestamp; // on a stage: the user is invited to speak and has not accepted yet
    const silent = !!(deaf || own.self_mute || own.mute || own.suppress || invited);
    this.silent = silent;
    this.output.setVolumes(deaf);
    this.connection?.put("audio", silent ? null : this.input.track).catch(() => {});
    if (silent) this.microphoneLevel(0, false);
  }

  /**
   * Handles a new level of the microphone: shows it and updates the speaking state.
   * @param {number} level @param {boolean} open whether the microphone passes sound
   */
  microphoneLevel(level, open) {
    const speaks = open && !this.silent && this.state === "connected";
    this.level = level;
    this.onlevel?.(level, speaks);
    if (speaks === this.speaks) return;
    this.speaks = speaks;
    this.connection?.speak(speaks ? 1 : 0);
    this.voice.setSpeaking(this.store.me.id, speaks);
  }

  setVolume(user, volume) {
    setVolumeOf(user, volume);
    this.output?.setVolumes();
  }

  /* --- video --- */

  show(name, kind, stream) {
    if (kind === "audio") return this.output?.set(name, stream);
    if (stream) this.videos.set(name, stream);
    else this.videos.delete(name);
    this.changed();
  }

  /** Switches the camera on or off. @returns {Promise<string>} "" or the error text */
  async setCamera(on) {
    const turn = this.stopCamera();
    let problem = "",
      stream = null;
    try {
      if (on) stream = await navigator.mediaDevices.getUserMedia({ video: cameraWishes() });
    } catch (e) {
      problem = deviceProblem(e, "camera");
    }
    if (turn !== this.cameraTurn) {
      stream?.getTracks().forEach((track) => track.stop()); // the call has ended, or the user has clicked again
      return "";
    }
    this.camera = stream;
    const track = stream?.getVideoTracks()[0];
    if (track) track.onended = () => this.setCamera(false);
    await this.connection?.put("video", track || null);
    this.show(this.store.me.id, "video", this.camera);
    this.voice.change({ self_video: !!stream });
    return problem;
  }

  /** Stops the camera, also one that is still being opened. Returns the number of this change. */
  stopCamera() {
    this.camera?.getTracks().forEach((track) => track.stop());
    this.camera = null;
    return (this.cameraTurn = (this.cameraTurn || 0) + 1);
  }

  end() {
    this.stopCamera();
    clearTimeout(this.retry);
    this.streams.end();
    this.connection?.end();
    this.input?.end();
    this.output?.end();
    this.connection = this.input = this.output = null;
    this.videos.clear();
    this.speaks = false;
    this.reset();
    this.changed();
  }
}
