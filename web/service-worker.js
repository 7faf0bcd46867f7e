// service-worker.js - shows the offline page while the server is unreachable, and the notifications of web push.

const base = `/web/${new URL(location.href).searchParams.get("bundle")}/`;
const FILES = [
  "offline.html",
  "offline.js",
  "dom.js",
  "icons.js",
  "translate.js",
  "german.js",
  "style.css",
  "icon.svg",
];
const worker = /** @type {any} */ (self);

/** Caches the files of the offline page and deletes the caches of older versions. */
async function install() {
  const cache = await caches.open(base);
  await cache.addAll(FILES.map((name) => base + name));
  for (const name of await caches.keys()) if (name !== base) await caches.delete(name);
  await worker.skipWaiting();
}

/**
 * Returns the requested page, preloaded by the browser or fetched now. If the server is unreachable, returns the
 * offline page.
 * @param {any} event
 */
async function navigate(event) {
  try {
    return (await event.preloadResponse) || (await fetch(event.request));
  } catch {
    return (await caches.match(`${base}offline.html`)) || Response.error();
  }
}

const fetchOrCached = (request) => fetch(request).catch(async () => (await caches.match(request)) || Response.error());

/**
 * Shows a notification for a message from the push service, unless a visible page already shows the message.
 * @param {any} m
 */
async function notify(m) {
  const pages = await worker.clients.matchAll({ type: "window", includeUncontrolled: true });
  if (pages.some((page) => page.visibilityState === "visible")) return;
  const where = m.guild ? `#${m.channel}, ${m.guild}` : m.channel;
  await worker.registration.showNotification(where ? `${m.author} (${where})` : m.author, {
    body: m.content,
    tag: m.channel_id, // a newer message of the same channel replaces this notification
    icon: `${base}icon.svg`,
    data: { open: `/channels/${m.guild_id || "@me"}/${m.channel_id}/${m.message_id}` },
  });
}

/**
 * Opens the message of a clicked notification. If a page of this server is open, shows the message there.
 * @param {any} note
 */
async function openMessage(note) {
  note.close();
  const pages = await worker.clients.matchAll({ type: "window", includeUncontrolled: true });
  const page = pages.find((p) => /^\/(channels|friends|settings)/.test(new URL(p.url).pathname));
  if (!page) return worker.clients.openWindow(note.data.open);
  page.postMessage(note.data);
  return page.focus();
}

worker.addEventListener("push", (event) => event.waitUntil(notify(event.data.json())));
worker.addEventListener("notificationclick", (event) => event.waitUntil(openMessage(event.notification)));
worker.addEventListener("install", (event) => event.waitUntil(install()));
worker.addEventListener("activate", (event) => event.waitUntil(worker.registration.navigationPreload?.enable()));
worker.addEventListener("fetch", (event) => {
  const { method, mode, url } = event.request;
  if (method !== "GET") return;
  if (mode === "navigate") event.respondWith(navigate(event));
  else if (FILES.some((name) => url.endsWith(base + name))) event.respondWith(fetchOrCached(event.request));
});
