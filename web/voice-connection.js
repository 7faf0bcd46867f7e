// voice-connection.js - a voice gateway session with WebRTC media: one for the channel and one per shared screen.
import { answerTo, codecsOf, fragmentOf, ssrcsOf } from "./voice-sdp.js";

const VERSION = 8,
  // Maximum number of receivers for audio, and for video. A further user replaces the user who was silent longest.
  MOST_RECEIVERS = 25,
  ROUTE_MS = 12000,
  STATS_MS = 2000;

/**
 * The voice server to connect to.
 * @typedef {object} Target @property {string} path of the voice gateway @property {string} server
 * @property {string} user @property {string} session @property {string} token
 */
/**
 * Callbacks of a connection.
 * @typedef {object} Listener
 * @property {(state: "connected"|"noroute"|"lost", code?: number) => void} state
 * @property {(user: string, bits: number) => void} speaking
 * @property {(user: string, kind: "audio"|"video", stream: MediaStream|null) => void} media
 * @property {(quality: {ms: number, loss: number}) => void} [quality]
 */

/**
 * Returns the path of a voice endpoint, or "". The host is always this server, because the page may connect to no other
 * host.
 */
export const pathOf = (endpoint) => (endpoint?.includes("/") ? endpoint.slice(endpoint.indexOf("/")) : "");

export class VoiceConnection {
  /** Connects to a voice server. @param {Target} target @param {Listener} on */
  constructor(target, on) {
    this.target = target;
    this.on = on;
    /**
     * Media that is received: user, kind, SSRC, the time of last use, and the transceiver.
     * @type {{user: string, kind: "audio"|"video", ssrc: number, used: number, line: RTCRtpTransceiver}[]}
     */
    this.received = [];
    this.last = { received: 0, lost: 0 };
    this.bits = 0;
    /** Timer that measures the quality of the connection; 0 until the first connection. */
    this.stats = 0;
    this.turn = Promise.resolve();
    const peer = (this.peer = new RTCPeerConnection({ bundlePolicy: "max-bundle" }));
    this.audio = peer.addTransceiver("audio", { direction: "sendonly" });
    this.video = peer.addTransceiver("video", { direction: "sendonly" });
    peer.onconnectionstatechange = () => this.peerChanged();
    const scheme = location.protocol === "https:" ? "wss" : "ws",
      socket = (this.socket = new WebSocket(`${scheme}://${location.host}${target.path}?v=${VERSION}`));
    socket.onmessage = (e) => this.take(JSON.parse(e.data));
    socket.onclose = (e) => this.lost(e.code);
    this.route = setTimeout(() => this.noRoute(), ROUTE_MS);
  }

