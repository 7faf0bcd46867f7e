// notification-menu.js - the notification settings of a guild, a channel or a thread: level, and how long it is muted.
import { dialog, field, fill, h } from "../dom.js";
import * as notify from "../notifications.js";
import { isThread } from "../store.js";
import { ALL, INHERIT, MENTIONS, NOTHING, mutedNow } from "../store-unread.js";
import { locale, t } from "../translate.js";
import { pushSwitch } from "./push-switch.js";

const clock = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
const FOREVER = -1;
/** @returns {[number, string][]} seconds */
const times = () => [
  [15 * 60, t("For 15 minutes")],
  [3600, t("For 1 hour")],
  [3 * 3600, t("For 3 hours")],
  [8 * 3600, t("For 8 hours")],
  [24 * 3600, t("For 24 hours")],
  [FOREVER, t("Until I turn it back on")],
];
const levelNames = () => ({ [ALL]: t("All messages"), [MENTIONS]: t("Only @mentions"), [NOTHING]: t("Nothing") });

/** Returns the request body that mutes for a time. @param {number|null} seconds null unmutes */
export function muteFor(seconds) {
  if (seconds === null) return { muted: false, mute_config: null };
  const end = seconds === FOREVER ? null : new Date(Date.now() + seconds * 1000).toISOString();
  return { muted: true, mute_config: { selected_time_window: seconds, end_time: end } };
}

/** A group of radio buttons. The chosen value is saved at once. */
function choices(label, options, chosen, save) {
  const name = `choice-${label}`;
  return h(
    "fieldset.choices",
    null,
    h("legend", null, label),
    options.map(([value, words]) =>
      h(
        "label.choice",
        null,
        h("input", { type: "radio", name, value, checked: value === chosen, onchange: () => save(value) }),
        words,
      ),
    ),
  );
}

function muteField(state, save) {
  const muted = mutedNow(state),
    end = muted && state.mute_config?.end_time;
  const select = h(
    "select",
    { onchange: () => save(muteFor(select.value === "" ? null : Number(select.value))) },
    h("option", { value: "" }, t("Not muted")),
    muted &&
      h(
        "option",
        { value: "now", selected: true, disabled: true },
        end ? t("Muted until {time}", { time: clock.format(new Date(end)) }) : t("Muted"),
      ),
    times().map(([n, words]) => h("option", { value: n }, words)),
  );
  return field(t("Mute"), select, t("Muted servers and channels send no notifications and are not marked as unread."));
}

/** A form that is drawn again after each saved change, and that shows errors. @param {(save: any) => any[]} build */
function liveForm(build) {
  const body = h("div.stack"),
    problem = h("p.field-error", { role: "alert", hidden: true });
  const save = async (promise) => {
    try {
      await promise;
      problem.hidden = true;
    } catch (e) {
      problem.textContent = t("The setting was not saved: {reason}", { reason: e.words || e.message });
      problem.hidden = false;
    }
    draw();
  };
  const draw = () => {
    const held = /** @type {HTMLInputElement|null} */ (document.activeElement),
      value = body.contains(held) ? `${held.tagName}${held.name}${held.type === "radio" ? held.value : ""}` : null;
    fill(body, build(save));
    if (value)
      /** @type {HTMLInputElement[]} */ ([...body.querySelectorAll("input, select")])
        .find((x) => `${x.tagName}${x.name}${x.type === "radio" ? x.value : ""}` === value)
        ?.focus();
  };
  draw();
  return h("div.stack", null, body, problem);
}

/** The form for desktop notifications and sounds in this browser. */
export function deviceForm(app) {
  const form = liveForm((save) => [
    h(
      "div.row",
      null,
      h("span.grow", null, t("Desktop notifications")),
      h(
        "button.button.secondary",
        {
          type: "button",
          onclick: async () => {
            if (notify.desktopOn()) return save(notify.turnOffDesktop());
            const reason = await notify.turnOnDesktop();
            return save(reason ? Promise.reject(new Error(reason)) : null);
          },
        },
        notify.desktopOn() ? t("Turn off") : t("Turn on"),
      ),
    ),
    h(
      "label.choice",
      null,
      h("input", {
        type: "checkbox",
        checked: notify.soundOn(),
        onchange: (e) => {
          notify.setSound(e.target.checked);
          if (e.target.checked) notify.playSound();
        },
      }),
      t("Play a sound for notifications"),
    ),
  ]);
  return h("div.stack", null, form, pushSwitch(app));
}

/** Opens the notification settings of a channel, a thread or a direct message. */
export function channelNotifications(app, channel) {
  const { store } = app;
  dialog(t("Notification settings: {name}", { name: store.nameOfChannel(channel) }), () => [
    isThread(channel) ? threadForm(app, channel) : channelForm(app, channel),
    h("h3", null, t("This browser")),
    deviceForm(app),
  ]);
}

function channelForm(app, channel) {
  const { store } = app,
    guild = channel.guild_id || "@me";
  return liveForm((save) => {
    const { own } = store.settingsOf(channel),
      level = own?.message_notifications ?? INHERIT;
    const change = (what) => save(store.changeGuildSettings(guild, { channel_overrides: { [channel.id]: what } }));
    const names = levelNames();
    return [
      muteField(own, change),
      channel.guild_id &&
        choices(
          t("Notify about"),
          [
            [INHERIT, t("Server default ({name})", { name: names[store.guildLevel(channel.guild_id)] })],
            ...[ALL, MENTIONS, NOTHING].map((n) => [n, names[n]]),
          ],
          level,
          (n) => change({ message_notifications: n }),
        ),
    ];
  });
}

function threadForm(app, thread) {
  const { store } = app,
    flags = { [ALL]: 2, [MENTIONS]: 4, [NOTHING]: 8 };
  return liveForm((save) => {
    const member = store.channels.get(thread.id)?.member;
    if (!member) return [h("p.faint", null, t("Follow the thread to change its notifications."))];
    const change = (what) =>
      save(
        app.rest.patch(`/channels/${thread.id}/thread-members/@me/settings`, what).then((answer) => {
          const now = store.channels.get(thread.id);
          if (answer) store.channels.set(thread.id, { ...now, member: { ...now.member, ...answer } });
          store.touch("channels", "unread");
        }),
      );
    const names = levelNames();
    return [
      muteField(member, change),
      choices(
        t("Notify about"),
        [ALL, MENTIONS, NOTHING].map((n) => [n, names[n]]),
        store.levelOf(store.channels.get(thread.id)),
        (n) => change({ flags: flags[n] }),
      ),
    ];
  });
}

/** Opens the notification settings of a guild. */
export function guildNotifications(app, guild) {
  const { store } = app;
  dialog(t("Notification settings: {name}", { name: guild.name }), () => [
    liveForm((save) => {
      const own = store.guildSettings.get(guild.id),
        change = (what) => save(store.changeGuildSettings(guild.id, what));
      const box = (name, words) =>
        h(
          "label.choice",
          null,
          h("input", {
            type: "checkbox",
            name,
            checked: !!own?.[name],
            onchange: (e) => change({ [name]: e.target.checked }),
          }),
          words,
        );
      const names = levelNames();
      return [
        muteField(own, change),
        choices(
          t("Notify about"),
          [ALL, MENTIONS, NOTHING].map((n) => [n, names[n]]),
          store.guildLevel(guild.id),
          (n) => change({ message_notifications: n }),
        ),
        box("suppress_everyone", t("Suppress @everyone and @here")),
        box("suppress_roles", t("Suppress role mentions")),
      ];
    }),
    h("h3", null, t("This browser")),
    deviceForm(app),
  ]);
}
