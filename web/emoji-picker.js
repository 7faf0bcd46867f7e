// emoji-picker.js - the emoji picker: search by name, groups, skin tones, recent emoji, emoji of the guild.
import { fill, h } from "./dom.js";
import { TONES, findEmoji, groups, recent, setTone, tone, use, withTone } from "./emoji-names.js";
import { emoji } from "./markdown.js";
import { popover } from "./pickers.js";
import { t } from "./translate.js";

const MOST_FOUND = 120;

/** Makes the arrow keys move the focus in a grid of buttons. @param {HTMLElement} grid */
function gridKeys(grid) {
  grid.addEventListener("keydown", (e) => {
    const all = /** @type {HTMLElement[]} */ ([...grid.querySelectorAll("button")]),
      at = all.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    const top = at < 0 ? 0 : all[at].offsetTop,
      row = Math.max(1, all.filter((b) => b.offsetTop === top).length);
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: row, ArrowUp: -row }[e.key];
    if (at < 0 || !step) return;
    e.preventDefault();
    all[Math.max(0, Math.min(all.length - 1, at + step))].focus();
  });
  return grid;
}

/** Opens the emoji picker. @param {(emoji: {name: string, id?: string, animated?: boolean}) => void} choose */
export function pickEmoji(guild, at, choose) {
  popover(
    at,
    t("Emoji"),
    (end) => {
      const grid = gridKeys(h("div.emoji-body", { tabindex: -1 })),
        tabs = h("div.emoji-tabs", { role: "group", "aria-label": t("Groups") }),
        shown = h("p.emoji-name.faint", { "aria-hidden": "true" });
      let group = recent().length ? "recent" : guild?.emojis?.length ? "server" : "😀",
        turn = 0;
      const own = (guild?.emojis || []).map((e) => ({ ...e, names: [e.name] }));
      const button = (e) => {
        const one = e.id ? e : { name: e.names ? withTone(e) : e.name };
        const label = `:${e.names?.[0] || e.name}:`;
        return h(
          "button",
          {
            type: "button",
            "aria-label": label,
            title: label,
            onfocus: () => fill(shown, label),
            onmouseenter: () => fill(shown, label),
            onclick: () => {
              end();
              use(one);
              choose(one);
            },
          },
          emoji(one.name, one.id, one.animated),
        );
      };
      const show = (list, label) =>
        fill(
          grid,
          h("h3", null, label),
          list.length
            ? h("div.emoji-grid", { role: "group", "aria-label": label }, list.map(button))
            : h("p.faint", null, t("No emoji has this name.")),
        );
      const drawTabs = (all) =>
        fill(
          tabs,
          [
            recent().length && { key: "recent", label: t("Recent"), sign: "🕒" },
            own.length && { key: "server", label: guild.name, sign: emoji(own[0].name, own[0].id, own[0].animated) },
            ...all.map((g) => ({ ...g, sign: g.key })),
          ]
            .filter(Boolean)
            .map((g) =>
              h(
                "button",
                {
                  type: "button",
                  "aria-label": g.label,
                  title: g.label,
                  "aria-pressed": String(!input.value && g.key === group),
                  onclick: () => {
                    group = g.key;
                    input.value = "";
                    draw();
                  },
                },
                g.sign,
              ),
            ),
        );
      async function draw() {
        const mine = ++turn,
          all = await groups().catch(() => []),
          words = input.value.trim();
        const found = words ? await findEmoji(words, MOST_FOUND) : [];
        if (mine !== turn) return;
        const held = tabs.contains(document.activeElement);
        drawTabs(all);
        if (held) /** @type {HTMLElement|null} */ (tabs.querySelector("[aria-pressed=true]"))?.focus();
        if (words) {
          const lower = words.toLowerCase().replace(/^:|:$/g, "");
          return show([...own.filter((e) => e.name.toLowerCase().includes(lower)), ...found], t("Search results"));
        }
        if (group === "recent") return show(recent(), t("Recent"));
        if (group === "server") return show(own, guild.name);
        const chosen = all.find((g) => g.key === group);
        if (chosen) show(chosen.list, chosen.label);
        else fill(grid, h("p.field-error", { role: "alert" }, t("The emoji could not be loaded. Reload the page.")));
      }
      const input = h("input", {
        type: "search",
        placeholder: t("Search"),
        "aria-label": t("Search emoji"),
        autocomplete: "off",
        oninput: draw,
        onkeydown: (e) => {
          const first = /** @type {HTMLElement|null} */ (grid.querySelector(".emoji-grid button"));
          if (e.key === "ArrowDown") first?.focus();
          else if (e.key === "Enter" && input.value) first?.click();
          else return;
          e.preventDefault();
        },
      });
      const tones = h(
        "select.tones",
        {
          "aria-label": t("Skin tone"),
          onchange: () => {
            setTone(Number(tones.value));
            draw();
          },
        },
        TONES.map((x, i) => h("option", { value: i, selected: i === tone() }, `✋${x}`)),
      );
      draw();
      return [h("div.emoji-head", null, input, tones), tabs, grid, shown];
    },
    "emoji-picker",
  );
}