  send(op, d) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ op, d }));
  }

  /* --- the voice gateway --- */

  take({ op, d, seq }) {
    if (seq !== undefined) this.seq = seq;
    if (op === 8) this.identify(d.heartbeat_interval);
    else if (op === 2) this.queue(() => this.select());
    else if (op === 4) {
      this.server = d.sdp;
      this.negotiate();
      this.queue(() => this.announce());
    } else if (op === 5) {
      this.receive(d.user_id, "audio", d.ssrc, d.speaking !== 0);
      this.on.speaking(d.user_id, d.speaking);
    } else if (op === 12) {
      if (d.audio_ssrc) this.receive(d.user_id, "audio", d.audio_ssrc);
      if (d.video_ssrc) this.receive(d.user_id, "video", d.video_ssrc, true);
      else this.forget(d.user_id, "video");
    } else if (op === 13) {
      this.on.speaking(d.user_id, 0);
      this.forget(d.user_id, "audio");
      this.forget(d.user_id, "video");
    }
  }

  identify(interval) {
    const { server, user, session, token } = this.target;
    this.send(0, { server_id: server, user_id: user, session_id: session, token, video: true });
    this.beat = setInterval(() => this.send(3, { t: Date.now(), seq_ack: this.seq ?? -1 }), interval);
  }

  async select() {
    await this.peer.setLocalDescription();
    const { sdp } = this.peer.localDescription,
      { opus, vp8, rtx } = codecsOf(sdp),
      data = fragmentOf(sdp);
    const codec = (name, type, payload, more) => ({ name, type, priority: 1000, payload_type: payload, ...more });
    this.send(1, {
      protocol: "webrtc",
      data,
      sdp: data,
      codecs: [codec("opus", "audio", opus), codec("VP8", "video", vp8, { rtx_payload_type: rtx })],
    });
  }

  /** Sends the SSRCs of this client's audio and video (op 12), and requests the videos of all users (op 15). */
  announce() {
    if (!this.server || this.ended) return;
    const { sdp } = this.peer.localDescription,
      [audio] = ssrcsOf(sdp, this.audio.mid),
      [ssrc, rtx] = this.video.sender.track ? ssrcsOf(sdp, this.video.mid) : [0, 0];
    const streams = ssrc ? [{ type: "video", rid: "100", ssrc, rtx_ssrc: rtx, active: true, quality: 100 }] : [];
    this.send(12, { audio_ssrc: audio, video_ssrc: ssrc, rtx_ssrc: rtx, streams });
    this.send(15, { any: 100 });
    this.speak(this.bits);
  }

  /** Sends opcode 5 (speaking). @param {number} bits 0: silent, 1: voice, 2: sound of a shared screen */
  speak(bits) {
    this.bits = bits;
    if (this.server)
      this.send(5, { speaking: bits, delay: 0, ssrc: ssrcsOf(this.peer.localDescription.sdp, this.audio.mid)[0] });
  }

  /**
   * Sets the track that is sent; null stops sending.
   * @param {"audio"|"video"} kind
   * @param {MediaStreamTrack|null} track
   */
  async put(kind, track) {
    await this[kind].sender.replaceTrack(track);
    if (kind === "video") this.announce();
  }

  /* --- media --- */

  /**
   * Runs a task after all earlier tasks have finished, so that SDP negotiations never overlap.
   * @param {() => Promise<void>|void} work
   */
  queue(work) {
    const run = async () => {
      if (!this.ended) await work();
    };
    this.turn = this.turn.then(run).catch((e) => {
      if (!this.ended) reportError(e);
    });
  }

  /**
   * Receives a user's media. Beyond MOST_RECEIVERS, an active user replaces the one who was silent longest.
   * @param {string} user @param {"audio"|"video"} kind @param {number} ssrc @param {boolean} [now] active now
   */
  receive(user, kind, ssrc, now) {
    if (!ssrc) return;
    let one = this.received.find((r) => r.kind === kind && r.user === user);
    if (one && now) one.used = Date.now();
    if (one?.ssrc === ssrc) return;
    const same = this.received.filter((r) => r.kind === kind);
    one ??= same.find((r) => !r.user);
    if (!one && same.length < MOST_RECEIVERS)
      this.received.push(
        (one = { user, kind, ssrc, used: 0, line: this.peer.addTransceiver(kind, { direction: "recvonly" }) }),
      );
    if (!one && now) {
      one = same.reduce((a, b) => (a.used < b.used ? a : b));
      this.on.media(one.user, kind, null);
    }
    if (!one) return;
    Object.assign(one, { user, ssrc, used: now ? Date.now() : 0 });
    this.negotiate();
    this.on.media(user, kind, new MediaStream([one.line.receiver.track]));
  }

  forget(user, kind) {
    const one = this.received.find((r) => r.kind === kind && r.user === user);
    if (!one) return;
    Object.assign(one, { user: "", ssrc: 0 });
    this.on.media(user, kind, null);
    this.negotiate();
  }

  /** Queues an SDP negotiation with the browser. One negotiation includes all changes that were made before it runs. */
  negotiate() {
    if (!this.server || this.stale) return;
    this.stale = true;
    this.queue(async () => {
      this.stale = false;
      await this.peer.setLocalDescription();
      const sources = new Map(this.received.filter((r) => r.ssrc).map((r) => [r.line.mid, r.ssrc]));
      const sdp = answerTo(this.peer.localDescription.sdp, this.server, sources);
      await this.peer.setRemoteDescription({ type: "answer", sdp });
    });
  }

  peerChanged() {
    const state = this.peer.connectionState;
    if (state === "connected") {
      clearTimeout(this.route);
      this.stats ||= setInterval(() => this.measure(), STATS_MS);
      this.on.state("connected");
    } else if (state === "failed") {
      if (!this.stats) this.noRoute();
      this.lost(0);
    }
  }

  noRoute() {
    clearTimeout(this.route);
    this.send(32, {});
    this.on.state("noroute");
  }

  async measure() {
    const now = { received: 0, lost: 0 };
    let ms = 0;
    for (const s of (await this.peer.getStats()).values()) {
      if (s.type === "candidate-pair" && s.nominated) ms = Math.round((s.currentRoundTripTime || 0) * 1000);
      if (s.type !== "inbound-rtp") continue;
      now.received += s.packetsReceived;
      now.lost += s.packetsLost;
    }
    const lost = Math.max(0, now.lost - this.last.lost),
      all = lost + now.received - this.last.received;
    this.last = now;
    this.on.quality?.({ ms, loss: all > 0 ? Math.round((100 * lost) / all) : 0 });
  }

  lost(code) {
    if (this.ended) return;
    this.end();
    this.on.state("lost", code);
  }

  end() {
    if (this.ended) return;
    this.ended = true;
    clearInterval(this.beat);
    clearInterval(this.stats);
    clearTimeout(this.route);
    this.received.forEach((r) => r.user && this.on.media(r.user, r.kind, null));
    this.received = [];
    this.peer.close();
    this.socket.close(1000);
  }
}
