// voice-gateway.js - a voice gateway connection without media: it receives who is speaking.

const VERSION = 8;

/** Receives SPEAKING events of the voice channel that this session has joined. */
export class VoiceLine {
  /** @param {any} store @param {() => void} onChange called when a user starts or stops speaking */
  constructor(store, onChange) {
    this.store = store;
    this.onChange = onChange;
    this.speaking = new Set();
  }

  /** Handles VOICE_SERVER_UPDATE: connects to the voice server. */
  moved(d) {
    this.end();
    const path = d.endpoint?.includes("/") ? d.endpoint.slice(d.endpoint.indexOf("/")) : "";
    if (!path || !d.token) return; // the voice server is on another host, or there is none
    this.server = d;
    this.open(path);
  }

  open(path) {
    const socket = new WebSocket(
      `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${path}?v=${VERSION}`,
    );
    this.socket = socket;
    socket.onmessage = (e) => this.socket === socket && this.take(JSON.parse(e.data));
    socket.onclose = () => this.socket === socket && this.end();
  }

  send(op, d) {
    this.socket.send(JSON.stringify({ op, d }));
  }

  take({ op, d, seq }) {
    if (seq !== undefined) this.seq = seq;
    if (op === 8) {
      const { guild_id: guild, channel_id: channel, token } = this.server;
      this.send(0, {
        server_id: guild || channel,
        user_id: this.store.me.id,
        session_id: this.store.ownVoice()?.session_id || this.store.session,
        token,
      });
      this.beat = setInterval(() => this.send(3, { t: Date.now(), seq_ack: this.seq ?? -1 }), d.heartbeat_interval);
    } else if (op === 2) {
      // The server sends the present speakers after SELECT PROTOCOL. No UDP packet is sent.
      this.send(1, { protocol: "udp", data: { address: "127.0.0.1", port: 9, mode: d.modes[0] } });
    } else if (op === 5) {
      this.setSpeaking(d.user_id, d.speaking !== 0);
    } else if (op === 13) {
      this.setSpeaking(d.user_id, false);
    }
  }

  setSpeaking(user, speaks) {
    if (speaks === this.speaking.has(user)) return;
    if (speaks) this.speaking.add(user);
    else this.speaking.delete(user);
    this.onChange();
  }

  end() {
    clearInterval(this.beat);
    const socket = this.socket;
    this.socket = this.seq = undefined;
    socket?.close(1000);
    if (this.speaking.size) {
      this.speaking.clear();
      this.onChange();
    }
  }
}
