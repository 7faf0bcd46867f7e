// channel-head.js - the header of a channel: name, topic, and the buttons for threads, notifications, pins, search.
import { dialog, fill, h } from "../dom.js";
import { icon, iconButton } from "../icons.js";
import { emptyState } from "../first-steps.js";
import { inline } from "../markdown.js";
import { contextOf, message } from "../message.js";
import { DM, GROUP, isForum, isThread } from "../store.js";
import { t } from "../translate.js";
import { callButton } from "../voice-panels.js";
import { maySetUp, settingsPath } from "./channel/menu.js";
import { ICONS } from "./channel-list.js";
import { addPeople, groupSettings } from "./group.js";
import { channelNotifications } from "./notification-menu.js";
import { searchButton } from "./search.js";
import { threadButtons, threadsButton } from "./threads.js";

/** Returns the header of a channel. @param {any} chat the chat page @returns {{el: HTMLElement, end: () => void}} */
export function channelHead(chat, channel) {
  const { app, store } = chat,
    el = h("header.main-head");
  const draw = () => {
    const now = store.channels.get(channel.id) || channel,
      topic = now.topic;
    fill(
      el,
      chat.burger(),
      icon(ICONS[now.type] || (now.guild_id ? "hash" : "user")),
      h("h1", null, store.nameOfChannel(now)),
      topic ? h("p.topic.clip", { title: topic }, inline(topic, contextOf(app, now))) : h("span.grow"),
      !now.guild_id && callButton(app, now),
      threadsButton(app, now),
      isThread(now) && threadButtons(app, now),
      iconButton(store.isMuted(now) ? "bell-off" : "bell", t("Notification settings"), () =>
        channelNotifications(app, now),
      ),
      maySetUp(store, now) &&
        h(
          "a.icon-button",
          { href: settingsPath(now), "aria-label": t("Channel settings"), title: t("Channel settings") },
          icon("gear"),
        ),
      now.type === DM && iconButton("plus", t("Add people"), () => addPeople(app, now)),
      now.type === GROUP && iconButton("gear", t("Group settings"), () => groupSettings(app, now)),
      !isForum(now) && iconButton("pin", t("Pinned messages"), () => showPins(app, now)),
      now.guild_id && iconButton("people", t("Members"), () => chat.shell.classList.toggle("members-closed")),
      searchButton(chat),
    );
  };
  let sign = "";
  const drawChanged = () => {
    const now = store.channels.get(channel.id) || channel,
      next = JSON.stringify([
        store.nameOfChannel(now),
        now.topic,
        now.type,
        now.member,
        now.thread_metadata,
        store.isMuted(now),
        maySetUp(store, now),
      ]);
    if (next === sign) return;
    sign = next;
    draw();
  };
  drawChanged();
  const off = [store.on("channels", drawChanged), store.on("unread", drawChanged)];
  return { el, end: () => off.forEach((f) => f()) };
}

async function showPins(app, channel) {
  const pins = await app.tryCall(app.rest.get(`/channels/${channel.id}/pins`));
  if (!pins) return;
  dialog(
    t("Pinned messages"),
    (close) =>
      pins.length
        ? h(
            "ol.messages.pins",
            null,
            pins.map((m) => {
              const row = message(app, channel, m);
              row.append(jumpButton(() => (close(), app.jumpTo(m.id, channel.id))));
              return row;
            }),
          )
        : emptyState({
            icon: "pin",
            title: t("No pinned messages"),
            words: t("To pin a message, open the menu of the message and choose “Pin”."),
          }),
    { class: "wide" },
  );
}

export const jumpButton = (run) => h("button.jump-button", { type: "button", onclick: run }, t("Jump"));
