// service-worker.js - shows the offline page when the server cannot be reached. It caches only the files of this page.

const base = `/web/${new URL(location.href).searchParams.get("bundle")}/`;
const FILES = [
  "offline.html",
  "offline.js",
  "dom.js",
  "icons.js",
  "translate.js",
  "german.js",
  "german-account.js",
  "german-server.js",
  "german-errors.js",
  "german-voice.js",
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

/** Returns the requested page (preloaded by the browser or fetched), or the offline page. @param {any} event */
async function navigate(event) {
  try {
    return (await event.preloadResponse) || (await fetch(event.request));
  } catch {
    return (await caches.match(`${base}offline.html`)) || Response.error();
  }
}

const fetchOrCached = (request) => fetch(request).catch(async () => (await caches.match(request)) || Response.error());

worker.addEventListener("install", (event) => event.waitUntil(install()));
worker.addEventListener("activate", (event) => event.waitUntil(worker.registration.navigationPreload?.enable()));
worker.addEventListener("fetch", (event) => {
  const { method, mode, url } = event.request;
  if (method !== "GET") return;
  if (mode === "navigate") event.respondWith(navigate(event));
  else if (FILES.some((name) => url.endsWith(base + name))) event.respondWith(fetchOrCached(event.request));
});
