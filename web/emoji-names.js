// emoji-names.js - finds emoji by name; the tables are loaded when they are first needed.
import { t } from "./translate.js";

/**
 * An emoji with its names.
 * @typedef {{name: string, names: string[], id?: string, animated?: boolean, tones?: boolean}} Emoji
 */

const RECENT = "emoji.recent",
  TONE = "emoji.tone",
  MOST_RECENT = 32;
/** The skin tones: none, and the five modifiers. */
export const TONES = ["", "🏻", "🏼", "🏽", "🏾", "🏿"];

let loading = /** @type {Promise<{key: string, label: string, list: Emoji[]}[]>|null} */ (null);

/** @param {string} text @returns {Emoji[]} */
const parse = (text) =>
  text
    .trim()
    .split(/\s+/)
    .map((entry) => {
      const [sign, names] = entry.split("~");
      return { name: sign.replace("*", ""), names: names.split(","), tones: sign.endsWith("*") };
    });

/** All emoji by group. */
export function groups() {
  loading ??= Promise.all([
    import("./emoji-people.js"),
    import("./emoji-things.js"),
    import("./emoji-symbols.js"),
  ]).then(([people, things, symbols]) => [
    { key: "😀", label: t("Smileys"), list: parse(people.SMILEYS) },
    { key: "👋", label: t("People"), list: parse(people.PEOPLE) },
    { key: "🐻", label: t("Animals and nature"), list: parse(things.NATURE) },
    { key: "🍔", label: t("Food"), list: parse(things.FOOD) },
    { key: "🚲", label: t("Travel"), list: parse(things.TRAVEL) },
    { key: "⚽", label: t("Activities"), list: parse(things.ACTIVITIES) },
    { key: "💡", label: t("Objects"), list: parse(things.OBJECTS) },
    { key: "🔣", label: t("Symbols"), list: parse(symbols.SYMBOLS) },
    { key: "🏁", label: t("Flags"), list: parse(symbols.FLAGS) },
  ]);
  return loading;
}

/**
 * Finds emoji by name. The emoji whose first name begins with the text come first.
 * @param {string} text
 * @param {number} most
 */
export async function findEmoji(text, most) {
  const words = text.toLowerCase().replace(/^:|:$/g, "").replace(/ /g, "_"),
    ranked = /** @type {Emoji[][]} */ ([[], [], [], []]);
  for (const { list } of await groups())
    for (const e of list) {
      const rank =
        e.names[0] === words
          ? 0
          : e.names[0].startsWith(words)
            ? 1
            : e.names.some((n) => n.startsWith(words))
              ? 2
              : e.names.some((n) => n.includes(words))
                ? 3
                : -1;
      if (rank >= 0) ranked[rank].push(e);
    }
  return ranked.flat().slice(0, most);
}

/**
 * Replaces each :name: outside of code blocks by the emoji that has this name.
 * @param {string} text @param {any[]} [own] emoji of the server
 */
export async function replaceNames(text, own = []) {
  if (!/:[\w+-]{2,}:/.test(text)) return text;
  const byName = new Map();
  for (const { list } of await groups())
    for (const e of list) for (const n of e.names.slice(0, 2)) if (!byName.has(n)) byName.set(n, withTone(e));
  for (const e of own) byName.set(e.name, `<${e.animated ? "a" : ""}:${e.name}:${e.id}>`);
  return text.replace(/```[\s\S]*?```|`[^`]*`|<a?:\w+:\d+>|https?:\S+|:([\w+-]{2,}):/g, (whole, name) =>
    name && byName.has(name) ? byName.get(name) : whole,
  );
}

export const tone = () => Number(localStorage.getItem(TONE) || 0);
/** @param {number} n */
export const setTone = (n) => localStorage.setItem(TONE, String(n));

/** Returns an emoji in the user's skin tone: inserts the tone's modifier after the first character. @param {Emoji} e */
export function withTone(e) {
  const mark = TONES[tone()];
  if (!e.tones || !mark) return e.name;
  const [first, ...rest] = e.name;
  return first + mark + (rest[0] === "\ufe0f" ? rest.slice(1) : rest).join("");
}

/** Returns the emoji that the user has used recently. @returns {{name: string, id?: string, animated?: boolean}[]} */
export function recent() {
  try {
    return JSON.parse(localStorage.getItem(RECENT) || "[]");
  } catch {
    return [];
  }
}

/**
 * Adds an emoji that the user has chosen to the recent emoji.
 * @param {{name: string, id?: string, animated?: boolean}} e
 */
export function use(e) {
  const same = (x) => (e.id ? x.id === e.id : !x.id && x.name === e.name);
  const one = e.id ? { name: e.name, id: e.id, animated: e.animated } : { name: e.name };
  localStorage.setItem(RECENT, JSON.stringify([one, ...recent().filter((x) => !same(x))].slice(0, MOST_RECENT)));
}
