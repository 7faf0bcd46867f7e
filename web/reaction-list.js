// reaction-list.js - the dialog with the people who have reacted to a message.
import { dialog, fill, h } from "./dom.js";
import { avatar } from "./images.js";
import { emoji } from "./markdown.js";
import { emojiPath } from "./message-tools.js";
import { t } from "./translate.js";

const PAGE = 50;

/**
 * Opens the dialog with the reactions of a message.
 * @param {any} app @param {any} channel @param {any} m @param {any} [first] the reaction that is shown first
 */
export function showReactions(app, channel, m, first = m.reactions[0]) {
  const { store } = app,
    guild = store.guildOf(channel),
    list = h("ul.people", { "aria-label": t("People") }),
    more = h("button.button.secondary", { type: "button", hidden: true }, t("Show more")),
    note = h("p.faint", { role: "status" }),
    tabs = h("div.tabs.inline", { role: "tablist", "aria-label": t("Reactions") });
  let turn = 0;
  async function load(r, after) {
    const mine = ++turn,
      path = `/channels/${channel.id}/messages/${m.id}/reactions/${emojiPath(r.emoji)}`;
    note.textContent = t("Loading…");
    try {
      const people = await app.rest.get(`${path}?limit=${PAGE}${after ? `&after=${after}` : ""}`);
      if (mine !== turn) return;
      if (!after) fill(list);
      for (const u of people) {
        store.keepUser(u);
        const name = store.nameOf(u.id, guild);
        list.append(
          h(
            "li.person",
            null,
            h(
              "button.plain.person-name",
              { type: "button", onclick: (e) => app.showProfile(u.id, e.currentTarget) },
              avatar(u, name),
              h("span.clip", null, h("strong", null, name), h("small.faint", null, `@${u.username}`)),
            ),
          ),
        );
      }
      note.textContent = "";
      more.hidden = people.length < PAGE;
      more.onclick = () => load(r, people.at(-1).id);
    } catch (e) {
      if (mine === turn) note.textContent = t("The reactions could not be loaded: {reason}", { reason: e.message });
    }
  }
  const open = (r) => {
    fill(
      tabs,
      m.reactions.map((x) =>
        h(
          "button",
          {
            type: "button",
            role: "tab",
            "aria-selected": String(x === r),
            "aria-label": `${x.emoji.name}, ${x.count}`,
            onclick: () => open(x),
          },
          emoji(x.emoji.name, x.emoji.id, x.emoji.animated),
          " ",
          x.count,
        ),
      ),
    );
    fill(list);
    load(r);
  };
  open(first);
  return dialog(t("Reactions"), () => h("div.stack", null, tabs, list, note, more));
}
