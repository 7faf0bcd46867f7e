// store-unread.js - read states, and the notification settings of guilds and channels.
import { idBefore, isThread, older } from "./channel-types.js";
import { MessageStore } from "./store-messages.js";

const ACK_AFTER_MS = 800;
/** Values of message_notifications: notify about all messages, only mentions, or nothing. */
export const ALL = 0,
  MENTIONS = 1,
  NOTHING = 2,
  INHERIT = 3;
const THREAD_LEVELS = { 2: ALL, 4: MENTIONS, 8: NOTHING };

/**
 * Returns true if a guild, channel or thread is muted now.
 * @param {any} setting the notification setting of the guild, channel or thread
 */
export function mutedNow(setting) {
  const end = setting?.mute_config?.end_time;
  return !!setting?.muted && !(end && Date.parse(end) <= Date.now());
}

export class UnreadStore extends MessageStore {
  constructor(rest) {
    super(rest);
    /** @type {Map<string, any>} */ this.guilds = new Map();
    /** The open channel. @type {string|undefined} */ this.open = undefined;
    /** Called with each new message of another user. @type {((m: any) => void)|null} */
    this.onmessage = null;
    this.resetUnread();
    document.addEventListener("visibilitychange", () => !document.hidden && this.seen());
  }

  resetUnread() {
    /**
     * Unread counts by channel. `first` is the id of the first unread message, which is unknown if this session has not
     * received that message.
     */
    /** Unread counts by channel. @type {Map<string, {count: number, mentions: number, first?: string}>} */
    this.unread = new Map();
    /** Id of the newest message that the user has read, by channel. @type {Map<string, string>} */
    this.acked = new Map();
    /** Notification settings by guild id, or "@me" for direct messages. @type {Map<string, any>} */
    this.guildSettings = new Map();
    /**
     * Id of the channel that the user marked as unread. Its messages are not acknowledged until the channel is opened
     * again.
     */
    this.heldUnread = "";
  }

  /** Returns true if a message mentions the user, and the user's settings of the guild do not suppress this mention. */
  isMention(m, channel = this.channels.get(m.channel_id)) {
    if (channel && !channel.guild_id) return true;
    const settings = this.guildSettings.get(channel?.guild_id),
      roles = this.guilds.get(channel?.guild_id)?.members.get(this.me.id)?.roles || [];
    return (
      (m.mentions || []).some((u) => u.id === this.me.id) ||
      (m.mention_everyone && !settings?.suppress_everyone) ||
      (!settings?.suppress_roles && (m.mention_roles || []).some((r) => roles.includes(r)))
    );
  }

  /** Handles a new message: acknowledges it if the user sees its channel, otherwise counts it as unread. */
  countMessage(m) {
    const log = this.log(m.channel_id),
      own = m.author.id === this.me.id;
    const visible = this.open === m.channel_id && !document.hidden;
    if (own && this.open === m.channel_id) log.readTo = null;
    if (visible && !log.detached && this.heldUnread !== m.channel_id) return this.acknowledge(m.channel_id);
    if (own) return;
    if (this.open === m.channel_id && !log.readTo && !visible) log.readTo = idBefore(m.id);
    if (!visible) this.markUnread(m);
  }

  markUnread(m) {
    const now = this.unread.get(m.channel_id) || { count: 0, mentions: 0, first: m.id };
    now.count++;
    if (this.isMention(m)) now.mentions++;
    this.unread.set(m.channel_id, now);
    this.touch("unread");
  }

  /** Called when a channel is opened. Draws a divider above its unread messages and acknowledges them. */
  read(channel) {
    this.open = channel;
    this.heldUnread = "";
    const state = this.unread.get(channel);
    if (channel)
      this.log(channel).readTo = !state ? null : state.first ? idBefore(state.first) : this.acked.get(channel) || null;
    this.seen();
  }

  /** Called when the window becomes visible again. Marks the open channel as read. */
  seen() {
    if (!this.open || document.hidden || this.heldUnread === this.open) return;
    if (this.unread.delete(this.open)) this.touch("unread");
    this.acknowledge(this.open);
  }

  /**
   * Acknowledges the newest message of a channel. Waits a short time first, so that several messages need one request.
   */
  acknowledge(channel) {
    clearTimeout(this.ackTimer);
    this.ackTimer = setTimeout(() => {
      const last = this.channels.get(channel)?.last_message_id;
      if (!last || this.open !== channel || document.hidden || !older(this.acked.get(channel) || "0", last)) return;
      this.acked.set(channel, last);
      this.rest.post(`/channels/${channel}/messages/${last}/ack`, {}).catch(() => {});
    }, ACK_AFTER_MS);
  }

  /** Marks a channel as read. @param {string} channel */
  async markRead(channel) {
    const last = this.channels.get(channel)?.last_message_id;
    if (last) await this.rest.post(`/channels/${channel}/messages/${last}/ack`, {});
    if (last) this.acked.set(channel, last);
    this.log(channel).readTo = null;
    this.heldUnread = "";
    this.unread.delete(channel);
    this.touch("unread", `messages:${channel}`);
  }

