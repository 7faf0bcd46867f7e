// markdown.js - renders Markdown as DOM elements. Text becomes text nodes, never HTML.
import { colourCode } from "./code-colours.js";
import { h } from "./dom.js";
import { locale, t } from "./translate.js";

const INLINE = [
  { first: "\\", re: /^\\([^\sA-Za-z0-9])/, make: (m) => m[1] },
  { first: "`", re: /^``(.+?)``(?!`)|^`([^`]+)`/s, make: (m) => h("code", null, (m[1] ?? m[2]).trim() || m[0]) },
  { first: "<", re: /^<(a?):(\w{2,32}):(\d{15,21})>/, make: (m) => emoji(m[2], m[3], !!m[1]) },
  { first: "<", re: /^<@!?(\d{15,21})>/, make: (m, c) => mention(c.user?.(m[1]), "@", m[1]) },
  { first: "<", re: /^<@&(\d{15,21})>/, make: (m, c) => mention(c.role?.(m[1]), "@", m[1]) },
  { first: "<", re: /^<#(\d{15,21})>/, make: (m, c) => channelMention(c, m[1]) },
  { first: "<", re: /^<\/([^:>]{1,100}):(\d{15,21})>/, make: (m) => h("span.mention", null, `/${m[1]}`) },
  { first: "<", re: /^<t:(-?\d{1,13})(?::([tTdDfFsSR]))?>/, make: (m) => time(Number(m[1]), m[2] || "f") },
  { first: "@", re: /^@(everyone|here)\b/, make: (m) => h("span.mention", null, m[0]) },
  { first: "[", re: /^\[([^\]\n]+)\]\(<?(https?:\/\/[^\s<>)]+)>?\)/, make: (m, c) => namedLink(m[2], m[1], c) },
  { first: "<", re: /^<(https?:\/\/[^\s<>]+)>/, make: (m) => link(m[1], [m[1]]) },
  { first: "h", re: /^https?:\/\/[^\s<>"]+[^\s<>".,;:!?)\]']/, make: (m) => link(m[0], [m[0]]) },
  { first: "|", re: /^\|\|(.+?)\|\|/s, make: (m, c) => spoiler(inline(m[1], c)) },
  { first: "*", re: /^\*\*(.+?)\*\*(?!\*)/s, make: (m, c) => h("strong", null, inline(m[1], c)) },
  { first: "_", re: /^__(.+?)__(?!_)/s, make: (m, c) => h("u", null, inline(m[1], c)) },
  { first: "~", re: /^~~(.+?)~~/s, make: (m, c) => h("s", null, inline(m[1], c)) },
  { first: "*", re: /^\*(?=\S)((?:\*\*|[^*])+?)\*(?!\*)/s, make: (m, c) => h("em", null, inline(m[1], c)) },
  { first: "_", re: /^_(?=\S)((?:__|[^_])+?)_(?![\w])/s, make: (m, c) => h("em", null, inline(m[1], c)) },
];
const SPECIAL = /[\\`<@[h|*_~]/g;
const DEEPEST = 12;
/**
 * The inline rules by the first character of their syntax, because trying all rules at each character would be slow.
 */
const BY_FIRST = new Map([..."\\`<@[h|*_~"].map((c) => [c, INLINE.filter((r) => r.first === c)]));

/** Renders inline Markdown. @returns {any[]} nodes and texts */
export function inline(text, context, depth = 0) {
  const out = [];
  let plain = "";
  const c = { ...context, depth: (context?.depth || 0) + 1 };
  if (c.depth > DEEPEST) return [text];
  for (let at = 0; at < text.length;) {
    const rest = text.slice(at);
    const rule = BY_FIRST.get(text[at])?.find((r) => r.re.test(rest));
    if (rule) {
      const m = rule.re.exec(rest);
      if (plain) out.push(plain);
      plain = "";
      out.push(rule.make(m, c));
      at += m[0].length;
      continue;
    }
    SPECIAL.lastIndex = at + 1;
    const next = SPECIAL.exec(text)?.index ?? text.length;
    plain += text.slice(at, next);
    at = next;
  }
  if (plain) out.push(plain);
  return out;
}

const BLOCK = /^```(?:([\w+-]{1,20})\n)?([\s\S]*?)\n?```\n?/;

/** Renders a text: code blocks, quotes, headings, lists, paragraphs. @returns {Node} */
export function markdown(text, context = {}) {
  const out = document.createDocumentFragment();
  let rest = String(text);
  while (rest) {
    const code = BLOCK.exec(rest);
    if (code) {
      out.append(h("pre", { tabindex: 0 }, h("code", null, colourCode(code[2], code[1] || ""))));
      rest = rest.slice(code[0].length);
      continue;
    }
    const fence = rest.indexOf("```", 1);
    const end = fence > 0 && BLOCK.test(rest.slice(fence)) ? fence : rest.length;
    lines(rest.slice(0, end), context, out);
    rest = rest.slice(end);
  }
  return out;
}

function lines(text, context, out) {
  const all = text.split("\n");
  let list = null,
    quote = null;
  all.forEach((line, i) => {
    const item = /^(\s*)(?:[-*]|(\d{1,9})\.) (.+)/.exec(line);
    const quoted = /^> (.*)/.exec(line);
    if (!item) list = null;
    if (!quoted) quote = null;
    if (item) {
      const tag = item[2] ? "ol" : "ul";
      if (list?.tagName.toLowerCase() !== tag) out.append((list = h(tag, item[2] ? { start: item[2] } : null)));
      list.append(h("li", null, inline(item[3], context)));
      return;
    }
    if (quoted) {
      if (!quote) out.append((quote = h("blockquote")));
      else quote.append(h("br"));
      quote.append(...nodes(inline(quoted[1], context)));
      return;
    }
    const heading = /^(#{1,3}) (.+)/.exec(line),
      small = /^-# (.+)/.exec(line);
    if (heading) out.append(h(`p.md-h${heading[1].length}`, null, inline(heading[2], context)));
    else if (small) out.append(h("p.md-small", null, inline(small[1], context)));
    else {
      out.append(...nodes(inline(line, context)));
      if (i < all.length - 1) out.append(h("br"));
    }
  });
}

function nodes(list) {
  return list.map((n) => (n instanceof Node ? n : document.createTextNode(String(n))));
}

/**
 * Returns the path of a link to a message or channel on this server. Returns null for other links.
 * @param {string} url
 */
function ownPath(url) {
  const path = url.startsWith(`${location.origin}/`) ? url.slice(location.origin.length) : "";
  return /^\/channels\/(@me|\d{15,21})\/\d{15,21}(\/\d{15,21})?$/.test(path) ? path : null;
}

function link(url, children) {
  const path = ownPath(url);
  if (path) return h("a", { href: path }, children);
  return h("a", { href: url, target: "_blank", rel: "noopener noreferrer nofollow" }, children);
}

/**
 * A link with a text. If the text itself looks like another URL, shows both the text and the real URL, to prevent
 * phishing.
 */
function namedLink(url, words, context) {
  if (!/https?:|www\.|^[\w-]+(\.[\w-]+)+(\/|$)/i.test(words) || words === url) return link(url, inline(words, context));
  return h("span", null, words, " (", link(url, [url]), ")");
}

function mention(found, mark, id) {
  const color = found?.color ? { "--role": found.color } : null;
  return h("span.mention", { style: color, dataset: { user: id } }, mark + (found?.name ?? t("unknown")));
}

function channelMention(context, id) {
  const found = context.channel?.(id);
  if (!found) return h("span.mention", null, `#${t("unknown")}`);
  return h("button.mention", { type: "button", onclick: () => found.open?.() }, `#${found.name}`);
}

function spoiler(children) {
  const el = h(
    "span.spoiler",
    { role: "button", tabindex: 0, "aria-label": t("Show spoiler"), "aria-expanded": "false" },
    h("span", null, children),
  );
  const show = () => {
    el.classList.add("shown");
    el.setAttribute("aria-expanded", "true");
    el.removeAttribute("aria-label");
  };
  el.addEventListener("click", show);
  el.addEventListener("keydown", (e) => (e.key === "Enter" || e.key === " ") && show());
  return el;
}

/** The image of a custom emoji. */
export function emoji(name, id, animated) {
  if (!id) return h("span.unicode-emoji", null, name);
  return h("img.emoji", {
    src: `/emojis/${id}.${animated ? "gif" : "png"}`,
    alt: `:${name}:`,
    title: `:${name}:`,
    loading: "lazy",
  });
}

/** @type {Record<string, Intl.DateTimeFormatOptions>} */
const FORMS = {
  t: { timeStyle: "short" },
  T: { timeStyle: "medium" },
  d: { dateStyle: "short" },
  D: { dateStyle: "long" },
  f: { dateStyle: "long", timeStyle: "short" },
  F: { dateStyle: "full", timeStyle: "short" },
  s: { dateStyle: "short", timeStyle: "short" },
  S: { dateStyle: "short", timeStyle: "medium" },
};
/** @type {[Intl.RelativeTimeFormatUnit, number][]} */
const UNITS = [
  ["year", 31536000],
  ["month", 2592000],
  ["week", 604800],
  ["day", 86400],
  ["hour", 3600],
  ["minute", 60],
  ["second", 1],
];

function time(seconds, form) {
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) return String(seconds);
  const full = new Intl.DateTimeFormat(locale, FORMS.F).format(date);
  const words = form === "R" ? relative(date) : new Intl.DateTimeFormat(locale, FORMS[form]).format(date);
  return h("time.timestamp", { datetime: date.toISOString(), title: full }, words);
}

/** Returns a relative time such as "3 hours ago". @param {Date} date */
export function relative(date) {
  const seconds = Math.round((date.getTime() - Date.now()) / 1000);
  const [unit, size] = UNITS.find(([, s]) => Math.abs(seconds) >= s) || UNITS[6];
  return new Intl.RelativeTimeFormat(locale, { numeric: "auto" }).format(Math.round(seconds / size), unit);
}
