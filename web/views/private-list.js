// private-list.js - the list of direct messages and groups.
import { showBookmarks } from "../bookmarks.js";
import { arrowKeys, h } from "../dom.js";
import { icon, iconButton } from "../icons.js";
import { avatar, groupIcon } from "../images.js";
import { statusDot } from "../status.js";
import { DM } from "../store.js";
import { t } from "../translate.js";
import { addGroup } from "./group.js";
import { channelMenu, onContext } from "./place-menu.js";

/** @param {any} chat the chat page */
export function privateList(chat) {
  const { app, store } = chat,
    pending = [...store.relationships.values()].filter((r) => r.type === 3).length,
    all = store.privateChannels();
  return [
    h(
      "header.side-head",
      null,
      h(
        "button.jump",
        { type: "button", onclick: () => app.key({ ctrlKey: true, key: "k", preventDefault() {} }) },
        t("Jump to…"),
        h("kbd", null, t("Ctrl K")),
      ),
    ),
    arrowKeys(
      h(
        "div.channel-list",
        null,
        h(
          "a.channel",
          { href: "/friends", "aria-current": chat.channel || chat.guild ? null : "page" },
          icon("people"),
          t("Friends"),
          pending > 0 && h("span.badge", null, pending),
        ),
        h("button.channel", { type: "button", onclick: () => showBookmarks(app) }, icon("check"), t("Bookmarks")),
        h(
          "div.category",
          null,
          h("span", null, t("Direct messages")),
          iconButton("plus", t("New group"), () => addGroup(app)),
        ),
        all.map((c) => privateRow(chat, c)),
        !all.length &&
          h("p.hint.pad", null, t("No conversations yet. Open the profile of a person and choose “Message”.")),
      ),
      "a,button",
    ),
  ];
}

function privateRow({ app, store, channel }, c) {
  const other = c.type === DM ? c.recipients?.[0] : null,
    unread = store.unread.get(c.id),
    name = store.nameOfChannel(c);
  return h(
    "a.channel.private",
    {
      href: `/channels/@me/${c.id}`,
      dataset: { key: c.id },
      class: [unread ? "unread" : "", store.isMuted(c) ? "muted" : ""].join(" "),
      oncontextmenu: onContext((e) => channelMenu(app, c, e)),
      "aria-current": c.id === channel?.id ? "page" : null,
    },
    other ? h("span.with-status", null, avatar(other, name, "small-avatar"), statusDot(store, other.id)) : groupIcon(c),
    h("span.clip", null, name),
    unread?.mentions > 0 && h("span.badge", null, unread.mentions),
  );
}
