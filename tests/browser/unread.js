// unread.js - what is new: the divider, marks as read, counts in title and favicon, mutes, notifications and their sound.
import assert from "node:assert/strict";
import { call, enter, field, general, seen, server } from "./harness.js";
import { until } from "./demo_server.js";

const post = (who, channel, body) => call(who, "POST", `/channels/${channel}/messages`, body);
const newChannel = (name) => call("ada", "POST", `/guilds/${server().guild}/channels`, { name, type: 0 });
const me = (who) => call(who, "GET", "/users/@me");
const link = (page, name) => page.getByRole("link", { name });

/** The browser's notifications and tones, counted instead of shown. */
function listen() {
  const sent = (window.sent = { notes: [], tones: 0, asked: 0 });
  window.Notification = class {
    static permission = "default";
    static async requestPermission() { sent.asked++; return (this.permission = "granted"); }
    constructor(title, more) { sent.notes.push({ title, ...more }); window.lastNote = this; }
    close() {}
  };
  const start = OscillatorNode.prototype.start;
  OscillatorNode.prototype.start = function (...args) { sent.tones++; return start.apply(this, args); };
}
const sent = (page) => page.evaluate(() => window.sent);

export const TESTS = {
  async new_messages_stand_below_a_divider_and_are_marked_as_read() {
    const page = await enter("ada"), made = await newChannel("arrivals"), first = await post("bob", made.id, { content: "Read long ago" });
    await page.open(`/channels/${server().guild}/${made.id}`);
    await seen(page, "Read long ago");
    await page.turn(general());
    await page.getByRole("heading", { name: "general" }).first().waitFor();
    await post("bob", made.id, { content: "One that is new" });
    await post("bob", made.id, { content: "Another" });
    await link(page, /arrivals, 2 unread/).click();
    const fresh = page.locator(".message-item").filter({ hasText: "One that is new" });
    await fresh.getByRole("separator", { name: "New messages" }).waitFor();
    assert.equal(await page.getByRole("separator", { name: "New messages" }).count(), 1);
    await until("it is read", async () => (await link(page, /arrivals.*unread/).count()) === 0);
    // The menu marks messages as unread from one message on, and as read again.
    await page.locator(`[data-id="${first.id}"] article`).click({ button: "right" });
    await page.getByRole("menuitem", { name: "Mark unread" }).click();
    await page.locator(`[data-id="${first.id}"]`).getByRole("separator", { name: "New messages" }).waitFor();
    await page.turn(general());
    await link(page, /arrivals, 3 unread/).click({ button: "right" });
    await page.getByRole("menuitem", { name: "Mark as read" }).click();
    await until("it is read by hand", async () => (await link(page, /arrivals.*unread/).count()) === 0);
    // The whole server.
    await post("bob", made.id, { content: "For the whole server" });
    await link(page, /arrivals, 1 unread/).waitFor();
    await page.getByRole("navigation", { name: "Servers" }).locator("[aria-current=page]").click({ button: "right" });
    await page.getByRole("menuitem", { name: "Mark as read" }).click();
    await until("the server is read", async () => (await link(page, /unread/).count()) === 0);
    await page.reload();
    await field(page).waitFor();
    await link(page, "arrivals").waitFor();
    assert.equal(await link(page, /arrivals.*unread/).count(), 0); // the server knows it
    await page.close();
  },

  async title_and_favicon_count_mentions() {
    const page = await enter("ada"), made = await newChannel("calls"), ada = await me("ada");
    for (const c of await call("ada", "GET", "/users/@me/channels")) if (c.last_message_id) await call("ada", "POST", `/channels/${c.id}/messages/${c.last_message_id}/ack`, {});
    await call("ada", "POST", `/guilds/${server().guild}/ack`);
    await page.open(general());
    await field(page).waitFor();
    await until("nothing is unread", async () => /^general · /.test(await page.title()));
    const plain = await page.locator("link[rel=icon]").getAttribute("href");
    await post("bob", made.id, { content: "Nobody in particular" });
    await until("a dot is in the title", async () => (await page.title()).startsWith("• "));
    await post("bob", made.id, { content: `<@${ada.id}> come` });
    await until("the mention is in the title", async () => (await page.title()).startsWith("(1) "));
    await until("the favicon has a badge", async () => (await page.locator("link[rel=icon]").getAttribute("href")).startsWith("data:image/png"));
    await link(page, /calls, .*1 mention/).click();
    await until("the title is plain", async () => /^calls · /.test(await page.title()));
    await until("the favicon is plain", async () => (await page.locator("link[rel=icon]").getAttribute("href")).endsWith(plain));
    await page.close();
  },

  async muted_channels_are_quiet_and_the_server_stores_it() {
    const page = await enter("ada"), made = await newChannel("noise"), later = await newChannel("later");
    await page.open(general());
    await link(page, "noise").click({ button: "right" });
    await page.getByRole("menuitem", { name: "Mute", exact: true }).click();
    await link(page, /noise, muted/).waitFor();
    await post("bob", made.id, { content: "Hammering" });
    await post("bob", later.id, { content: "Sweeping" });
    await link(page, /later.*unread/).waitFor(); // events arrive in order
    assert.equal(await link(page, /noise.*unread/).count(), 0);
    await page.reload();
    await link(page, /noise, muted/).waitFor();
    // The dialog sets "only mentions" and mutes the channel for an hour.
    await link(page, /noise/).click();
    await page.getByRole("button", { name: "Notification settings" }).click();
    const dialog = page.getByRole("dialog", { name: /Notification settings: noise/ });
    await dialog.getByLabel("Mute").selectOption({ label: "For 1 hour" });
    await dialog.locator("option", { hasText: "Muted until" }).waitFor({ state: "attached" });
    // The answer to the first of two changes arrives after the answer to the second one.
    const changes = [];
    await page.route("**/guilds/*/settings", async (route) => {
      const response = await route.fetch();
      changes.push(() => route.fulfill({ response }));
    });
    await dialog.getByLabel("Only @mentions").check();
    await until("the first change is stored", () => changes.length === 1);
    await dialog.getByLabel("Mute").selectOption({ label: "Not muted" });
    await until("the second change is stored", () => changes.length === 2);
    for (const respond of changes.reverse()) {
      const arrived = page.waitForResponse(/settings/);
      await respond();
      await (await arrived).finished();
    }
    await dialog.locator("option", { hasText: "Muted until" }).waitFor({ state: "detached" });
    await page.keyboard.press("Escape");
    await until("the server has it", async () => {
      const again = await enter("ada");
      await again.open(`/channels/${server().guild}/${made.id}`);
      await again.getByRole("button", { name: "Notification settings" }).click();
      const stored = await again.getByLabel("Only @mentions").isChecked();
      await again.close();
      return stored;
    });
    await page.close();
  },

  async notifications_are_asked_for_by_a_button_and_none_come_of_what_is_open_or_muted() {
    const page = await enter("ada"), made = await newChannel("bell"), quiet = await newChannel("hush"), ada = await me("ada");
    await page.addInitScript(listen);
    await page.open(general());
    await field(page).waitFor();
    await field(page).click();
    assert.equal((await sent(page)).asked, 0); // never on load
    await page.getByRole("button", { name: "Notification settings" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Turn on" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Turn off" }).waitFor();
    await page.keyboard.press("Escape");
    assert.equal((await sent(page)).asked, 1);
    await link(page, "hush").click({ button: "right" });
    await page.getByRole("menuitem", { name: "Mute", exact: true }).click();
    await link(page, /hush, muted/).waitFor();
    await post("bob", server().channel, { content: "Here, where it is open" });
    await seen(page, "Here, where it is open");
    await post("bob", quiet.id, { content: `<@${ada.id}> in the muted one` });
    await post("bob", made.id, { content: `<@${ada.id}> the **oak** is here` });
    await until("there is a notification", async () => (await sent(page)).notes.length > 0);
    const { notes, tones } = await sent(page);
    assert.equal(notes.length, 1);
    assert.match(notes[0].title, /Bob.*#bell/);
    assert.match(notes[0].body, /@Ada.* the/);
    assert.equal(tones, 2);
    await page.evaluate(() => window.lastNote.onclick());
    await page.getByRole("heading", { name: "bell" }).waitFor();
    await page.locator(".log").getByText("is here").waitFor();
    await page.close();
  },
};
