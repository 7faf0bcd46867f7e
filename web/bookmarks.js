// bookmarks.js - messages that the user has bookmarked; the server calls them saved messages.
import { dialog, fill, h } from "./dom.js";
import { emptyState } from "./first-steps.js";
import { small } from "./forms.js";
import { message } from "./message.js";
import { t } from "./translate.js";

const PATH = "/users/@me/saved-messages",
  AT_ONCE = 20; // number of bookmarks that are drawn at a time

/**
 * Loads the bookmarks, the newest first.
 * @returns {Promise<{message: any, save_data: {channel_id: string, message_id: string}}[]>}
 */
async function load(app) {
  const { results } = await app.rest.get(PATH);
  app.store.saved = new Set(results.map((s) => s.save_data.message_id));
  return results;
}

/**
 * Returns whether a message is bookmarked. The first call loads all bookmarks; later calls use this list, which events
 * update.
 */
export async function isBookmarked(app, id) {
  if (!app.store.saved) await load(app).catch(() => {});
  return !!app.store.saved?.has(id);
}

/** Adds a bookmark to a message, or removes the bookmark if `had` is true. */
export function toggleBookmark(app, channel, id, had) {
  return app.tryCall(
    app.rest.call(had ? "DELETE" : "PUT", `${PATH}/${channel}/${id}`),
    had ? t("Bookmark removed") : t("Bookmarked. The direct messages list your bookmarks."),
  );
}

/** Opens the dialog with the bookmarked messages. */
export async function showBookmarks(app) {
  const all = await app.tryCall(load(app));
  if (!all) return;
  const row = (close, { message: m, save_data: { channel_id, message_id } }) => {
    const channel = m && app.store.channels.get(channel_id),
      el = channel ? message(app, channel, m, null, false, { quiet: true }) : h("li.message-item"),
      remove = async () => (await toggleBookmark(app, channel_id, message_id, true)) && el.remove();
    el.append(
      channel
        ? h("p.faint", null, `${app.store.guildOf(channel)?.name || ""} ${app.store.nameOfChannel(channel)}`)
        : h("p.faint", null, t("The message was deleted, or you can no longer read it.")),
      h(
        "div.row-actions",
        null,
        channel && small(t("Jump"), () => (close(), app.jumpTo(m.id, channel.id))),
        small(t("Remove"), remove),
      ),
    );
    return el;
  };
  return dialog(
    t("Bookmarks"),
    (close) => {
      const list = h("ol.messages.pins"),
        more = h("button.button.secondary", { type: "button", onclick: () => next() }, t("Show more"));
      let at = 0;
      const next = () => {
        list.append(...all.slice(at, (at += AT_ONCE)).map((s) => row(close, s)));
        more.hidden = at >= all.length;
      };
      next();
      if (!all.length)
        fill(
          list,
          emptyState({
            icon: "pin",
            title: t("No bookmarks yet"),
            words: t("To bookmark a message, open the menu of the message and choose “Bookmark”."),
          }),
        );
      return h(
        "div.stack",
        null,
        h("p.hint", null, t("Only you see your bookmarks, on all your devices.")),
        list,
        more,
      );
    },
    { class: "wide" },
  );
}
