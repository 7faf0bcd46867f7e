// install.js - registers the service worker, which makes the page installable and shows an offline page.

const bundle = new URL(import.meta.url).pathname.split("/")[2];

/** Registers the service worker of this version. The Trusted Types policy allows no other URL. */
export function registerServiceWorker() {
  if (!("serviceWorker" in navigator)) return;
  const url = `/service-worker.js?bundle=${bundle}`;
  const types = /** @type {any} */ (window).trustedTypes;
  const trusted = types
    ? types.createPolicy("service-worker", { createScriptURL: () => url }).createScriptURL("")
    : url;
  navigator.serviceWorker.register(trusted).catch(() => {}); // the page also works without a service worker
}
