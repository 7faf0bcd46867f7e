// store.js - the client's state, updated by gateway events. Views subscribe to topics; all changes
// within one frame are delivered together, so 1,000 events per second cause at most 60 redraws.
import { allows, channelPermissions, guildPermissions } from "./permissions.js";
import { SERVER_HANDLERS } from "./store-server.js";
import { t } from "./translate.js";

export const TEXT = 0,
  DM = 1,
  VOICE = 2,
  GROUP = 3,
  CATEGORY = 4,
  ANNOUNCEMENT = 5,
  STAGE = 13,
  FORUM = 15,
  MEDIA = 16;
export const isThread = (c) => c.type >= 10 && c.type <= 12;
export const isVoice = (c) => c.type === VOICE || c.type === STAGE;
export const isForum = (c) => c.type === FORUM || c.type === MEDIA;
export const older = (a, b) => (a.length !== b.length ? a.length < b.length : a < b);
const byId = (list) => new Map((list || []).map((x) => [x.id, x]));
export const MEMBERS_LISTED = 100;
const MAX_STORED = 10000,
  MOST_ASKED = 3,
  MAX_EVENTS = 2000,
  ACK_AFTER_MS = 800,
  EVENT_MS = 10000;
/** Topics with large views, and the delay in ms between their redraws. */
const CALM = new Set(["unread", "presence", "members", "channels", "guilds", "voice"]),
  CALM_MS = 200;

/** Channels with an index by guild. */
class Channels extends Map {
  byGuild = null;
  set(id, channel) {
    this.byGuild = null;
    return super.set(id, channel);
  }
  delete(id) {
    this.byGuild = null;
    return super.delete(id);
  }
  of(guild) {
    if (!this.byGuild) {
      this.byGuild = new Map();
      for (const c of this.values()) {
        const list = this.byGuild.get(c.guild_id);
        if (list) list.push(c);
        else this.byGuild.set(c.guild_id, [c]);
      }
    }
    return this.byGuild.get(guild) || [];
  }
}

export class Store {
  constructor(rest) {
    this.rest = rest;
    this.listeners = new Map();
    this.dirty = new Set();
    this.notifiedAt = new Map();
    this.scheduled = false;
    this.events = [];
    this.eventCount = 0;
    /** Listeners for modals and for voice events: (data) => void. */
    this.onmodal = this.onvoice = /** @type {((d: any) => void)|null} */ (null);
    this.reset();
  }

  reset() {
    this.me = null;
    this.guilds = new Map();
    this.channels = new Channels();
    this.users = new Map();
    this.relationships = new Map();
    this.games = [];
    this.presences = new Map();
    this.listed = new Map(); // members of a member list, by guild and list id
    this.voice = new Map();
    this.typing = new Map();
    this.messages = new Map();
    this.unread = new Map();
    this.acked = new Map();
    this.interactions = new Map();
    this.stages = new Map();
    this.settings = {};
    /** The role that a server is viewed as. @type {{guild: string, role: string}|null} */
    this.viewAs = null;
    this.ready = false;
  }

  /* --- notifying views --- */

  on(topic, listener) {
    if (!this.listeners.has(topic)) this.listeners.set(topic, new Set());
    this.listeners.get(topic).add(listener);
    return () => this.listeners.get(topic)?.delete(listener);
  }

  /**
   * Waits until a condition holds, which is checked at each event of a topic; resolves after a timeout, too.
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
    // A hidden page gets no animation frames; flush anyway, so that its lists do not grow without limit.
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

  /** Calls a view; an exception in one view does not stop the others. */
  notify(listener, topic) {
    try {
      listener(topic);
    } catch (e) {
      reportError(e);
    }
  }

  /* --- queries --- */

