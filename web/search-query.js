// search-query.js - parses a search query: words and filters (from, in, has, mentions, before, after, during, pinned).
import { idAt } from "./channel-types.js";
import { t } from "./translate.js";

const DAY_MS = 86400000;
/**
 * The values of the filter "has:", as users type them. API_NAMES contains those values that have another name in the
 * API.
 */
export const HAS = ["link", "embed", "file", "image", "video", "sound", "sticker", "poll", "forward"];
const API_NAMES = { forward: "snapshot" };

/** The filters with their explanations. @returns {[string, string][]} */
export const filters = () => [
  ["from:", t("author")],
  ["in:", t("channel")],
  ["has:", t("link, embed, file, image, video, sound, sticker, poll, forward")],
  ["mentions:", t("user")],
  ["before:", t("date, for example 2026-01-31")],
  ["after:", t("date, for example 2026-01-31")],
  ["during:", t("date, for example 2026-01-31")],
  ["pinned:", t("true or false")],
];

const TOKEN = /(\w+):("[^"]*"|\S+)|"[^"]*"|\S+/g;

/**
 * Splits a query into words and filters.
 * @param {string} text
 * @returns {{words: string, filters: [string, string][]}}
 */
export function parse(text) {
  const words = [],
    found = /** @type {[string, string][]} */ ([]);
  for (const m of text.matchAll(TOKEN)) {
    const name = m[1]?.toLowerCase();
    if (name && filters().some(([f]) => f === `${name}:`)) found.push([name, m[2].replace(/^"|"$/g, "")]);
    else words.push(m[0].replace(/^"|"$/g, ""));
  }
  return { words: words.join(" "), filters: found };
}

/**
 * Returns the beginning and the end of a day, in local time.
 * @param {string} text "2026-01-31", "today" or "yesterday"
 */
function dayOf(text) {
  const now = new Date(),
    back = { today: 0, yesterday: 1 }[text.toLowerCase()];
  const parts = /^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(text);
  const start =
    back !== undefined
      ? new Date(now.getFullYear(), now.getMonth(), now.getDate() - back)
      : parts && new Date(Number(parts[1]), Number(parts[2]) - 1, Number(parts[3]));
  if (!start || Number.isNaN(start.getTime()))
    throw new Error(t("“{text}” is not a date. Write it as 2026-01-31, today or yesterday.", { text }));
  return { from: start.getTime(), to: start.getTime() + DAY_MS };
}

/**
 * Translates a query into the parameters of the API.
 * @param {string} text
 * @param {{user: (name: string) => Promise<string|null>, channel: (name: string) => string|null}} names
 */
export async function parameters(text, names) {
  const { words, filters: list } = parse(text),
    out = new URLSearchParams();
  if (words) out.set("content", words);
  const user = async (name) => {
    const id = name === "me" ? await names.user("@me") : await names.user(name.replace(/^@/, ""));
    if (!id) throw new Error(t("Nobody here is called “{text}”. Choose a name from the list.", { text: name }));
    return id;
  };
  for (const [name, value] of list) {
    if (name === "from") out.append("author_id", await user(value));
    else if (name === "mentions") out.append("mentions", await user(value));
    else if (name === "in") {
      const id = names.channel(value.replace(/^#/, ""));
      if (!id) throw new Error(t("There is no channel “{text}”. Choose one from the list.", { text: value }));
      out.append("channel_id", id);
    } else if (name === "has") {
      const kind = value.toLowerCase();
      if (!HAS.includes(kind.replace(/^-/, "")))
        throw new Error(t("“has:” does not know “{text}”. It knows: {list}.", { text: value, list: HAS.join(", ") }));
      out.append("has", API_NAMES[kind] || kind);
    } else if (name === "before") out.set("max_id", idAt(dayOf(value).from));
    else if (name === "after") out.set("min_id", idAt(dayOf(value).to));
    else if (name === "during") {
      out.set("min_id", idAt(dayOf(value).from));
      out.set("max_id", idAt(dayOf(value).to));
    } else out.set("pinned", String(value.toLowerCase() !== "false"));
  }
  return out;
}
