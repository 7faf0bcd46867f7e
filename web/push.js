// push.js - web push: notifications by the push service of the browser's vendor while no page of this server is open.
import { t } from "./translate.js";

const KEY = "notify.push";

export const pushSupported = () => "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;
/** Returns whether web push is switched on in this browser and the browser allows it. */
export const pushOn = () =>
  pushSupported() && Notification.permission === "granted" && localStorage.getItem(KEY) !== null;

/** @param {string} text base64url */
const bytesOf = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
const asText = (bytes) => new Uint8Array(bytes || []).join();

/** Returns the browser's push subscription for the server's key. Replaces a subscription for another key. */
async function subscribe(publicKey) {
  const { pushManager } = await navigator.serviceWorker.ready,
    key = bytesOf(publicKey),
    old = await pushManager.getSubscription();
  if (old && asText(old.options.applicationServerKey) === asText(key)) return old;
  await old?.unsubscribe();
  return pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
}

async function send(app, publicKey, subscribed) {
  const { endpoint, keys } = (await subscribe(publicKey)).toJSON();
  if (subscribed && localStorage.getItem(KEY) === endpoint) return;
  await app.rest.put("/users/@me/web-push", { endpoint, keys: { p256dh: keys.p256dh, auth: keys.auth } });
  localStorage.setItem(KEY, endpoint);
}

/** Requests the server's push key (null if the server sends no web push), and whether this login has a subscription. */
export const pushState = (app) => app.rest.get("/users/@me/web-push");

/** Asks for the permission to show notifications. @returns {Promise<string>} "" or the error text */
export async function askPermission() {
  if (Notification.permission === "default") await Notification.requestPermission();
  return Notification.permission === "granted"
    ? ""
    : t("The browser blocks notifications of this page. Allow them in the page settings of the browser.");
}

/** Switches web push on. If that fails, throws an error with a sentence for the user. */
export async function turnOnPush(app) {
  const refused = await askPermission();
  if (refused) throw new Error(refused);
  const { public_key, subscribed } = await pushState(app);
  await send(app, public_key, subscribed);
}

export async function turnOffPush(app) {
  localStorage.removeItem(KEY);
  await app.rest.delete("/users/@me/web-push");
  const { pushManager } = await navigator.serviceWorker.ready;
  await (await pushManager.getSubscription())?.unsubscribe();
}

/**
 * Sends this browser's subscription to the server after each new login. Opens the message of a clicked notification.
 */
export function watchPush(app) {
  if (!pushSupported()) return;
  navigator.serviceWorker.addEventListener("message", ({ data }) => data?.open && app.go(data.open));
  const renew = async () => {
    const { public_key, subscribed } = await pushState(app);
    if (public_key) await send(app, public_key, subscribed);
  };
  app.store.on("ready", () => pushOn() && renew().catch(() => {})); // on failure, the next page tries again
}
