// notifications.js - desktop notifications and sounds for new messages. A button asks for the permission.
import { askPermission, pushOn } from "./push.js";
import { t } from "./translate.js";

const SOUND_PAUSE_MS = 1000,
  MOST_TEXT = 180;
/** Keys of the user's notification choices in localStorage. */
const KEYS = { desktop: "notify.desktop", sound: "notify.sound" };
let sounded = 0,
  context = /** @type {AudioContext|null} */ (null);

export const supported = () => "Notification" in window;
/** Whether desktop notifications are switched on and allowed by the browser. */
export const desktopOn = () =>
  supported() && Notification.permission === "granted" && localStorage.getItem(KEYS.desktop) === "1";
export const soundOn = () => localStorage.getItem(KEYS.sound) !== "0";

/** Switches desktop notifications on; asks for the permission. @returns {Promise<string>} "" or the error text */
export async function turnOnDesktop() {
  if (!supported()) return t("This browser has no desktop notifications.");
  const refused = await askPermission();
  if (!refused) localStorage.setItem(KEYS.desktop, "1");
  return refused;
}
export const turnOffDesktop = () => localStorage.setItem(KEYS.desktop, "0");
/** @param {boolean} on */
export const setSound = (on) => localStorage.setItem(KEYS.sound, on ? "1" : "0");

/** Two short tones. */
export function playSound() {
  if (!("AudioContext" in window)) return;
  context ??= new AudioContext();
  // Browsers start sound only after the first click in the page.
  if (context.state === "suspended") context.resume().catch(() => {});
  [880, 1175].forEach((pitch, i) => {
    const tone = new OscillatorNode(context, { type: "sine", frequency: pitch }),
      loud = new GainNode(context, { gain: 0 }),
      at = context.currentTime + i * 0.11;
    loud.gain.setValueAtTime(0, at);
    loud.gain.linearRampToValueAtTime(0.12, at + 0.015);
    loud.gain.exponentialRampToValueAtTime(0.0001, at + 0.22);
    tone.connect(loud).connect(context.destination);
    tone.start(at);
    tone.stop(at + 0.25);
  });
}

/** Returns the first words of a message, with names instead of ids. */
function words(store, m, guild) {
  const text = (m.content || "")
    .replace(/<@!?(\d+)>/g, (_, id) => `@${store.nameOf(id, guild)}`)
    .replace(/<#(\d+)>/g, (_, id) => `#${store.channels.get(id)?.name ?? t("unknown")}`)
    .replace(/<a?(:\w+:)\d+>/g, "$1")
    .replace(/\|\|.+?\|\|/gs, "▇▇▇");
  return (text || t("A message without text")).slice(0, MOST_TEXT);
}

/** Starts to show a desktop notification and to play a sound for each new message. @param {any} app */
export function watchMessages(app) {
  const { store } = app;
  store.onmessage = (m) => {
    const open = store.open === m.channel_id && !document.hidden,
      busy = store.presences.get(store.me.id)?.status === "dnd";
    const blocked = store.relationships.get(m.author.id)?.type === 2;
    if (open || busy || blocked || !store.notifies(m)) return;
    if (soundOn() && Date.now() - sounded > SOUND_PAUSE_MS) {
      sounded = Date.now();
      playSound();
    }
    if (desktopOn()) show(app, m);
  };
}

function show(app, m) {
  const { store } = app,
    channel = store.channels.get(m.channel_id),
    guild = store.guildOf(channel),
    name = m.webhook_id ? m.author.username : store.nameOf(m.author.id, guild);
  const title = guild ? `${name} (#${channel.name}, ${guild.name})` : name,
    open = `/channels/${channel.guild_id || "@me"}/${channel.id}/${m.id}`;
  const more = {
    body: words(store, m, guild),
    tag: m.channel_id, // a newer message of the same channel replaces this notification
    silent: true,
  };
  if (pushOn()) {
    // The worker shows this notification, too, so that a web push notification with the same tag replaces it.
    const worker = navigator.serviceWorker.ready;
    worker.then((w) => w.showNotification(title, { ...more, data: { open } })).catch(() => {});
    return;
  }
  const note = new Notification(title, more);
  note.onclick = () => {
    window.focus();
    note.close();
    app.go(open);
  };
}
