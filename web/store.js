// store.js - the client's state, updated by gateway events. Views subscribe to topics (topics.js). The base
// classes in store-messages.js and store-unread.js have messages and unread states.
import { Channels, DM, GROUP, isThread, older } from "./channel-types.js";
import { allows, channelPermissions, guildPermissions } from "./permissions.js";
import { SERVER_HANDLERS } from "./store-server.js";
import { UnreadStore } from "./store-unread.js";
import { t } from "./translate.js";

const byId = (list) => new Map((list || []).map((x) => [x.id, x]));
export * from "./channel-types.js";
export const MEMBERS_LISTED = 100;
const MAX_EVENTS = 2000,
  MOST_FOUND = 8;

export class Store extends UnreadStore {
  constructor(rest) {
    super(rest);
    this.events = [];
    this.eventCount = 0;
    /** Called when an app responds with a modal. @type {((d: any) => void)|null} */
    this.onmodal = null;
    /** Called for events of voice servers, streams and effects. @type {((type: string, d: any) => void)|null} */
    this.onvoice = null;
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
    this.listed = new Map(); // ids of the members in a subscribed member list, by guild and list id
    this.voice = new Map();
    this.typing = new Map();
    this.resetMessages();
    this.resetUnread();
    this.interactions = new Map();
    this.stages = new Map();
    /** Running calls by the id of their private channel. */
    this.calls = new Map();
    this.settings = {};
    /** Role that the user has chosen in "View as role", or null. @type {{guild: string, role: string}|null} */
    this.viewAs = null;
    this.ready = false;
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
  /** Returns the colour of the member's highest role that has a colour, or null. */
  colorOf(id, guild) {
    const roles = (this.member(guild, id)?.roles || []).map((r) => guild.roles.get(r)).filter((r) => r?.color);
    roles.sort((a, b) => b.position - a.position);
    return roles[0] ? `#${roles[0].color.toString(16).padStart(6, "0")}` : null;
  }
  /** Returns the user's member object. While the server is viewed as a role, a member with only this role. */
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
  /**
   * Finds members by name: first among the loaded members, then with a search request.
   * @param {any} guild @param {string} text @returns {Promise<any[]>} users
   */
  async findPeople(guild, text) {
    const lower = text.toLowerCase(),
      found = new Map();
    for (const m of guild.members.values()) {
      if (!`${this.nameOf(m.user.id, guild)}\n${m.user.username}`.toLowerCase().includes(lower)) continue;
      found.set(m.user.id, m.user);
      if (found.size === MOST_FOUND) return [...found.values()];
    }
    if (!lower) return [...found.values()];
    const query = encodeURIComponent(lower);
    const more = await this.rest
      .get(`/guilds/${guild.id}/members/search?query=${query}&limit=${MOST_FOUND}`)
      .catch(() => []);
    more.forEach((m) => {
      this.keepUser(m.user);
      found.set(m.user.id, m.user);
    });
    return [...found.values()].slice(0, MOST_FOUND);
  }

  /* --- messages --- */

  keepAuthors(m) {
    this.keepUser(m.author);
    (m.mentions || []).forEach((u) => this.keepUser(u));
    const guild = this.guildOf(this.channels.get(m.channel_id));
    if (guild && m.member && !guild.members.has(m.author.id))
      guild.members.set(m.author.id, { ...m.member, user: m.author });
  }

  addMessage(m) {
    this.keepAuthors(m);
    const channel = this.channels.get(m.channel_id);
    if (channel && !(m.flags & 64)) channel.last_message_id = m.id;
    this.typing.get(m.channel_id)?.delete(m.author.id);
    this.appendMessage(m);
    this.countMessage(m);
    if (m.author.id !== this.me.id) this.onmessage?.(m);
    this.touch(`messages:${m.channel_id}`, "typing");
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

function voiceEvent(d, type) {
  this.onvoice?.(type, d);
}

function callChanged(d) {
  const voice_states = d.voice_states || [];
  voice_states.forEach((v) => this.voice.set(v.user_id, { ...v, channel_id: d.channel_id }));
  this.calls.set(d.channel_id, { ringing: [], ...this.calls.get(d.channel_id), ...d });
  this.touch("calls", "voice");
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
    this.takeGuildSettings(
      Array.isArray(d.user_guild_settings) ? d.user_guild_settings : d.user_guild_settings?.entries || [],
    );
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
      // If the list is complete (whole), members who are no longer in it have left the server or are offline.
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
    this.takeAck(d);
  },
  USER_GUILD_SETTINGS_UPDATE(d) {
    this.takeGuildSettings([d]);
  },
  /** Handles a change of the user's own thread member object. */
  THREAD_MEMBER_UPDATE(d) {
    const thread = this.channels.get(d.id);
    if (thread) this.channels.set(d.id, { ...thread, member: d });
    this.touch("channels", `thread:${d.id}`);
  },
  THREAD_MEMBERS_UPDATE(d) {
    const thread = this.channels.get(d.id),
      left = (d.removed_member_ids || []).includes(this.me.id),
      own = (d.added_members || []).find((m) => m.user_id === this.me.id);
    if (thread)
      this.channels.set(d.id, {
        ...thread,
        member_count: d.member_count ?? thread.member_count,
        member: left ? undefined : own || thread.member,
      });
    this.touch("channels", `thread:${d.id}`);
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
  VOICE_SERVER_UPDATE: voiceEvent,
  STREAM_CREATE: voiceEvent,
  STREAM_SERVER_UPDATE: voiceEvent,
  STREAM_DELETE: voiceEvent,
  CALL_CREATE: callChanged,
  CALL_UPDATE: callChanged,
  CALL_DELETE(d) {
    this.calls.delete(d.channel_id);
    this.touch("calls");
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
  VOICE_CHANNEL_EFFECT_SEND(d, type) {
    this.effect = d;
    this.onvoice?.(type, d);
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
