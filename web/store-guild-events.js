// store-guild-events.js - handles gateway events of guilds, channels, threads and members. `this` is the store.
import { byId } from "./channel-types.js";

export const MEMBERS_LISTED = 100;

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

export function memberChanged(d) {
  const guild = this.guilds.get(d.guild_id);
  if (!guild) return;
  this.addMember(guild, { ...guild.members.get(d.user.id), ...d });
  this.touch("members");
}

export const GUILD_HANDLERS = {
  READY(d) {
    const open = this.open;
    this.reset();
    this.open = open;
    this.me = this.keepUser(d.user);
    this.session = d.session_id;
    this.login = d.auth_session_id_hash;
    this.factors = d.auth?.authenticator_types || [];
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
  /** Applies a gateway event to the rows of a subscribed member list. */
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
      // A complete member list has every member who is online. A member missing in it has left or is offline.
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
  /** Handles a change of the current user's membership in a thread. */
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
};
