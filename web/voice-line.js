// voice-line.js - a seat in a voice channel's room: nothing is said there, but who speaks is heard of.

const VERSION = 8;

/** Tells who speaks in the channel that this session is in, as the voice gateway says it. */
export class VoiceLine {
  /** @param {any} store @param {() => void} tell when somebody begins or ends */
  constructor(store, tell) {
    this.store = store;
    this.tell = tell;
    this.speaking = new Set();
  }

  /** Where voice is to be connected to: VOICE_SERVER_UPDATE. */
  moved(d) {
    this.end();
    const path = d.endpoint?.includes("/") ? d.endpoint.slice(d.endpoint.indexOf("/")) : "";
    if (!path || !d.token) return; // voice is carried elsewhere, or not at all
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
      // Who is there already is told once a mode is chosen. No datagram is ever sent.
      this.send(1, { protocol: "udp", data: { address: "127.0.0.1", port: 9, mode: d.modes[0] } });
    } else if (op === 5) {
      this.heard(d.user_id, d.speaking !== 0);
    } else if (op === 13) {
      this.heard(d.user_id, false);
    }
  }

  heard(user, speaks) {
    if (speaks === this.speaking.has(user)) return;
    if (speaks) this.speaking.add(user);
    else this.speaking.delete(user);
    this.tell();
  }

  end() {
    clearInterval(this.beat);
    const socket = this.socket;
    this.socket = this.seq = undefined;
    socket?.close(1000);
    if (this.speaking.size) {
      this.speaking.clear();
      this.tell();
    }
  }
}