  user(id) {
    return this.users.get(id);
  }
  keepUser(user) {
    if (!user?.id) return user;
    const known = this.users.get(user.id);
    if (known) Object.assign(known, user);
    else this.users.set(user.id, user);
    return this.users.get(user.id);
  }
  guildOf(channel) {
    return channel?.guild_id ? this.guilds.get(channel.guild_id) : undefined;
  }
  member(guild, id) {
    return guild?.members.get(id);
  }
  nameOf(id, guild) {
    const member = this.member(guild, id),
      user = this.users.get(id);
    return member?.nick || this.relationships.get(id)?.nickname || user?.global_name || user?.username || "somebody";
  }
  /** The colour of a member's highest coloured role. */
  colorOf(id, guild) {
    const roles = (this.member(guild, id)?.roles || []).map((r) => guild.roles.get(r)).filter((r) => r?.color);
    roles.sort((a, b) => b.position - a.position);
    return roles[0] ? `#${roles[0].color.toString(16).padStart(6, "0")}` : null;
  }
  /** The own member; while the server is viewed as a role, a member with only this role. */
  ownMember(guild) {
    return this.viewAs?.guild === guild.id
      ? { user: { id: "" }, roles: [this.viewAs.role] }
      : guild.members.get(this.me.id);
  }
  permissions(channel) {
    const guild = this.guildOf(channel);
    if (!guild) return ~0n;
    const base = isThread(channel) ? this.channels.get(channel.parent_id) : channel;
    return channelPermissions(guild, this.ownMember(guild), base);
  }
  may(channel, right) {
    const asked = right === "SEND_MESSAGES" && isThread(channel) ? "SEND_MESSAGES_IN_THREADS" : right;
    return allows(this.permissions(channel), asked);
  }
  mayInGuild(guild, right) {
    return allows(guildPermissions(guild, this.ownMember(guild)), right);
  }
  nameOfChannel(channel) {
    if (channel.name) return channel.name;
    const people = (channel.recipients || []).map((u) => this.nameOf(u.id));
    return people.join(", ") || t("Empty group");
  }
  channelsOf(guild) {
    return [...this.channels.of(guild.id)];
  }
  /** Unread counts by guild; null means direct messages. */
  unreadByGuild() {
    const out = new Map();
    for (const [id, u] of this.unread) {
      const channel = this.channels.get(id);
      if (!channel) continue;
      const guild = channel.guild_id ?? null,
        sum = out.get(guild) || { mentions: 0 };
      sum.mentions += u.mentions;
      out.set(guild, sum);
    }
    return out;
  }
  privateChannels() {
    const all = this.channels.of(undefined).filter((c) => c.type === DM || c.type === GROUP);
    return all.sort((a, b) => (older(a.last_message_id || a.id, b.last_message_id || b.id) ? 1 : -1));
  }
  voiceOf(channel) {
    return [...this.voice.values()].filter((v) => v.channel_id === channel);
  }
  ownVoice() {
    return [...this.voice.values()].find((v) => v.user_id === this.me?.id && v.channel_id);
  }
  log(channel) {
    if (!this.messages.has(channel))
      this.messages.set(channel, { list: [], start: false, loaded: false, changed: [], asks: new Set() });
    return this.messages.get(channel);
  }

  /* --- messages --- */

  async loadMessages(channel, before) {
    const log = this.log(channel);
    log.asked = true;
    const page = await this.pageOfMessages(channel, before);
    page.reverse().forEach((m) => this.keepAuthors(m));
    const known = new Set(log.list.map((m) => m.id));
    const fresh = page.filter((m) => !known.has(m.id));
    if (before) log.list.unshift(...fresh);
    else log.list = [...fresh, ...log.list].sort((a, b) => (older(a.id, b.id) ? -1 : 1));
    log.start = page.length < 50;
    log.loaded = true;
    log.stale = false;
    return fresh.length;
  }

  /** Fetches messages again if one of them changed during the request, because the response may be older. */
  async pageOfMessages(channel, before) {
    const log = this.log(channel),
      changed = new Set();
    log.asks.add(changed);
    try {
      for (let tries = 1; ; tries++) {
        changed.clear();
        const page = await this.rest.get(`/channels/${channel}/messages?limit=50${before ? `&before=${before}` : ""}`);
        if (tries === MOST_ASKED || !page.some((m) => changed.has(m.id))) return page;
      }
    } finally {
      log.asks.delete(changed);
    }
  }

  keepAuthors(m) {
    this.keepUser(m.author);
    (m.mentions || []).forEach((u) => this.keepUser(u));
    const guild = this.guildOf(this.channels.get(m.channel_id));
    if (guild && m.member && !guild.members.has(m.author.id))
      guild.members.set(m.author.id, { ...m.member, user: m.author });
  }

  addMessage(m) {
    this.keepAuthors(m);
    const log = this.log(m.channel_id),
      channel = this.channels.get(m.channel_id);
    if (channel && !(m.flags & 64)) channel.last_message_id = m.id;
    this.typing.get(m.channel_id)?.delete(m.author.id);
    // Record the change during a fetch, too: the response may be older than this event.
    if ((log.loaded || log.asked) && !log.list.slice(-100).some((x) => x.id === m.id)) {
      log.list.push(m);
      if (log.list.length > MAX_STORED) {
        log.list.splice(0, log.list.length - MAX_STORED);
        log.start = false;
      }
    }
    if (this.open === m.channel_id) this.acknowledge(m.channel_id);
    else if (m.author.id !== this.me.id) this.markUnread(m);
    this.touch(`messages:${m.channel_id}`, "typing");
  }

