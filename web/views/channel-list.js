// channel-list.js - the channels of the open server, or the direct messages.
import { arrowKeys, below, h, icon, iconButton, menu, refill } from "../dom.js";
import { avatar } from "../images.js";
import { statusDot } from "../status.js";
import { ANNOUNCEMENT, CATEGORY, DM, STAGE, VOICE, isForum, isThread, isVoice } from "../store.js";
import { t } from "../translate.js";
import { orderedChannels, moveChannel, stepChannel } from "../channel-order.js";
import { sortable } from "../sortable.js";
import { addChannel, addGroup, invite } from "./new-place.js";
import { channelMenu, guildEntries, onContext } from "./place-menu.js";

export const ICONS = {
  [VOICE]: "voice",
  [STAGE]: "stage",
  [ANNOUNCEMENT]: "announcement",
  15: "forum",
  16: "forum",
  10: "thread",
  11: "thread",
  12: "thread",
};
const folded = new Set(JSON.parse(localStorage.getItem("folded") || "[]"));

export class ChannelList {
  /** @param {any} chat the chat page: guild, channel, app */
  constructor(chat) {
    this.chat = chat;
    this.app = chat.app;
    this.store = chat.store;
    this.el = sortable(h("div.side-list"), {
      drop: (id, target, where) => moveChannel(this.app, this.chat.guild, id, target, where),
      step: (id, by) => stepChannel(this.app, this.chat.guild, id, by),
      holds: (id) => this.store.channels.get(id)?.type === CATEGORY,
    });
  }

  ordered() {
    return orderedChannels(this.store, this.chat.guild);
  }

  draw() {
    const scroll = this.el.scrollTop;
    if (this.chat.guild) this.drawChannels();
    else this.drawPrivate();
    this.el.scrollTop = scroll;
  }

  drawChannels() {
    const g = this.chat.guild,
      manage = this.store.mayInGuild(g, "MANAGE_CHANNELS"),
      rows = [],
      threads = new Map();
    for (const x of this.store.channelsOf(g))
      if (isThread(x) && !x.thread_metadata?.archived)
        threads.set(x.parent_id, [...(threads.get(x.parent_id) || []), x]);
    let hidden = false;
    for (const c of this.ordered()) {
      if (c.type === CATEGORY) {
        hidden = folded.has(c.id);
        rows.push(
          h(
            "div.category",
            {
              dataset: { sort: c.id },
              draggable: manage ? "true" : null,
              oncontextmenu: onContext((e) => channelMenu(this.app, c, e)),
            },
            h(
              "button.plain",
              {
                type: "button",
                dataset: { key: c.id },
                "aria-expanded": String(!hidden),
                onclick: () => this.fold(c.id),
              },
              h("span.fold", { "aria-hidden": "true" }, hidden ? "▸" : "▾"),
              c.name,
            ),
            manage &&
              iconButton("plus", t("New channel in {name}", { name: c.name }), () =>
                addChannel(this.app, this.chat.guild, c),
              ),
          ),
        );
        continue;
      }
      if (hidden && c.parent_id && c !== this.chat.channel && !this.store.unread.has(c.id)) continue;
      rows.push(this.channelRow(c));
      if (!isForum(c)) rows.push((threads.get(c.id) || []).slice(0, 20).map((x) => this.channelRow(x, "thread")));
      if (isVoice(c)) rows.push(this.voiceRows(c));
    }
    const head = h(
      "header.side-head",
      null,
      h(
        "button.plain.guild-name",
        { type: "button", "aria-haspopup": "menu", onclick: (e) => this.guildMenu(e.currentTarget) },
        h("strong", null, g.name),
        h("span", { "aria-hidden": "true" }, "▾"),
      ),
    );
    if (!rows.length) rows.push(h("p.hint.pad", null, t("There are no channels that you can see.")));
    refill(this.el, head, this.viewAsBar(), arrowKeys(h("div.channel-list", null, rows), "a,button"));
  }

  /** While the server is viewed as a role: a bar with the role's name and a button that stops it. */
  viewAsBar() {
    const { guild } = this.chat,
      role = this.store.viewAs?.guild === guild.id && guild.roles.get(this.store.viewAs.role);
    const end = () => {
      this.store.viewAs = null;
      this.store.touch("channels", "members");
    };
    return (
      role &&
      h(
        "div.view-as",
        { role: "status" },
        t("You see this server as {role}.", { role: role.name }),
        h("button.button.secondary", { type: "button", onclick: end }, t("Stop")),
      )
    );
  }

  fold(id) {
    if (!folded.delete(id)) folded.add(id);
    localStorage.setItem("folded", JSON.stringify([...folded].slice(-500)));
    this.draw();
  }

