// pickers.js - the popover box that all pickers use, and the GIF picker.
import { fill, foremost, h } from "./dom.js";
import { ownPath } from "./images.js";
import { t } from "./translate.js";

/**
 * Opens a box next to a button. Esc and clicks outside of the box close it.
 * @param {string} [kind] CSS class of the box
 */
export function popover(at, label, children, kind = "") {
  document.querySelector(".popover")?.remove();
  const before = document.activeElement;
  const gone = (e) => !el.contains(e.target) && end();
  const end = () => {
    el.remove();
    document.removeEventListener("mousedown", gone, true);
    if (before instanceof HTMLElement && before.isConnected) before.focus();
  };
  const el = h("div.popover", { role: "dialog", "aria-label": label, class: kind }, children(end));
  el.addEventListener("keydown", (e) => e.key === "Escape" && (e.preventDefault(), e.stopPropagation(), end()));
  foremost().append(el);
  const from = at.getBoundingClientRect(),
    box = el.getBoundingClientRect();
  el.style.left = `${Math.max(4, Math.min(from.right - box.width, innerWidth - box.width - 4))}px`;
  const above = from.top - box.height > 8;
  el.style.top = `${above ? from.top - box.height - 6 : Math.min(from.bottom + 6, innerHeight - box.height - 4)}px`;
  document.addEventListener("mousedown", gone, true);
  /** @type {HTMLElement|null} */ (el.querySelector("input, button"))?.focus();
  return el;
}

/** The GIF picker: search, suggestions, trending GIFs, categories; a click sends the GIF. */
export function pickGif(app, at, choose) {
  let timer;
  const results = h("div.gif-grid", { "aria-live": "polite" }),
    chips = h("div.chips");
  popover(
    at,
    "GIFs",
    (end) => {
      const input = h("input", {
        type: "search",
        placeholder: t("Search"),
        "aria-label": t("Search GIFs"),
        oninput: () => {
          clearTimeout(timer);
          timer = setTimeout(() => search(input.value), 200);
        },
      });
      const take = (gif, words) => {
        end();
        app.rest.post("/gifs/select", { id: gif.id, q: words || "" }).catch(() => {});
        choose(gif);
      };
      const show = (gifs, words) =>
        fill(
          results,
          gifs.length
            ? gifs.map((g) => {
                const path = ownPath(g.preview || g.gif_src || g.src);
                return h(
                  "button",
                  { type: "button", "aria-label": g.title || "GIF", onclick: () => take(g, words) },
                  path ? h("img", { src: path, alt: "", loading: "lazy" }) : g.title,
                );
              })
            : h("p.faint", null, t("No GIFs found. Try another word.")),
        );
      const chip = (word) =>
        h(
          "button.chip",
          {
            type: "button",
            onclick: () => {
              input.value = word;
              search(word);
            },
          },
          word,
        );
      async function search(words) {
        try {
          if (!words.trim()) return start();
          const q = encodeURIComponent(words);
          const [found, more] = await Promise.all([
            app.rest.get(`/gifs/search?q=${q}&media_format=gif`),
            app.rest.get(`/gifs/suggest?q=${q}`).catch(() => []),
          ]);
          if (input.value !== words) return;
          fill(chips, more.slice(0, 6).map(chip));
          show(found, words);
        } catch (e) {
          fill(results, h("p.field-error", null, e.message));
        }
      }
      async function start() {
        try {
          const trends = await app.rest.get("/gifs/trending?media_format=gif");
          if (input.value.trim()) return; // the user has started a search in the meantime
          fill(
            chips,
            (trends.categories || []).slice(0, 8).map((c) => chip(c.name)),
          );
          const gifs = await app.rest.get("/gifs/trending-gifs?media_format=gif");
          if (!input.value.trim()) show(gifs, "");
        } catch (e) {
          fill(results, h("p.field-error", null, e.message));
        }
      }
      start();
      return [input, chips, results];
    },
    "gifs",
  );
}
