// unread-badge.js - shows unread messages and mentions in the page title and the favicon.
import { t } from "./translate.js";

const SIZE = 32;
let base = "Guildhall",
  mark = "",
  link = /** @type {HTMLLinkElement|null} */ (null),
  plain = "",
  image = /** @type {HTMLImageElement|null} */ (null);

/** Sets the page title: the number of mentions, then a name. @param {string} name */
export function setTitle(name) {
  base = `${name} · Guildhall`;
  draw();
}

function draw() {
  document.title = mark ? `${mark} ${base}` : base;
}

/**
 * Draws the favicon with a badge that contains a text.
 * @param {string} text number of mentions, or "" for a dot (unread messages)
 */
function badge(text) {
  const canvas = document.createElement("canvas"),
    at = canvas.getContext("2d");
  canvas.width = canvas.height = SIZE;
  if (!at) return plain;
  at.drawImage(image, 0, 0, SIZE, SIZE);
  at.fillStyle = "#d83c3e";
  at.beginPath();
  at.arc(text ? 21 : 25, text ? 21 : 25, text ? 11 : 6, 0, 2 * Math.PI);
  at.fill();
  at.fillStyle = "#fff";
  at.font = "700 16px/1 sans-serif";
  at.textAlign = "center";
  at.fillText(text, 21, 27);
  return canvas.toDataURL("image/png");
}

/** Updates title and favicon whenever unread states change. @param {import("./store.js").Store} store */
export function watchUnread(store) {
  link = document.querySelector("link[rel=icon]");
  plain = link?.href || "";
  let shown = "";
  const show = async () => {
    const counts = [...store.unreadByGuild()],
      mentions = counts.reduce((sum, [, u]) => sum + u.mentions, 0);
    mark = mentions ? `(${mentions > 99 ? "99+" : mentions})` : counts.length ? "•" : "";
    draw();
    if (!link || mark === shown) return;
    shown = mark;
    if (!mark) link.href = plain;
    else {
      if (!image) {
        image = new Image();
        image.src = plain;
        image.alt = t("Unread messages");
      }
      await image.decode().catch(() => {});
      if (shown && image.naturalWidth) link.href = badge(mentions ? String(Math.min(mentions, 9)) : "");
    }
  };
  store.on("unread", show);
  store.on("ready", show);
}
