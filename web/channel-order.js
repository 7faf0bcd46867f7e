// channel-order.js - the order of the channels of a guild: sorts them, and moves them by drag and drop or by keyboard.
import { announce } from "./dom.js";
import { CATEGORY, isThread, isVoice } from "./store.js";
import { t } from "./translate.js";

const MOST_MOVES = 500; // entries of one request

const bySlot = (a, b) =>
  Number(isVoice(a)) - Number(isVoice(b)) || a.position - b.position || (BigInt(a.id) < BigInt(b.id) ? -1 : 1);

/** Returns the sorted channels by category (key null: channels without category), and the sorted categories. */
function groups(store, guild) {
  const inside = new Map([[null, []]]),
    categories = [];
  for (const c of store.channels.of(guild.id)) {
    if (isThread(c)) continue;
    if (c.type === CATEGORY) {
      categories.push(c);
      continue;
    }
    const parent = store.channels.has(c.parent_id) ? c.parent_id : null,
      list = inside.get(parent);
    if (list) list.push(c);
    else inside.set(parent, [c]);
  }
  for (const list of inside.values()) list.sort(bySlot);
  return { inside, categories: categories.sort(bySlot) };
}

/** Returns all channels in the order of the channel list. Only users who may manage channels see empty categories. */
export function orderedChannels(store, guild) {
  const { inside, categories } = groups(store, guild),
    seen = (list) => (store.viewAs?.guild === guild.id ? list.filter((c) => store.may(c, "VIEW_CHANNEL")) : list);
  const out = [...seen(inside.get(null))],
    manage = store.mayInGuild(guild, "MANAGE_CHANNELS");
  for (const category of categories) {
    const list = seen(inside.get(category.id) || []);
    if (!list.length && !manage) continue;
    out.push(category);
    for (const c of list) out.push(c);
  }
  return out;
}

/**
 * Returns the channels among which a channel is sorted: for a category all categories, otherwise the channels of the
 * same parent and type.
 */
function siblings(all, channel, parent) {
  if (channel.type === CATEGORY) return all.categories;
  return (all.inside.get(parent) || []).filter((c) => isVoice(c) === isVoice(channel));
}

/** Saves the new order of a list of channels. Sends only those channels whose position or category has changed. */
async function save(app, guild, list, channel, parent) {
  const free = list.map((c) => c.position).sort((a, b) => a - b);
  for (let i = 1; i < free.length; i++) free[i] = Math.max(free[i], free[i - 1] + 1);
  const moves = list.flatMap((c, i) => {
    const moved = c === channel && channel.type !== CATEGORY && (channel.parent_id || null) !== parent;
    if (c.position === free[i] && !moved) return [];
    return [{ id: c.id, position: free[i], ...(moved ? { parent_id: parent } : {}) }];
  });
  for (let at = 0; at < moves.length; at += MOST_MOVES)
    await app.rest.patch(`/guilds/${guild.id}/channels`, moves.slice(at, at + MOST_MOVES));
}

/**
 * Moves a channel before or after another one, or into a category.
 * @param {string} id @param {string|null} target null means no category @param {"before"|"after"|"into"} where
 */
export async function moveChannel(app, guild, id, target, where) {
  const all = groups(app.store, guild),
    channel = app.store.channels.get(id),
    at = target ? app.store.channels.get(target) : null;
  if (!channel || channel === at) return;
  const category = channel.type === CATEGORY;
  let neighbour = at;
  if (category && at && at.type !== CATEGORY) neighbour = app.store.channels.get(at.parent_id);
  const parent = category
    ? null
    : at?.type === CATEGORY
      ? where === "before"
        ? categoryBefore(all, at)
        : at.id
      : where === "into"
        ? target
        : at?.parent_id || null;
  const list = siblings(all, channel, parent).filter((c) => c !== channel),
    index = list.indexOf(neighbour);
  if (index >= 0) list.splice(index + (where === "before" ? 0 : 1), 0, channel);
  else if (at?.type === CATEGORY && where !== "before" && where !== "into") list.unshift(channel);
  else list.push(channel);
  if (await app.tryCall(save(app, guild, list, channel, parent).then(() => true)))
    announce(
      parent
        ? t("{name} is now at position {n} of {category}", {
            name: channel.name,
            n: list.indexOf(channel) + 1,
            category: app.store.channels.get(parent)?.name,
          })
        : t("{name} is now at position {n}", { name: channel.name, n: list.indexOf(channel) + 1 }),
    );
}

const categoryBefore = (all, category) => all.categories[all.categories.indexOf(category) - 1]?.id ?? null;

/** Moves a channel up or down by one position. At the end of a category, moves it to the next category. */
export function stepChannel(app, guild, id, by) {
  const all = groups(app.store, guild),
    channel = app.store.channels.get(id);
  if (!channel) return undefined;
  const parent = channel.parent_id || null,
    list = siblings(all, channel, parent),
    next = list[list.indexOf(channel) + by];
  if (next) return moveChannel(app, guild, id, next.id, by < 0 ? "before" : "after");
  if (channel.type === CATEGORY) return undefined;
  const keys = [null, ...all.categories.map((c) => c.id)],
    to = keys[keys.indexOf(parent) + by];
  if (to === undefined) return undefined;
  const others = siblings(all, channel, to);
  if (by > 0 && others.length) return moveChannel(app, guild, id, others[0].id, "before");
  return moveChannel(app, guild, id, to, "into");
}
