// sticker-picker.js - a box with the stickers of all guilds that the user is in. A click sends a sticker.
import { fill, h } from "./dom.js";
import { popover } from "./pickers.js";
import { t } from "./translate.js";

const LOTTIE = 3,
  MOST_SHOWN = 200;

/** Opens the sticker picker. @param {(sticker: any) => void} choose */
export function pickSticker(app, guild, at, choose) {
  const { store } = app;
  // The guild of the channel comes first, because stickers of other guilds need USE_EXTERNAL_STICKERS.
  const withStickers = [guild, ...[...store.guilds.values()].filter((g) => g !== guild)].filter(
    (g) => g?.stickers?.length,
  );
  popover(
    at,
    t("Stickers"),
    (end) => {
      const body = h("div.sticker-body");
      const button = (s) =>
        h(
          "button.sticker-choice",
          {
            type: "button",
            "aria-label": s.name,
            title: s.name,
            onclick: () => {
              end();
              choose(s);
            },
          },
          s.format_type === LOTTIE
            ? s.name
            : h("img", { src: `/stickers/${s.id}.${s.format_type === 4 ? "gif" : "png"}`, alt: "", loading: "lazy" }),
        );
      const draw = () => {
        const words = input.value.trim().toLowerCase();
        let left = MOST_SHOWN;
        const groups = withStickers
          .map((g) => {
            const fits = (s) => `${s.name} ${s.tags || ""} ${s.description || ""}`.toLowerCase().includes(words);
            const found = g.stickers.filter((s) => s.available !== false && fits(s)).slice(0, left);
            left -= found.length;
            return { g, found };
          })
          .filter((x) => x.found.length);
        fill(
          body,
          groups.length
            ? groups.map(({ g, found }) => [
                h("h3", null, g.name),
                h("div.sticker-grid", { role: "group", "aria-label": g.name }, found.map(button)),
              ])
            : h(
                "p.faint",
                null,
                withStickers.length ? t("No sticker has this name.") : t("Your servers have no stickers yet."),
              ),
        );
      };
      const input = h("input", {
        type: "search",
        placeholder: t("Search"),
        "aria-label": t("Search stickers"),
        autocomplete: "off",
        oninput: draw,
      });
      draw();
      return [input, body];
    },
    "stickers",
  );
}
