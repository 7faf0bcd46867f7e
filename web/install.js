// install.js - registers the service worker, so that the page can be installed and says when the server is away.

const bundle = new URL(import.meta.url).pathname.split("/")[2];

/** Registers the worker of this version. Its URL is fixed, so the policy cannot be used for other scripts. */
export function registerServiceWorker() {
  if (!("serviceWorker" in navigator)) return;
  const url = `/service-worker.js?bundle=${bundle}`;
  const types = /** @type {any} */ (window).trustedTypes;
  const trusted = types
    ? types.createPolicy("service-worker", { createScriptURL: () => url }).createScriptURL("")
    : url;
  navigator.serviceWorker.register(trusted).catch(() => {}); // the page works without it
}
