// self-panel.js - the user's own name and status below the channel list, with the menu that changes the status.
import { fill, h } from "../dom.js";
import { below, menu } from "../menu.js";
import { icon } from "../icons.js";
import { avatar } from "../images.js";
import { askStatusText, changeStatus, statusText } from "../own-status.js";
import { statusDot } from "../status.js";
import { t } from "../translate.js";

export class SelfPanel {
  /** @param {any} app */
  constructor(app) {
    this.app = app;
    this.el = h("div.self");
    this.draw();
  }

  draw() {
    const { store } = this.app,
      me = store.me;
    fill(
      this.el,
      h(
        "button.plain.self-name",
        { type: "button", title: t("Status"), onclick: (e) => this.openMenu(e.currentTarget) },
        h("span.with-status", null, avatar(me, "", "small-avatar"), statusDot(store, me.id)),
        h(
          "span.clip",
          null,
          h("strong", null, me.global_name || me.username),
          h("small", null, statusText(store, me.id) || `@${me.username}`),
        ),
      ),
      h("a.icon-button", { href: "/settings", "aria-label": t("Settings"), title: t("Settings") }, icon("gear")),
    );
  }

  openMenu(at) {
    const { app } = this;
    const states = [
      ["online", t("Online")],
      ["idle", t("Idle")],
      ["dnd", t("Do not disturb")],
      ["invisible", t("Invisible")],
    ].map(([status, label]) => ({ label, icon: "user", run: () => changeStatus(app, { status }) }));
    menu(
      below(at),
      [
        ...states,
        { label: t("Custom status"), icon: "smile", run: () => askStatusText(app) },
        {
          label: t("Switch accounts"),
          icon: "people",
          run: async () => (await import("./account-switcher.js")).switchAccounts(app),
        },
        { label: t("Log out"), icon: "leave", danger: true, run: () => app.logOut() },
      ],
      t("Status"),
    );
  }
}
