// store-messages.js - the loaded messages of each channel: one range without gaps, which usually ends with the newest.
import { Channels, older } from "./channel-types.js";
import { Topics } from "./topics.js";

const PAGE = 50,
  MAX_STORED = 10000,
  MOST_ASKED = 3;
const byAge = (a, b) => (older(a.id, b.id) ? -1 : 1);

/**
 * The loaded messages of a channel.
 * @typedef {{list: any[], start: boolean, loaded: boolean, detached: boolean, stale: boolean, asked: boolean,
 *   readTo: string|null, asks: Set<Set<string>>}} Log
 *   start: the range begins with the channel's first message; detached: it ends before the newest message;
 *   readTo: the newest message that had been read when the channel was opened
 */

export class MessageStore extends Topics {
  /** @param {import("./rest.js").Rest} rest */
  constructor(rest) {
    super();
    this.rest = rest;
    /** @type {any} */ this.me = null;
    this.channels = new Channels();
    /** @type {Map<string, Map<string, number>>} */ this.typing = new Map();
    this.resetMessages();
  }

  resetMessages() {
    /** @type {Map<string, Log>} */
    this.messages = new Map();
  }

  /** @returns {Log} */
  log(channel) {
    if (!this.messages.has(channel))
      this.messages.set(channel, {
        list: [],
        start: false,
        loaded: false,
        detached: false,
        stale: false,
        asked: false,
        readTo: null,
        asks: new Set(),
      });
    return this.messages.get(channel);
  }

  /**
   * Loads the newest messages. If `before` is set, loads the page before that message.
   * @returns {Promise<number>} number of messages that were not loaded before
   */
  async loadMessages(channel, before) {
    const log = this.log(channel);
    log.asked = true;
    const page = await this.pageOfMessages(channel, before ? `&before=${before}` : "");
    const known = new Set(log.list.map((m) => m.id)),
      fresh = page.filter((m) => !known.has(m.id));
    if (before) {
      log.list.unshift(...fresh);
      log.start = page.length < PAGE;
    } else {
      // A page that does not overlap the loaded messages leaves a gap: retain only the page and newer messages.
      const joined = !log.detached && (fresh.length < page.length || page.length < PAGE || !log.loaded);
      const last = page.at(-1)?.id || "0";
      if (!joined || !log.loaded) log.start = page.length < PAGE;
      log.list = joined
        ? [...fresh, ...log.list].sort(byAge)
        : [...page, ...log.list.filter((m) => !log.detached && older(last, m.id))];
      log.detached = false;
    }
    log.loaded = true;
    log.stale = false;
    return fresh.length;
  }

  /** Loads the messages before and after a message. @returns {Promise<boolean>} false if the message does not exist */
  async loadAround(channel, id) {
    const log = this.log(channel);
    log.asked = true;
    const page = await this.pageOfMessages(channel, `&around=${id}`);
    if (!page.some((m) => m.id === id)) return false;
    log.list = page;
    log.start = false;
    log.loaded = true;
    log.detached = older(page.at(-1).id, this.channels.get(channel)?.last_message_id || "0");
    return true;
  }

  /** Loads the page after the newest loaded message. @returns {Promise<number>} */
  async loadNewer(channel) {
    const log = this.log(channel);
    const page = await this.pageOfMessages(channel, `&after=${log.list.at(-1)?.id || 0}`);
    const known = new Set(log.list.slice(-2 * PAGE).map((m) => m.id)),
      fresh = page.filter((m) => !known.has(m.id));
    log.list.push(...fresh);
    if (page.length < PAGE) log.detached = false;
    return fresh.length;
  }

  /**
   * Fetches a page of messages. Fetches the page again if an event has changed one of its messages meanwhile, because
   * the response may lack this change.
   */
  async pageOfMessages(channel, range) {
    const log = this.log(channel),
      changed = new Set();
    log.asks.add(changed);
    try {
      for (let tries = 1; ; tries++) {
        changed.clear();
        const page = await this.rest.get(`/channels/${channel}/messages?limit=${PAGE}${range}`);
        if (tries < MOST_ASKED && page.some((m) => changed.has(m.id))) continue;
        page.forEach((m) => this.keepAuthors(m));
        return page.sort(byAge);
      }
    } finally {
      log.asks.delete(changed);
    }
  }

  /** Stores the author and other users of a message. The class Store overrides this function. @param {any} _m */
  keepAuthors(_m) {}

  /**
   * Adds a new message to the loaded messages. Does nothing if the loaded messages end before the newest message of the
   * channel.
   */
  appendMessage(m) {
    const log = this.log(m.channel_id);
    // Also add the message during the first fetch (asked), because the response may be older than this event.
    if (!(log.loaded || log.asked) || log.detached || log.list.slice(-100).some((x) => x.id === m.id)) return;
    log.list.push(m);
    if (log.list.length > MAX_STORED) {
      log.list.splice(0, log.list.length - MAX_STORED);
      log.start = false;
    }
  }

  changeMessage(channel, id, change) {
    const log = this.messages.get(channel);
    log?.asks.forEach((changed) => changed.add(id));
    const i = log ? log.list.findIndex((m) => m.id === id) : -1;
    if (i < 0) return;
    const next = change(log.list[i]);
    if (next) {
      next.version = (log.list[i].version || 0) + 1;
      log.list[i] = next;
    } else log.list.splice(i, 1);
    this.touch(`messages:${channel}`);
  }

  react(d, change) {
    const same = (a) => (d.emoji.id ? a.emoji.id === d.emoji.id : !a.emoji.id && a.emoji.name === d.emoji.name);
    this.changeMessage(d.channel_id, d.message_id, (m) => {
      const list = (m.reactions || []).map((r) => ({ ...r }));
      let r = list.find(same);
      if (!r && change > 0) list.push((r = { emoji: d.emoji, count: 0, me: false }));
      if (!r) return m;
      r.count += change;
      if (d.user_id === this.me.id) r.me = change > 0;
      return { ...m, reactions: list.filter((x) => x.count > 0) };
    });
  }

  vote(d, change) {
    this.changeMessage(d.channel_id, d.message_id, (m) => {
      if (!m.poll) return m;
      const counts = (m.poll.results?.answer_counts || []).map((a) => ({ ...a }));
      let a = counts.find((x) => x.id === Number(d.answer_id));
      if (!a) counts.push((a = { id: Number(d.answer_id), count: 0, me_voted: false }));
      a.count += change;
      if (d.user_id === this.me.id) a.me_voted = change > 0;
      return { ...m, poll: { ...m.poll, results: { ...m.poll.results, answer_counts: counts } } };
    });
  }
}
