// images.js - avatars, icons and attachments. Images are loaded only from this server.
import { h } from "./dom.js";
import { icon } from "./icons.js";
import { t } from "./translate.js";

const THIS_MACHINE = new Set(["127.0.0.1", "localhost", "[::1]"]);

/** Returns the path of a URL on this server, or null if the URL is on another server. @param {string} url */
export function ownPath(url) {
  let at;
  try {
    at = new URL(url, location.href);
  } catch {
    return null;
  }
  const web = at.protocol === "http:" || at.protocol === "https:";
  // An app on this machine may write another name of this server into URLs, such as 127.0.0.1 instead of localhost.
  const own =
    at.host === location.host ||
    (THIS_MACHINE.has(at.hostname) && THIS_MACHINE.has(location.hostname) && at.port === location.port);
  return web && own ? at.pathname + at.search : null;
}

const HUES = [222, 262, 192, 152, 32, 342, 12, 282];

function initials(name) {
  const words = String(name)
    .split(/[\s._-]+/)
    .filter(Boolean);
  return (words.length > 1 ? words[0][0] + words[1][0] : String(name).slice(0, 2)).toUpperCase();
}

function letters(name, id, kind) {
  const hue = HUES[Number(String(id || 0).slice(-6)) % HUES.length];
  return h(`span.${kind}`, { style: { "--hue": hue }, "aria-hidden": "true", dataset: { letters: initials(name) } });
}

/* --- default avatars: symmetric patterns, made from the user's id --- */

const SVG = "http://www.w3.org/2000/svg";
const PATTERN_HUES = [174, 200, 222, 262, 290, 330, 356, 18, 36, 96, 140];
/**
 * SVG paths of the shapes from which default avatars are made. Each path fills a cell of 8 × 8 units and starts at its
 * top left corner.
 */
const SHAPES = [
  "h8v8h-8z", // square
  "h8a8 8 0 0 1-8 8z", // quarter circle with its center at the top left
  "m8 0v8h-8a8 8 0 0 1 8-8z", // quarter circle with its center at the bottom right
  "h8l-8 8z", // triangle
  "m0 4a4 4 0 0 1 8 0a4 4 0 0 1-8 0z", // circle
  "", // nothing
];
/** The same shapes mirrored. */
const MIRRORED = ["h8v8h-8z", "h8v8a8 8 0 0 1-8-8z", "m0 0v8h8a8 8 0 0 0-8-8z", "h8v8z", SHAPES[4], ""];

/** Returns a 32-bit hash of a text (FNV-1a with a final mix). @param {string} text */
function hash(text) {
  let x = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) x = Math.imul(x ^ text.charCodeAt(i), 0x01000193);
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}

/**
 * Returns the default avatar for an id: background colour, foreground colour, and the SVG path of a pattern of 3 × 3
 * cells.
 * @param {string|number|undefined} id
 */
export function patternOf(id) {
  const bits = hash(`user ${id ?? ""}`),
    hue = PATTERN_HUES[bits % PATTERN_HUES.length],
    cells = hash(`cells ${id ?? ""}`);
  let outline = "";
  for (let i = 0; i < 6; i++) {
    // Cells 0 to 2: left column, mirrored at the right. Cells 3 to 5: middle column. The center cell is never empty.
    const row = i % 3,
      middle = i > 2,
      shape = Math.floor(cells / 6 ** i) % (i === 4 ? 5 : 6);
    if (!SHAPES[shape]) continue;
    outline += `M${middle ? 8 : 0} ${row * 8}${SHAPES[shape]}`;
    if (!middle) outline += `M16 ${row * 8}${MIRRORED[shape]}`;
  }
  return { background: `hsl(${hue} 45% 24%)`, foreground: `hsl(${(hue + 20) % 360} 70% 80%)`, outline };
}

/**
 * Draws the default avatar of an id.
 * @param {string|number|undefined} id @param {string} kind the CSS class of the avatar
 */
export function pattern(id, kind) {
  const { background, foreground, outline } = patternOf(id),
    svg = document.createElementNS(SVG, "svg"),
    ground = document.createElementNS(SVG, "rect"),
    path = document.createElementNS(SVG, "path");
  svg.setAttribute("viewBox", "-4 -4 32 32");
  svg.setAttribute("class", `${kind} pattern`);
  svg.setAttribute("aria-hidden", "true");
  for (const [name, value] of Object.entries({ x: -4, y: -4, width: 32, height: 32, fill: background }))
    ground.setAttribute(name, String(value));
  path.setAttribute("d", outline);
  path.setAttribute("fill", foreground);
  svg.append(ground, path);
  return svg;
}

/** Returns a user's avatar. If the user has none, returns a pattern made from the user's id. */
export function avatar(user, name, kind = "avatar") {
  if (!user?.avatar) return pattern(user?.id || name, kind);
  // The avatar URL of a webhook may point to another server, from which the page loads no images.
  return h(`img.${kind}`, {
    src: `/avatars/${user.id}/${user.avatar}.png`,
    alt: "",
    loading: "lazy",
    onerror: (e) => e.currentTarget.replaceWith(pattern(user.id, kind)),
  });
}