  markUnread(m) {
    const now = this.unread.get(m.channel_id) || { count: 0, mentions: 0 };
    const channel = this.channels.get(m.channel_id);
    const direct = channel && !channel.guild_id;
    now.count++;
    if (direct || m.mention_everyone || (m.mentions || []).some((u) => u.id === this.me.id)) now.mentions++;
    this.unread.set(m.channel_id, now);
    this.touch("unread");
  }

  read(channel) {
    this.open = channel;
    if (this.unread.delete(channel)) this.touch("unread");
    this.acknowledge(channel);
  }

  /** Acknowledges the newest read message; several within a short time are sent as one request. */
  acknowledge(channel) {
    clearTimeout(this.ackTimer);
    this.ackTimer = setTimeout(() => {
      const last = this.channels.get(channel)?.last_message_id;
      if (!last || this.open !== channel || document.hidden || !older(this.acked.get(channel) || "0", last)) return;
      this.acked.set(channel, last);
      this.rest.post(`/channels/${channel}/messages/${last}/ack`, {}).catch(() => {});
    }, ACK_AFTER_MS);
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

  /* --- guilds --- */

  addGuild(g) {
    if (g.unavailable) return;
    const guild = { ...g, ...(g.properties || {}) };
    guild.roles = byId(guild.roles);
    guild.emojis = guild.emojis || [];
    guild.members = new Map();
    (g.members || []).forEach((m) => this.addMember(guild, m));
    for (const c of [...(g.channels || []), ...(g.threads || [])]) this.channels.set(c.id, { ...c, guild_id: g.id });
    (g.voice_states || []).forEach((v) => this.voice.set(v.user_id, { ...v, guild_id: g.id }));
    (g.presences || []).forEach((p) => this.presences.set(p.user.id, p));
    (g.stage_instances || []).forEach((s) => this.stages.set(s.channel_id, s));
    delete guild.channels;
    delete guild.threads;
    this.guilds.set(guild.id, guild);
  }

  addMember(guild, m) {
    this.keepUser(m.user);
    guild.members.set(m.user.id, m);
  }

  /* --- events --- */

  dispatch(type, d) {
    this.eventCount++;
    this.events.push({ n: this.eventCount, at: Date.now(), type, d });
    if (this.events.length > MAX_EVENTS * 1.5) this.events.splice(0, this.events.length - MAX_EVENTS);
    this.touch("events");
    (HANDLERS[type] || SERVER_HANDLERS[type])?.call(this, d, type);
  }
}

function channelChanged(d) {
  if (!d.guild_id) (d.recipients || []).forEach((u) => this.keepUser(u));
  this.channels.set(d.id, { ...this.channels.get(d.id), ...d });
  this.touch("channels");
}

function channelGone(d) {
  this.channels.delete(d.id);
  this.messages.delete(d.id);
  this.unread.delete(d.id);
  this.touch("channels");
}

function roleChanged(d) {
  this.guilds.get(d.guild_id)?.roles.set(d.role.id, d.role);
  this.touch("guilds", "members", "channels");
}

function memberChanged(d) {
  const guild = this.guilds.get(d.guild_id);
  if (!guild) return;
  this.addMember(guild, { ...guild.members.get(d.user.id), ...d });
  this.touch("members");
}

function relationshipChanged(d) {
  if (d.user) this.keepUser(d.user);
  this.relationships.set(d.id, { ...this.relationships.get(d.id), ...d });
  this.touch("friends");
}

function outcome(d, type) {
  const waiting = this.interactions.get(String(d.nonce));
  if (!waiting) return;
  waiting(type, d);
  if (type !== "INTERACTION_CREATE") this.interactions.delete(String(d.nonce));
}

/** The handlers of gateway events; `this` is the store. */
const HANDLERS = {
  READY(d) {
    const open = this.open;
    this.reset();
    this.open = open;
    this.me = this.keepUser(d.user);
    this.session = d.session_id;
    this.login = d.auth_session_id_hash;
    this.settings = d.user_settings || {};
    (d.users || []).forEach((u) => this.keepUser(u));
    d.guilds.forEach((g) => this.addGuild(g));
    d.private_channels.forEach((c) => {
      (c.recipients || []).forEach((u) => this.keepUser(u));
      this.channels.set(c.id, c);
    });
    (d.relationships || []).forEach((r) => {
      this.keepUser(r.user);
      this.relationships.set(r.id, r);
    });
    (d.presences || []).forEach((p) => this.presences.set(p.user.id, p));
    this.takeReadStates(Array.isArray(d.read_state) ? d.read_state : d.read_state?.entries || []);
    this.games = d.game_relationships || [];
    this.notes = d.notes || {};
    this.suggestionCount = d.friend_suggestion_count || 0;
    this.ready = true;
    this.touch("ready", "guilds", "channels", "members", "friends", "voice", "unread", "me");
  },
  GUILD_CREATE(d) {
    this.addGuild(d);
    this.touch("guilds", "channels", "members", "voice");
  },
  GUILD_UPDATE(d) {
    const guild = this.guilds.get(d.id);
    if (guild) Object.assign(guild, d, { roles: d.roles ? byId(d.roles) : guild.roles, members: guild.members });
    this.touch("guilds", "channels");
  },
  GUILD_DELETE(d) {
    if (d.unavailable) return;
    this.guilds.delete(d.id);
    for (const [id, c] of this.channels)
      if (c.guild_id === d.id) {
        this.channels.delete(id);
        this.unread.delete(id);
      }
    this.touch("guilds", "channels");
  },
  GUILD_ROLE_CREATE: roleChanged,
  GUILD_ROLE_UPDATE: roleChanged,
  GUILD_ROLE_DELETE(d) {
    this.guilds.get(d.guild_id)?.roles.delete(d.role_id);
    this.touch("guilds", "members");
  },
  GUILD_EMOJIS_UPDATE(d) {
    const g = this.guilds.get(d.guild_id);
    if (g) g.emojis = d.emojis;
    this.touch("guilds");
  },
  GUILD_MEMBER_ADD: memberChanged,
  GUILD_MEMBER_UPDATE: memberChanged,
  GUILD_MEMBER_REMOVE(d) {
    this.guilds.get(d.guild_id)?.members.delete(d.user.id);
    this.touch("members");
  },
  GUILD_MEMBERS_CHUNK(d) {
    const guild = this.guilds.get(d.guild_id);
    if (guild) d.members.forEach((m) => this.addMember(guild, m));
    this.touch("members");
  },
  /** Updates the rows of a subscribed member list. */
  GUILD_MEMBER_LIST_UPDATE(d) {
    const guild = this.guilds.get(d.guild_id);
    for (const op of guild ? d.ops : []) {
      if (op.op !== "SYNC") continue;
      const members = op.items.map((i) => i.member).filter(Boolean),
        listed = new Set(members.map((m) => m.user.id));
      members.forEach((m) => {
        this.addMember(guild, m);
        if (m.presence) this.presences.set(m.user.id, m.presence);
      });
      // The list is complete: members that are no longer in it have left or gone offline.
      const key = `${d.guild_id}:${d.id}`,
        whole = op.range[0] === 0 && op.items.length < MEMBERS_LISTED;
      for (const id of (whole && this.listed.get(key)) || []) if (!listed.has(id)) this.presences.delete(id);
      this.listed.set(key, listed);
    }
    this.touch("members");
  },
  GUILD_APPLICATION_COMMAND_INDEX_UPDATE() {
    this.touch("commands");
  },
  CHANNEL_CREATE: channelChanged,
  CHANNEL_UPDATE: channelChanged,
  CHANNEL_DELETE: channelGone,
  THREAD_CREATE: channelChanged,
  THREAD_UPDATE: channelChanged,
  THREAD_DELETE: channelGone,
  THREAD_LIST_SYNC(d) {
    d.threads.forEach((c) => this.channels.set(c.id, { ...c, guild_id: d.guild_id }));
    this.touch("channels");
  },
  CHANNEL_RECIPIENT_ADD(d) {
    const c = this.channels.get(d.channel_id);
    if (c) c.recipients = [...(c.recipients || []).filter((u) => u.id !== d.user.id), this.keepUser(d.user)];
    this.touch("channels");
  },
  CHANNEL_RECIPIENT_REMOVE(d) {
    const c = this.channels.get(d.channel_id);
    if (c) c.recipients = (c.recipients || []).filter((u) => u.id !== d.user.id);
    this.touch("channels");
  },
  MESSAGE_CREATE(d) {
    this.addMessage(d);
  },
  MESSAGE_UPDATE(d) {
    this.changeMessage(d.channel_id, d.id, (m) => ({ ...m, ...d }));
  },
  MESSAGE_DELETE(d) {
    this.changeMessage(d.channel_id, d.id, () => null);
  },
  MESSAGE_DELETE_BULK(d) {
    d.ids.forEach((id) => this.changeMessage(d.channel_id, id, () => null));
  },
  MESSAGE_REACTION_ADD(d) {
    this.react(d, 1);
  },
  MESSAGE_REACTION_REMOVE(d) {
    this.react(d, -1);
  },
  MESSAGE_REACTION_REMOVE_ALL(d) {
    this.changeMessage(d.channel_id, d.message_id, (m) => ({ ...m, reactions: [] }));
  },
  MESSAGE_REACTION_REMOVE_EMOJI(d) {
    this.changeMessage(d.channel_id, d.message_id, (m) => ({
      ...m,
      reactions: (m.reactions || []).filter((r) =>
        d.emoji.id ? r.emoji.id !== d.emoji.id : r.emoji.name !== d.emoji.name,
      ),
    }));
  },
  MESSAGE_ACK(d) {
    this.acked.set(d.channel_id, d.message_id);
    const last = this.channels.get(d.channel_id)?.last_message_id;
    if (last && !older(d.message_id, last) && this.unread.delete(d.channel_id)) this.touch("unread");
  },
  MESSAGE_POLL_VOTE_ADD(d) {
    this.vote(d, 1);
  },
  MESSAGE_POLL_VOTE_REMOVE(d) {
    this.vote(d, -1);
  },
  TYPING_START(d) {
    if (d.user_id === this.me.id) return;
    if (d.member) memberChanged.call(this, { ...d.member, guild_id: d.guild_id });
    if (!this.typing.has(d.channel_id)) this.typing.set(d.channel_id, new Map());
    this.typing.get(d.channel_id).set(d.user_id, Date.now() + 10000);
    this.touch("typing");
    setTimeout(() => this.touch("typing"), 10100);
  },
  VOICE_STATE_UPDATE(d) {
    if (d.member) memberChanged.call(this, { ...d.member, guild_id: d.guild_id });
    if (d.channel_id) this.voice.set(d.user_id, d);
    else this.voice.delete(d.user_id);
    this.touch("voice");
  },
  VOICE_SERVER_UPDATE(d) {
    this.onvoice?.(d);
  },
  STAGE_INSTANCE_CREATE(d) {
    this.stages.set(d.channel_id, d);
    this.touch("voice");
  },
  STAGE_INSTANCE_UPDATE(d) {
    this.stages.set(d.channel_id, d);
    this.touch("voice");
  },
  STAGE_INSTANCE_DELETE(d) {
    this.stages.delete(d.channel_id);
    this.touch("voice");
  },
  VOICE_CHANNEL_EFFECT_SEND(d) {
    this.effect = d;
    this.touch("effects");
  },
  PRESENCE_UPDATE(d) {
    this.keepUser(d.user.username ? d.user : null);
    this.presences.set(d.user.id, d);
    this.touch("presence");
  },
  USER_UPDATE(d) {
    this.me = this.keepUser(d);
    this.touch("me", "members");
  },
  USER_SETTINGS_UPDATE(d) {
    Object.assign(this.settings, d);
    this.touch("me");
  },
  USER_NOTE_UPDATE(d) {
    this.notes[d.id] = d.note;
    this.touch("notes");
  },
  RELATIONSHIP_ADD: relationshipChanged,
  RELATIONSHIP_UPDATE: relationshipChanged,
  RELATIONSHIP_REMOVE(d) {
    this.relationships.delete(d.id);
    this.touch("friends");
  },
  GAME_RELATIONSHIP_ADD(d) {
    this.games = [...this.games.filter((g) => g.id !== d.id || g.application_id !== d.application_id), d];
    this.touch("friends");
  },
  GAME_RELATIONSHIP_REMOVE(d) {
    this.games = this.games.filter((g) => g.id !== d.id || g.application_id !== d.application_id);
    this.touch("friends");
  },
  FRIEND_SUGGESTION_CREATE() {
    this.suggestionCount++;
    this.touch("friends");
  },
  FRIEND_SUGGESTION_DELETE() {
    this.suggestionCount = Math.max(0, this.suggestionCount - 1);
    this.touch("friends");
  },
  INTERACTION_CREATE: outcome,
  INTERACTION_SUCCESS: outcome,
  INTERACTION_FAILURE: outcome,
  INTERACTION_MODAL_CREATE(d, type) {
    this.onmodal?.(d);
    outcome.call(this, d, type);
  },
  APPLICATION_COMMAND_AUTOCOMPLETE_RESPONSE: outcome,
};
