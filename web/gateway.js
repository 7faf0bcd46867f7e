// gateway.js - a gateway session: identify, heartbeat, resume. Calls a function for each event, in order of arrival.

const LONGEST_PAUSE_MS = 15000;

/**
 * Decompresses the messages of a connection with compress=zlib-stream. All messages of a connection are one zlib
 * stream.
 */
class Inflater {
  constructor(give) {
    this.stream = new DecompressionStream("deflate");
    this.writer = this.stream.writable.getWriter();
    this.read(give).catch(() => {});
  }
  async read(give) {
    const reader = this.stream.readable.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = ""; ;) {
      const { value, done } = await reader.read();
      if (done) return;
      text = give(text + value);
    }
  }
  push(bytes) {
    this.writer.write(new Uint8Array(bytes)).catch(() => {});
  }
}

export class Gateway extends EventTarget {
  /**
   * Opens the session; passes its events to `dispatch`.
   * @param {string} token @param {(event: string, data: any) => void} dispatch
   */
  constructor(token, dispatch, { compress = false } = {}) {
    super();
    this.token = token;
    this.dispatch = dispatch;
    this.compress = compress;
    this.session = null;
    this.sequence = null;
    this.failures = 0;
    this.closed = false;
    this.open();
  }

  open() {
    clearTimeout(this.retry);
    const at = new URL(location.href);
    const query = `?v=10&encoding=json${this.compress ? "&compress=zlib-stream" : ""}`;
    this.socket = new WebSocket(`${at.protocol === "https:" ? "wss" : "ws"}://${at.host}/${query}`);
    this.socket.binaryType = "arraybuffer";
    const inflater = this.compress && new Inflater((text) => this.takeText(text));
    this.socket.onmessage = (e) => (inflater ? inflater.push(e.data) : this.take(JSON.parse(e.data)));
    this.socket.onclose = (e) => this.lost(e.code);
    this.setState("connecting");
  }

  /**
   * Handles all complete messages in a text. Returns the incomplete rest of the text, which the caller puts before the
   * next data.
   */
  takeText(text) {
    let depth = 0,
      quoted = false,
      begin = 0;
    for (let i = 0; i < text.length; i++) {
      const c = text[i];
      if (quoted) {
        if (c === "\\") i++;
        else if (c === '"') quoted = false;
      } else if (c === '"') quoted = true;
      else if (c === "{" || c === "[") depth++;
      else if ((c === "}" || c === "]") && --depth === 0) {
        this.take(JSON.parse(text.slice(begin, i + 1)));
        begin = i + 1;
      }
    }
    return text.slice(begin);
  }

  setState(state, detail) {
    this.state = state;
    this.dispatchEvent(new CustomEvent("state", { detail: { state, ...detail } }));
  }

  send(op, d) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ op, d }));
  }

  take(m) {
    if (m.s) this.sequence = m.s;
    if (m.op === 0) this.takeDispatch(m);
    else if (m.op === 10) this.greet(m.d.heartbeat_interval);
    else if (m.op === 11) this.answered = true;
    else if (m.op === 1) this.send(1, this.sequence);
    else if (m.op === 7) this.socket.close(4000);
    else if (m.op === 9) {
      if (!m.d) this.session = this.sequence = null;
      setTimeout(() => this.socket.close(4000), 500);
    }
  }

  takeDispatch(m) {
    if (m.t === "READY") this.session = m.d.session_id;
    if (m.t === "READY" || m.t === "RESUMED") {
      this.failures = 0;
      this.setState("ready");
    }
    this.dispatch(m.t, m.d);
  }

  greet(interval) {
    clearInterval(this.beat);
    this.answered = true;
    this.beat = setInterval(() => {
      if (!this.answered) return this.socket.close(4000);
      this.answered = false;
      this.send(1, this.sequence);
    }, interval);
    if (this.session) this.send(6, { token: this.token, session_id: this.session, seq: this.sequence });
    else
      this.send(2, {
        token: this.token,
        capabilities: 0,
        properties: { os: "web", browser: "Guildhall console", device: "" },
      });
  }

  lost(code) {
    clearInterval(this.beat);
    if (this.closed) return;
    if (code === 4004) {
      this.closed = true;
      this.setState("refused");
      return;
    }
    const wait = Math.min(LONGEST_PAUSE_MS, 500 * 2 ** this.failures++);
    this.setState("lost", { until: Date.now() + wait });
    this.retry = setTimeout(() => this.open(), wait);
  }

  close() {
    this.closed = true;
    clearInterval(this.beat);
    clearTimeout(this.retry);
    this.socket.close(1000);
  }
}
