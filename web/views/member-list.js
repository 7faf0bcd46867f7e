// member-list.js - the members of the open guild or group DM, by role and presence.
import { fill, h } from "../dom.js";
import { RowList } from "../list.js";
import { avatar } from "../images.js";
import { statusText } from "../own-status.js";
import { statusDot } from "../status.js";
import { GROUP, MEMBERS_LISTED, isThread } from "../store.js";
import { t } from "../translate.js";
import { onContext, personMenu } from "./place-menu.js";

export class MemberList {
  /** @param {any} chat the chat page: guild, channel, app */
  constructor(chat) {
    this.chat = chat;
    this.app = chat.app;
    this.store = chat.store;
    this.el = h("aside.members", { "aria-label": t("Members") });
  }

  /** Subscribes to the member list of the channel at the gateway, because READY contains only some members. */
  subscribe(channel) {
    const parent = isThread(channel || {}) ? this.store.channels.get(channel.parent_id) : channel;
    if (parent?.guild_id)
      this.app.gateway.send(14, {
        guild_id: parent.guild_id,
        typing: true,
        threads: true,
        activities: true,
        channels: { [parent.id]: [[0, MEMBERS_LISTED - 1]] },
      });
  }

  draw() {
    const people = this.chat.guild
      ? [...this.chat.guild.members.values()]
      : this.chat.channel?.type === GROUP
        ? [{ user: this.store.me }, ...this.chat.channel.recipients.map((user) => ({ user }))]
        : [];
    this.chat.shell.classList.toggle("no-members", !people.length);
    if (!people.length) return fill(this.el);
    const rows = this.memberRows(people);
    if (!this.list)
      this.list = new RowList({ height: 40, label: t("Members"), role: "list", render: (r) => this.memberRow(r) });
    if (!this.el.firstChild) fill(this.el, this.list.el);
    this.list.set(rows);
  }

  memberRows(people) {
    const g = this.chat.guild,
      hoisted = g ? [...g.roles.values()].filter((r) => r.hoist).sort((a, b) => b.position - a.position) : [];
    const groups = new Map(hoisted.map((r) => [r.id, { name: r.name, list: [] }]));
    const online = { name: t("Online"), list: [] },
      offline = { name: t("Offline"), list: [] };
    for (const m of people) {
      const group = !isOnline(this.store, m.user.id)
        ? offline
        : groups.get(hoisted.find((r) => m.roles?.includes(r.id))?.id) || online;
      group.list.push(m);
    }
    const name = (m) => this.store.nameOf(m.user.id, g).toLowerCase();
    return [...groups.values(), online, offline]
      .filter((x) => x.list.length)
      .flatMap((x) => [
        { heading: `${x.name} – ${x.list.length}` },
        ...x.list.sort((a, b) => (name(a) < name(b) ? -1 : 1)),
      ]);
  }

  memberRow(r) {
    if (r.heading) return h("div.member-heading", { role: "listitem" }, r.heading);
    const name = this.store.nameOf(r.user.id, this.chat.guild),
      color = this.store.colorOf(r.user.id, this.chat.guild),
      text = statusText(this.store, r.user.id);
    return h(
      "div.member-slot",
      { role: "listitem" },
      h(
        "button.member",
        {
          type: "button",
          class: isOnline(this.store, r.user.id) ? "" : "offline",
          onclick: (e) => this.app.showProfile(r.user.id, e.currentTarget),
          oncontextmenu: onContext((e) => personMenu(this.app, r.user, e)),
        },
        h("span.with-status", null, avatar(r.user, name, "small-avatar"), statusDot(this.store, r.user.id)),
        h(
          "span.clip",
          null,
          h("span.clip.author", { style: color ? { "--role": color } : null }, name),
          text && h("small.member-status.clip.faint", { title: text }, text),
        ),
        r.user.bot && h("span.tag", null, "APP"),
      ),
    );
  }
}

function isOnline(store, id) {
  if (id === store.me.id) return true;
  const status = store.presences.get(id)?.status;
  return !!status && status !== "offline";
}
