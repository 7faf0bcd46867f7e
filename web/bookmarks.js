// bookmarks.js - messages that the user has bookmarked, for each account of this browser.
import { dialog, fill, h, toast } from "./dom.js";
import { emptyState } from "./first-steps.js";
import { small } from "./forms.js";
import { message } from "./message.js";
import { t } from "./translate.js";

const MOST = 200,
  AT_ONCE = 20; // bookmarks that are loaded together

const key = (app) => `bookmarks:${app.store.me.id}`;
/** @returns {{channel: string, id: string}[]} the newest first */
const stored = (app) => JSON.parse(localStorage.getItem(key(app)) || "[]");
const store = (app, list) => localStorage.setItem(key(app), JSON.stringify(list.slice(0, MOST)));

export const isBookmarked = (app, id) => stored(app).some((b) => b.id === id);

/** Adds a bookmark, or removes it. */
export function toggleBookmark(app, channel, m) {
  const had = isBookmarked(app, m.id),
    others = stored(app).filter((b) => b.id !== m.id);
  store(app, had ? others : [{ channel: channel.id, id: m.id }, ...others]);
  toast(had ? t("Bookmark removed") : t("Bookmarked. The direct messages list your bookmarks."));
}

/** Returns a bookmarked message; null if it was deleted or the user may no longer read it. */
const load = (app, b) =>
  app.rest.get(`/channels/${b.channel}/messages?limit=1&around=${b.id}`).then(
    (found) => found.find((m) => m.id === b.id) || null,
    () => null,
  );

/** Opens the dialog with the bookmarked messages. */
export function showBookmarks(app) {
  return dialog(
    t("Bookmarks"),
    (close) => {
      const list = h("ol.messages.pins"),
        more = h("button.button.secondary", { type: "button", onclick: () => next() }, t("Show more")),
        all = stored(app);
      let at = 0;
      const remove = (b, row) => {
        store(
          app,
          stored(app).filter((x) => x.id !== b.id),
        );
        toast(t("Bookmark removed"));
        row.remove();
      };
      const row = (b, m) => {
        const channel = app.store.channels.get(b.channel),
          el = m && channel ? message(app, channel, m, null, false, { quiet: true }) : h("li.message-item");
        el.append(
          m && channel
            ? h("p.faint", null, `${app.store.guildOf(channel)?.name || ""} ${app.store.nameOfChannel(channel)}`)
            : h("p.faint", null, t("The message was deleted, or you can no longer read it.")),
          h(
            "div.row-actions",
            null,
            m && channel && small(t("Jump"), () => (close(), app.jumpTo(m.id, channel.id))),
            small(t("Remove"), () => remove(b, el)),
          ),
        );
        return el;
      };
      const next = async () => {
        const part = all.slice(at, (at += AT_ONCE)),
          found = await Promise.all(part.map((b) => load(app, b)));
        list.append(...part.map((b, i) => row(b, found[i])));
        more.hidden = at >= all.length;
      };
      more.hidden = true;
      if (all.length) next();
      else
        fill(
          list,
          emptyState({
            icon: "pin",
            title: t("No bookmarks yet"),
            words: t("To bookmark a message, open the menu of the message and choose “Bookmark”."),
          }),
        );
      return h("div.stack", null, h("p.hint", null, t("Bookmarks are stored in this browser.")), list, more);
    },
    { class: "wide" },
  );
}
