// topics.js - tells views, at most once per animation frame, which data in the store has changed.

const EVENT_MS = 10000;
/** Topics whose views are slow to redraw, and the minimum time in ms between their redraws. */
const CALM = new Set(["unread", "presence", "members", "channels", "guilds", "voice"]),
  CALM_MS = 200;

export class Topics {
  constructor() {
    this.listeners = new Map();
    this.dirty = new Set();
    this.notifiedAt = new Map();
    this.scheduled = false;
  }

  on(topic, listener) {
    if (!this.listeners.has(topic)) this.listeners.set(topic, new Set());
    this.listeners.get(topic).add(listener);
    return () => this.listeners.get(topic)?.delete(listener);
  }

  /**
   * Resolves when `so` returns true, which is checked at each change of a topic, or after EVENT_MS.
   * @param {string} topic @param {() => boolean} so
   */
  when(topic, so) {
    if (so()) return Promise.resolve();
    return new Promise((go) => {
      const end = () => {
        clearTimeout(timer);
        off();
        go();
      };
      const off = this.on(topic, () => so() && end()),
        timer = setTimeout(end, EVENT_MS);
    });
  }

  touch(...topics) {
    for (const topic of topics) this.dirty.add(topic);
    if (this.scheduled) return;
    this.scheduled = true;
    // A hidden page gets no animation frames, so a timer replaces them; otherwise the list of changes would grow.
    const flush = () => {
      this.scheduled = false;
      this.flush();
    };
    if (document.hidden) setTimeout(flush, CALM_MS);
    else requestAnimationFrame(flush);
  }

  flush() {
    const now = performance.now(),
      late = [...this.dirty].filter(
        (topic) => CALM.has(topic) && now - (this.notifiedAt.get(topic) ?? -CALM_MS) < CALM_MS,
      );
    const topics = [...this.dirty].filter((topic) => !late.includes(topic));
    this.dirty = new Set();
    for (const topic of topics) {
      if (CALM.has(topic)) this.notifiedAt.set(topic, now);
      for (const listener of [...(this.listeners.get(topic) || [])]) this.notify(listener, topic);
    }
    if (late.length) setTimeout(() => this.touch(...late), CALM_MS);
  }

  /** Calls a view's listener. If a listener throws an exception, the other listeners are called nevertheless. */
  notify(listener, topic) {
    try {
      listener(topic);
    } catch (e) {
      reportError(e);
    }
  }
}
