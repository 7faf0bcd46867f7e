// images.js - avatars, icons and attachments; images are only loaded from this server.
import { h } from "./dom.js";
import { pattern } from "./pattern.js";
import { t } from "./translate.js";

const THIS_MACHINE = new Set(["127.0.0.1", "localhost", "[::1]"]);

/** The path of a URL on this server; null for other servers. @param {string} url */
export function ownPath(url) {
  let at;
  try {
    at = new URL(url, location.href);
  } catch {
    return null;
  }
  const web = at.protocol === "http:" || at.protocol === "https:";
  // A bot on the same machine may have used another host name of this server.
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

/** A user's avatar, or a pattern that follows from the id. */
export function avatar(user, name, kind = "avatar") {
  if (!user?.avatar) return pattern(user?.id || name, kind);
  // A webhook's avatar may be on another server, from which nothing is loaded.
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

export function appIcon(app, kind = "avatar") {
  if (!app?.icon) return letters(app?.name || "?", app?.id, kind);
  return h(`img.${kind}`, { src: `/app-icons/${app.id}/${app.icon}.png`, alt: "", loading: "lazy" });
}

/** An image on this server; for another server only a link, which is not loaded automatically. */
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
 * @param {{filename: string, url: string, size?: number, content_type?: string, description?: string,
 *   width?: number, height?: number}} a
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
        { href: path, target: "_blank", rel: "noopener" },
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
