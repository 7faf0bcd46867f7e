// store.js - the client's state, which gateway events (store-…-events.js) update; topics (topics.js) notify the views.
import { Channels, DM, GROUP, isThread, older } from "./channel-types.js";
import { allows, channelPermissions, guildPermissions } from "./permissions.js";
import { GUILD_HANDLERS } from "./store-guild-events.js";
import { byId } from "./channel-types.js";
import { MESSAGE_HANDLERS } from "./store-message-events.js";
import { PEOPLE_HANDLERS } from "./store-people-events.js";
import { SERVER_HANDLERS } from "./store-server.js";
import { UnreadStore } from "./store-unread.js";
import { t } from "./translate.js";

export * from "./channel-types.js";
export { MEMBERS_LISTED } from "./store-guild-events.js";
const MAX_EVENTS = 2000,
  MOST_FOUND = 8;

/** The handlers of gateway events; `this` is the store. */
const HANDLERS = { ...GUILD_HANDLERS, ...MESSAGE_HANDLERS, ...PEOPLE_HANDLERS, ...SERVER_HANDLERS };

export class Store extends UnreadStore {
  constructor(rest) {
    super(rest);
    this.events = [];
    this.eventCount = 0;
    /** Called when an app responds to an interaction with a modal. @type {((d: any) => void)|null} */
    this.onmodal = null;
    /**
     * Called for gateway events about voice servers, streams and effects.
     * @type {((type: string, d: any) => void)|null}
     */
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
    this.listed = new Map(); // ids of the members in each subscribed member list, by guild and list id
    this.voice = new Map();
    this.typing = new Map();
    this.resetMessages();
    this.resetUnread();
    this.interactions = new Map();
    this.stages = new Map();
    /** Calls that are running, by the id of their private channel. */
    this.calls = new Map();
    this.settings = {};
    /** Ids of the bookmarked messages, or null before they are loaded. @type {Set<string>|null} */
    this.saved = null;
    /**
     * Role that the user has chosen in "View as role", with its guild; or null.
     * @type {{guild: string, role: string}|null}
     */
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
  /** Returns the colour of the highest role of a member that has a colour, or null. */
  colorOf(id, guild) {
    const roles = (this.member(guild, id)?.roles || []).map((r) => guild.roles.get(r)).filter((r) => r?.color);
    roles.sort((a, b) => b.position - a.position);
    return roles[0] ? `#${roles[0].color.toString(16).padStart(6, "0")}` : null;
  }
  /**
   * Returns the user's own member object. If the user views the guild as a role, the returned member has only this
   * role.
   */
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
   * Finds members by name: first among the loaded members, then by a search request.
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
    HANDLERS[type]?.call(this, d, type);
  }
}
