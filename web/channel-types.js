// channel-types.js - the channel types, functions that compare and convert ids, and the map of channels.
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
/** Returns true if snowflake `a` is smaller than `b`, which means that its object was created earlier. */
export const older = (a, b) => (a.length !== b.length ? a.length < b.length : a < b);
/** Returns a map of objects by id. @param {any[]|undefined} list @returns {Map<string, any>} */
export const byId = (list) => new Map((list || []).map((x) => [x.id, x]));
/** Returns the snowflake minus one. @param {string} id */
export const idBefore = (id) => String(BigInt(id) - 1n);
const EPOCH_MS = 1420070400000;
/** Returns the smallest snowflake that can be created at a time. @param {number} ms */
export const idAt = (ms) => String(BigInt(Math.max(0, Math.floor(ms) - EPOCH_MS)) << 22n);
/** Returns the time of a snowflake in ms since 1970. @param {string} id */
export const timeOf = (id) => Number(BigInt(id) >> 22n) + EPOCH_MS;

/**
 * Counts the changes of all channel maps. A new map takes its version from this counter, so no two maps have the same
 * version.
 */
let changes = 0;

/** A map of channels by id, with an index by guild. */
export class Channels extends Map {
  /** @type {Map<string|undefined, any[]>|null} */
  byGuild = null;
  /** Version of this map of channels; it increases with each change. */
  version = ++changes;
  set(id, channel) {
    this.byGuild = null;
    this.version = ++changes;
    return super.set(id, channel);
  }
  delete(id) {
    this.byGuild = null;
    this.version = ++changes;
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