export function guildIcon(guild, kind = "guild-icon") {
  if (!guild.icon) return letters(guild.name, guild.id, kind);
  return h(`img.${kind}`, { src: `/icons/${guild.id}/${guild.icon}.png`, alt: "", loading: "lazy" });
}

export function groupIcon(channel, kind = "small-avatar") {
  if (!channel.icon) return h(`span.${kind}.group`, null, icon("people"));
  return h(`img.${kind}`, { src: `/channel-icons/${channel.id}/${channel.icon}.png`, alt: "", loading: "lazy" });
}

export function appIcon(app, kind = "avatar") {
  if (!app?.icon) return letters(app?.name || "?", app?.id, kind);
  return h(`img.${kind}`, { src: `/app-icons/${app.id}/${app.icon}.png`, alt: "", loading: "lazy" });
}

/**
 * Returns an image element for an image on this server. Returns a link for an image elsewhere, so that the browser does
 * not load it.
 */
export function picture(media, kind, description) {
  const url = media?.proxy_url || media?.url;
  const path = url && ownPath(url);
  if (path) return h(`img.${kind}`, { src: path, alt: description || media.description || "", loading: "lazy" });
  if (!/^https?:/.test(url || "")) return null;
  return h(
    `a.${kind}.elsewhere`,
    { href: url, target: "_blank", rel: "noopener noreferrer nofollow", title: url },
    t("External image"),
  );
}

export function fileSize(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1048576 ? `${(bytes / 1024).toFixed(1)} KB` : `${(bytes / 1048576).toFixed(1)} MB`;
}

/** Removes text-direction marks, which can hide the extension of a file name. @param {string} name */
export const plainName = (name) => String(name ?? "").replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "");

/**
 * Returns an attachment as an element: image, video, sound, text, or a link.
 * @param {{filename: string, url: string, size?: number, content_type?: string, description?: string,
 * width?: number, height?: number}} a
 */
export function attachment(a) {
  const path = ownPath(a.url),
    type = a.content_type || "",
    name = plainName(a.filename);
  const spoiler = name.startsWith("SPOILER_");
  const show = (el) => (spoiler ? h("details.spoiler-file", null, h("summary", null, t("Spoiler")), el) : el);
  if (path && type.startsWith("image/")) {
    return show(
      h(
        "a.attachment-picture",
        {
          href: path,
          target: "_blank",
          rel: "noopener",
          onclick: (e) => {
            if (e.ctrlKey || e.metaKey || e.shiftKey) return;
            e.preventDefault();
            const link = e.currentTarget;
            import("./picture-viewer.js").then((m) => m.showPicture(link));
          },
        },
        h("img", { src: path, alt: a.description || name, width: a.width, height: a.height, loading: "lazy" }),
      ),
    );
  }
  if (path && type.startsWith("video/"))
    return show(h("video", { src: path, controls: true, preload: "metadata", "aria-label": name }));
  if (path && type.startsWith("audio/"))
    return h(
      "figure.sound",
      null,
      h("figcaption", null, name),
      h("audio", { src: path, controls: true, preload: "none" }),
    );
  if (path && a.size <= MOST_TEXT_BYTES && isText(type, name)) return show(textFile(a, path, name));
  return fileLine(a, path, name);
}

const MOST_TEXT_BYTES = 64 * 1024,
  MOST_TEXT_SHOWN = 20000;
const isText = (type, name) =>
  /^text\/(?!html)|json|xml|yaml/.test(type) ||
  /\.(txt|md|log|csv|json|ya?ml|toml|ini|c|h|js|py|sh|sql|css)$/i.test(name);

/** A text file attachment. The text is fetched when the user opens the attachment. */
function textFile(a, path, name) {
  const text = h("pre.file-text", { tabindex: 0 });
  const load = async (e) => {
    if (!e.currentTarget.open || text.textContent) return;
    text.textContent = t("Loading…");
    text.textContent = await fetch(path).then(
      async (r) => (r.ok ? (await r.text()).slice(0, MOST_TEXT_SHOWN) : t("The file could not be loaded.")),
      () => t("The file could not be loaded."),
    );
  };
  return h(
    "div.text-file",
    null,
    fileLine(a, path, name),
    h("details", { ontoggle: load }, h("summary", null, t("Show the text")), text),
  );
}

function fileLine(a, path, name) {
  return h(
    "div.file",
    null,
    h("span.file-mark", { "aria-hidden": "true" }, "▤"),
    h(
      "div",
      null,
      path ? h("a", { href: path, download: name }, name) : name,
      a.size !== undefined && h("span.faint", null, ` ${fileSize(a.size)}`),
    ),
  );
}
