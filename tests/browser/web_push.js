// web_push.js - web push: the switch, the message that the push service receives, and the notification of the
// service worker. Chromium cannot contact its vendor's push service here, so the test is the push service: it
// gives the page a subscription and passes the decrypted message to the service worker.
import assert from "node:assert/strict";
import { createDecipheriv, createECDH, createHmac, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { call, enter, field, seen, server } from "./harness.js";
import { until } from "./demo_server.js";
import { axe, faultsOf } from "./screens.js";

/** A push service with the keys of one browser. */
class PushService {
  constructor() {
    this.keys = createECDH("prime256v1");
    this.keys.generateKeys();
    this.auth = randomBytes(16);
    /** @type {Buffer[]} */ this.received = [];
    this.http = createServer(async (request, answer) => {
      const parts = [];
      for await (const part of request) parts.push(part);
      this.received.push(Buffer.concat(parts));
      answer.writeHead(201).end();
    });
  }
  async begin() {
    await new Promise((go) => this.http.listen(0, "127.0.0.1", go));
    const { port } = this.http.address();
    return { endpoint: `http://127.0.0.1:${port}/push/1`, keys: { p256dh: this.keys.getPublicKey("base64url"), auth: this.auth.toString("base64url") } };
  }
  end() { this.http.close(); }
  /** Decrypts a message as a browser does (RFC 8291, section 3.4). */
  decrypt(body) {
    const salt = body.subarray(0, 16), sender = body.subarray(21, 86), sealed = body.subarray(86);
    const hkdf = (key, secret, info, n) => createHmac("sha256", createHmac("sha256", key).update(secret).digest()).update(info).update("\x01").digest().subarray(0, n);
    const mixed = hkdf(this.auth, this.keys.computeSecret(sender), Buffer.concat([Buffer.from("WebPush: info\0"), this.keys.getPublicKey(), sender]), 32);
    const open = createDecipheriv("aes-128-gcm", hkdf(salt, mixed, "Content-Encoding: aes128gcm\0", 16), hkdf(salt, mixed, "Content-Encoding: nonce\0", 12));
    open.setAuthTag(sealed.subarray(-16));
    const text = Buffer.concat([open.update(sealed.subarray(0, -16)), open.final()]);
    assert.equal(text.at(-1), 2);
    return text.subarray(0, -1).toString();
  }
}

/** Replaces the browser's connection to its push service. */
function fakeSubscription(subscription) {
  if (location.protocol !== "http:") return;
  window.unsubscribed = 0;
  let made = sessionStorage.getItem("made") ? fake(null) : null;
  function fake(options) {
    sessionStorage.setItem("made", "yes");
    const applicationServerKey = options?.applicationServerKey ?? Uint8Array.from(JSON.parse(sessionStorage.getItem("key")));
    sessionStorage.setItem("key", JSON.stringify([...applicationServerKey]));
    return { options: { applicationServerKey }, toJSON: () => subscription, unsubscribe: async () => { made = null; sessionStorage.removeItem("made"); window.unsubscribed++; return true; } };
  }
  PushManager.prototype.getSubscription = async () => made;
  PushManager.prototype.subscribe = async (options) => (made = fake(options));
}

const state = () => call("ada", "GET", "/users/@me/web-push");

export const TESTS = {
  async closed_page_is_notified_by_web_push() {
    await server().kill();
    await server().restart("--web-push-contact", "mailto:admin@chat.example", "--private-endpoints", "on");
    const service = new PushService(), subscription = await service.begin();
    const page = await enter("ada", { serviceWorkers: "allow", fresh: true });
    await page.context().grantPermissions(["notifications"], { origin: server().url });
    await page.addInitScript(fakeSubscription, subscription);
    await page.addInitScript(axe);
    const started = page.context().waitForEvent("serviceworker");
    await page.open("/settings/notifications");
    const worker = await started, control = await page.context().newCDPSession(page);
    const registered = new Promise((go) => control.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => registrations.length && go(registrations[0].registrationId)));
    await control.send("ServiceWorker.enable");
    // The switch.
    const row = page.locator(".row").filter({ hasText: "Notifications while this page is closed" });
    await row.getByRole("button", { name: "Turn on" }).click();
    await row.getByRole("button", { name: "Turn off" }).waitFor();
    const { public_key, subscribed } = await state();
    assert.equal(subscribed, true);
    for (const [width, colorScheme] of [[390, "dark"], [1280, "light"]]) {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme });
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0);
      assert.deepEqual(await faultsOf(page, `the switch in the ${colorScheme} theme`), []);
    }
    assert.equal(Buffer.from(await page.evaluate(() => JSON.parse(sessionStorage.getItem("key")))).toString("base64url"), public_key);
    // A mention while no page is open.
    for (const open of page.context().pages()) await open.goto("about:blank");
    const ada = await call("ada", "GET", "/users/@me");
    const sent = await call("bob", "POST", `/channels/${server().channel}/messages`, { content: `Hello <@${ada.id}>` });
    await until("the push service has it", () => service.received.length > 0);
    const text = service.decrypt(service.received[0]), { guild } = JSON.parse(text);
    await worker.evaluate(() => { self.shown = []; registration.showNotification = async (title, more) => { self.shown.push({ title, ...more }); }; });
    await control.send("ServiceWorker.deliverPushMessage", { origin: server().url, registrationId: await registered, data: text });
    await until("there is a notification", () => worker.evaluate(() => self.shown.length > 0));
    const [note] = await worker.evaluate(() => self.shown);
    assert.equal(note.title, `Bob (#general, ${guild})`);
    assert.equal(note.body, "Hello @Ada");
    assert.equal(note.tag, server().channel);
    assert.equal(note.data.open, `/channels/${server().guild}/${server().channel}/${sent.id}`);
    // A visible page shows its messages itself; a clicked notification opens the message in it.
    await page.open("/settings/notifications");
    await row.getByRole("button", { name: "Turn off" }).waitFor();
    await control.send("ServiceWorker.deliverPushMessage", { origin: server().url, registrationId: await registered, data: text });
    await worker.evaluate((data) => self.openMessage({ close() {}, data }).catch(() => {}), note.data); // without a click no page may be focused
    await field(page).waitFor();
    await seen(page, "Hello");
    assert.equal(await worker.evaluate(() => self.shown.length), 1);
    // Off again.
    await page.open("/settings/notifications");
    await row.getByRole("button", { name: "Turn off" }).click();
    await row.getByRole("button", { name: "Turn on" }).waitFor();
    assert.equal((await state()).subscribed, false);
    assert.equal(await page.evaluate(() => window.unsubscribed), 1);
    await page.context().close();
    service.end();
  },

  async server_without_web_push_shows_no_switch() {
    await server().kill();
    await server().restart();
    const page = await enter("ada");
    const asked = page.waitForResponse((a) => a.url().endsWith("/users/@me/web-push"));
    await page.open("/settings/notifications");
    assert.equal((await (await asked).json()).public_key, null);
    await page.getByText("Desktop notifications").waitFor();
    assert.equal(await page.getByText("Notifications while this page is closed").count(), 0);
    await page.close();
  },
};