  channelRow(c, kind) {
    const muted = this.store.isMuted(c),
      state = this.store.unread.get(c.id),
      unread = muted && !state?.mentions ? null : state;
    return h(
      "a.channel",
      {
        href: `/channels/${c.guild_id || "@me"}/${c.id}`,
        dataset: { key: c.id, ...(kind ? {} : { sort: c.id }) },
        draggable: !kind && this.chat.guild ? String(this.store.mayInGuild(this.chat.guild, "MANAGE_CHANNELS")) : null,
        class: [kind || "", unread ? "unread" : "", muted ? "muted" : ""].join(" "),
        oncontextmenu: onContext((e) => channelMenu(this.app, c, e)),
        "aria-current": c === this.chat.channel || c.id === this.chat.channel?.id ? "page" : null,
        "aria-label": [
          c.name,
          unread && t("{n} unread", { n: unread.count }),
          unread?.mentions > 0 && t("{n} mention|{n} mentions", { n: unread.mentions }),
          muted && t("muted"),
        ]
          .filter(Boolean)
          .join(", "),
      },
      icon(ICONS[c.type] || "hash"),
      h("span.clip", null, c.name),
      unread?.mentions > 0 && h("span.badge", null, unread.mentions),
    );
  }

  voiceRows(c) {
    return this.store
      .voiceOf(c.id)
      .map((v) =>
        h(
          "button.voice-person",
          {
            type: "button",
            dataset: { speaker: v.user_id },
            class: this.app.voice.speaking.has(v.user_id) ? "speaking" : "",
            onclick: (e) => this.app.showProfile(v.user_id, e.currentTarget),
          },
          avatar(this.store.user(v.user_id), this.store.nameOf(v.user_id, this.chat.guild), "tiny-avatar"),
          h("span.clip", null, this.store.nameOf(v.user_id, this.chat.guild)),
          (v.self_mute || v.mute) && h("span", { title: t("Muted") }, icon("muted")),
          (v.self_deaf || v.deaf) && h("span", { title: t("Deafened") }, icon("deaf")),
          v.self_stream && h("span.tag", null, "LIVE"),
          v.request_to_speak_timestamp && h("span", { title: t("Wants to speak") }, icon("hand")),
        ),
      );
  }

  markSpeakers() {
    for (const el of /** @type {NodeListOf<HTMLElement>} */ (this.el.querySelectorAll("[data-speaker]")))
      el.classList.toggle("speaking", this.app.voice.speaking.has(el.dataset.speaker));
  }

  drawPrivate() {
    refill(
      this.el,
      h(
        "header.side-head",
        null,
        h(
          "button.jump",
          { type: "button", onclick: () => this.app.key({ ctrlKey: true, key: "k", preventDefault() {} }) },
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
            { href: "/friends", "aria-current": this.chat.channel || this.chat.guild ? null : "page" },
            icon("people"),
            t("Friends"),
            this.pending() > 0 && h("span.badge", null, this.pending()),
          ),
          h(
            "div.category",
            null,
            h("span", null, t("Direct messages")),
            iconButton("plus", t("New group"), () => addGroup(this.app)),
          ),
          this.store.privateChannels().map((c) => this.privateRow(c)),
          !this.store.privateChannels().length &&
            h("p.hint.pad", null, t("No conversations yet. Open the profile of a person and choose “Message”.")),
        ),
        "a,button",
      ),
    );
  }

  pending() {
    return [...this.store.relationships.values()].filter((r) => r.type === 3).length;
  }

  privateRow(c) {
    const other = c.type === DM ? c.recipients?.[0] : null,
      unread = this.store.unread.get(c.id),
      name = this.store.nameOfChannel(c);
    return h(
      "a.channel.private",
      {
        href: `/channels/@me/${c.id}`,
        dataset: { key: c.id },
        class: [unread ? "unread" : "", this.store.isMuted(c) ? "muted" : ""].join(" "),
        oncontextmenu: onContext((e) => channelMenu(this.app, c, e)),
        "aria-current": c.id === this.chat.channel?.id ? "page" : null,
      },
      other
        ? h("span.with-status", null, avatar(other, name, "small-avatar"), statusDot(this.store, other.id))
        : h("span.small-avatar.group", null, icon("people")),
      h("span.clip", null, name),
      unread?.mentions > 0 && h("span.badge", null, unread.mentions),
    );
  }

  guildMenu(at) {
    const g = this.chat.guild,
      may = (r) => this.store.mayInGuild(g, r);
    menu(
      below(at),
      [
        may("CREATE_INSTANT_INVITE") && {
          label: t("Invite people"),
          icon: "people",
          run: () => invite(this.app, this.inviteChannel()),
        },
        ...guildEntries(this.app, g),
        { label: t("Server settings"), icon: "gear", run: () => this.app.go(`/channels/${g.id}/settings`) },
        { label: t("Events"), icon: "stage", run: () => this.app.go(`/channels/${g.id}/settings/events`) },
        may("MANAGE_CHANNELS") && {
          label: t("New channel"),
          icon: "plus",
          run: () => addChannel(this.app, this.chat.guild, null),
        },
        g.owner_id !== this.store.me.id && {
          label: t("Leave"),
          icon: "leave",
          danger: true,
          run: async () =>
            (await this.app.confirm(t("Leave"), t("Leave {name}?", { name: g.name }), t("Leave"))) &&
            this.app.tryCall(this.app.rest.delete(`/users/@me/guilds/${g.id}`, {})),
        },
      ].filter(Boolean),
      g.name,
    );
  }

  /** Returns the channel for a new invite: the open channel, or else the first text channel. */
  inviteChannel() {
    return this.chat.channel?.guild_id ? this.chat.channel : this.ordered().find((c) => c.type === 0);
  }
}
