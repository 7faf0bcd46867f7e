// member-search.js - finds members by the beginning of a name. The server searches; the page never loads all members.
import { fill, h } from "./dom.js";
import { avatar } from "./images.js";
import { t } from "./translate.js";

const WAIT_MS = 200;

/** Returns the members whose username, display name or nickname begins with the text. */
export async function findMembers(app, g, text, limit = 25) {
  const found = await app.rest.get(
    `/guilds/${g.id}/members/search?query=${encodeURIComponent(text)}&limit=${Number(limit)}`,
  );
  for (const m of found) app.store.addMember(g, { ...g.members.get(m.user.id), ...m });
  return found;
}

/** A search field for members. The user chooses one of the results. @param {(member: any) => void} choose */
export function memberSearch(app, g, choose) {
  let timer,
    turn = 0;
  const results = h("div.choices", { "aria-live": "polite" });
  const search = async (text) => {
    const mine = ++turn;
    if (!text) return fill(results);
    try {
      const found = await findMembers(app, g, text);
      if (mine !== turn) return undefined;
      return fill(
        results,
        found.length
          ? found.map((m) =>
              h(
                "button.choice.plain",
                { type: "button", onclick: () => choose(m) },
                avatar(m.user, "", "tiny-avatar"),
                h("span.clip", null, m.nick || m.user.global_name || m.user.username, " "),
                h("small.faint", null, `@${m.user.username}`),
              ),
            )
          : h("p.faint", null, t("No member has a name that begins like this.")),
      );
    } catch (e) {
      return mine === turn && fill(results, h("p.field-error", { role: "alert" }, e.message));
    }
  };
  const input = h("input", {
    type: "search",
    placeholder: t("Search members"),
    "aria-label": t("Search members"),
    oninput: () => {
      clearTimeout(timer);
      timer = setTimeout(() => search(input.value.trim()), WAIT_MS);
    },
  });
  return h("div.stack", null, input, results);
}
