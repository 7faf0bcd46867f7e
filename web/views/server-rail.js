// server-rail.js - the bar of guilds at the left edge of the page, with unread marks.
import { arrowKeys, fillChanged, h } from "../dom.js";
import { icon } from "../icons.js";
import { addServer } from "../first-steps.js";
import { guildIcon } from "../images.js";
import { t } from "../translate.js";
import { guildMenu, onContext } from "./place-menu.js";

const badge = (n) => n > 0 && h("span.badge", null, n > 99 ? "99+" : n);
const counted = (n) => (n > 0 ? `, ${t("{n} mention|{n} mentions", { n: n > 99 ? "99+" : n })}` : "");

export class ServerRail {
  /** @param {any} chat the chat page: guild, channel, app */
  constructor(chat) {
    this.chat = chat;
    this.app = chat.app;
    this.store = chat.store;
    this.el = arrowKeys(h("nav.rail", { "aria-label": t("Servers") }), "a,button");
    this.made = new Map();
  }

  draw() {
    const unread = this.store.unreadByGuild(),
      direct = unread.get(null)?.mentions || 0;
    const item = (key, sign, make) => ({ key, sign: String(sign), make });
    fillChanged(this.el, this.made, [
      item("home", [direct, !this.chat.guild], () => this.homeItem(direct)),
      item("line", "", () => h("div.rail-line", { role: "presentation" })),
      ...[...this.store.guilds.values()].map((g) => {
        const u = unread.get(g.id);
        return item(g.id, [g.name, g.icon, !!u, u?.mentions, this.chat.guild === g], () =>
          this.guildItem(g, !!u, u?.mentions || 0),
        );
      }),
      item("add", "", () =>
        h(
          "button.rail-item",
          {
            type: "button",
            "aria-label": t("Add a server"),
            title: t("Add a server"),
            onclick: () => addServer(this.app),
          },
          h("span.guild-icon.add", null, icon("plus")),
        ),
      ),
      item("bench", "", () =>
        h(
          "a.rail-item.rail-end",
          { href: "/workbench", "aria-label": t("Workbench"), title: t("Workbench") },
          h("span.guild-icon.add", null, icon("wrench")),
        ),
      ),
    ]);
  }

  homeItem(mentions) {
    return h(
      "a.rail-item",
      {
        href: "/channels/@me",
        "aria-label": t("Direct messages") + counted(mentions),
        title: t("Direct messages"),
        "aria-current": this.chat.guild ? null : "page",
      },
      h("span.guild-icon.home", null, icon("people")),
      badge(mentions),
    );
  }

  guildItem(g, unread, mentions) {
    return h(
      "a.rail-item",
      {
        href: `/channels/${g.id}`,
        "aria-label": g.name + (unread ? `, ${t("unread")}` : "") + counted(mentions),
        title: g.name,
        oncontextmenu: onContext((e) => guildMenu(this.app, g, e)),
        class: unread ? "unread" : "",
        "aria-current": this.chat.guild === g ? "page" : null,
      },
      guildIcon(g),
      badge(mentions),
    );
  }
}