  /** Marks all channels of a server as read. @param {string} guild */
  async markGuildRead(guild) {
    await this.rest.post(`/guilds/${guild}/ack`);
    for (const id of this.unread.keys()) if (this.channels.get(id)?.guild_id === guild) this.unread.delete(id);
    this.touch("unread");
  }

  /** Marks a message and all newer messages of the channel as unread. */
  async markUnreadFrom(channel, id) {
    const before = idBefore(id),
      after = this.log(channel).list.filter((m) => !older(m.id, id) && m.author.id !== this.me.id);
    const mentions = after.filter((m) => this.isMention(m)).length;
    clearTimeout(this.ackTimer);
    this.heldUnread = channel;
    await this.rest.post(`/channels/${channel}/messages/${before}/ack`, { manual: true, mention_count: mentions });
    this.acked.set(channel, before);
    this.log(channel).readTo = before;
    this.unread.set(channel, { count: Math.max(1, after.length), mentions, first: id });
    this.touch("unread", `messages:${channel}`);
  }

  /** Unread state from READY. */
  takeReadStates(list) {
    for (const state of list) {
      const channel = this.channels.get(state.id),
        seen = state.last_message_id || "0";
      this.acked.set(state.id, seen);
      if (channel?.last_message_id && older(seen, channel.last_message_id))
        this.unread.set(state.id, { count: Math.max(1, state.mention_count || 0), mentions: state.mention_count || 0 });
    }
  }

  /** Handles MESSAGE_ACK. This session or another session of the account has acknowledged messages. */
  takeAck(d) {
    this.acked.set(d.channel_id, d.message_id);
    const last = this.channels.get(d.channel_id)?.last_message_id;
    if (!last) return;
    if (!older(d.message_id, last)) this.unread.delete(d.channel_id);
    else if (d.manual && !this.unread.has(d.channel_id))
      this.unread.set(d.channel_id, { count: Math.max(1, d.mention_count || 0), mentions: d.mention_count || 0 });
    this.touch("unread");
  }

  /** Returns unread counts by guild id (null: direct messages). Muted channels only count if they have mentions. */
  unreadByGuild() {
    const out = new Map();
    for (const [id, u] of this.unread) {
      const channel = this.channels.get(id);
      if (!channel || (!u.mentions && this.isMuted(channel))) continue;
      const guild = channel.guild_id ?? null,
        sum = out.get(guild) || { mentions: 0 };
      sum.mentions += this.isMuted(channel) && !guild ? 0 : u.mentions;
      out.set(guild, sum);
    }
    return out;
  }

  /* --- notification settings --- */

  takeGuildSettings(list) {
    for (const s of list)
      this.guildSettings.set(s.guild_id ?? "@me", {
        ...s,
        overrides: new Map((s.channel_overrides || []).map((o) => [o.channel_id, o])),
      });
    this.touch("unread");
  }

  settingsOf(channel) {
    const settings = this.guildSettings.get(channel?.guild_id ?? "@me");
    return { settings, own: settings?.overrides.get(channel?.id) };
  }

  /** Returns a channel and its parents: a thread, its channel, and the category of this channel. */
  chainOf(channel) {
    const parent = channel?.parent_id && this.channels.get(channel.parent_id);
    return parent ? [channel, ...this.chainOf(parent)] : [channel];
  }

  isMuted(channel) {
    const { settings } = this.settingsOf(channel);
    if (isThread(channel) && mutedNow(channel.member)) return true;
    if (channel.guild_id && mutedNow(settings)) return true;
    return this.chainOf(channel).some((c) => mutedNow(settings?.overrides.get(c.id)));
  }

  isGuildMuted(guild) {
    return mutedNow(this.guildSettings.get(guild));
  }

  /**
   * Returns the notification level of a channel: that of the channel, else of its category, else of the guild, else the
   * default level.
   */
  levelOf(channel) {
    const { settings } = this.settingsOf(channel),
      thread = isThread(channel) && THREAD_LEVELS[channel.member?.flags & 14];
    if (thread !== undefined && thread !== false) return thread;
    for (const c of this.chainOf(channel)) {
      const level = settings?.overrides.get(c.id)?.message_notifications ?? INHERIT;
      if (level !== INHERIT) return level;
    }
    if (!channel.guild_id) return ALL;
    return this.guildLevel(channel.guild_id);
  }

  guildLevel(guild) {
    const level = this.guildSettings.get(guild)?.message_notifications ?? INHERIT;
    return level === INHERIT ? (this.guilds.get(guild)?.default_message_notifications ?? ALL) : level;
  }

  /** Returns true if the user's settings allow a notification of this message. */
  notifies(m) {
    const channel = this.channels.get(m.channel_id);
    if (!channel || m.author.id === this.me.id || this.isMuted(channel) || m.flags & 4096) return false;
    const level = this.levelOf(channel);
    return level === ALL || (level === MENTIONS && this.isMention(m, channel));
  }

  /** Changes notification settings of a guild. @param {string} guild an id, or "@me" */
  async changeGuildSettings(guild, change) {
    const answer = await this.rest.patch(`/users/@me/guilds/${guild}/settings`, change);
    // The event or the answer of a later change may have come first.
    if (!(answer.version < this.guildSettings.get(guild)?.version)) this.takeGuildSettings([answer]);
  }
}
