// workbench.js - tests the workbench: traffic, repeated requests, failure rules, snapshots.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { call, enter, field, frames, general, options, picture, roll, say, seen, server } from "./harness.js";
import { WebSocket, until } from "./demo_server.js";

export const TESTS = {
  async causes_of_refusals_link_to_the_list_of_errors() {
    const page = await enter("ada"), channel = server().channel;
    await call("emil", "PATCH", `/channels/${channel}`, { name: "mine" }).catch(() => {});
    await page.open("/workbench/traffic");
    await page.getByLabel("Filter by text").fill("lacks MANAGE_CHANNELS");
    await page.getByRole("button", { name: /403 .*PATCH/ }).first().click();
    await page.getByText(/emil lacks MANAGE_CHANNELS in #general: none of its roles/).waitFor();
    await page.getByRole("link", { name: "50013" }).click();
    await page.getByRole("heading", { name: "50013" }).waitFor();
    await call("ada", "POST", "/interactions/1572381641102327808/wrong/callback", { type: 5 }).catch(() => {});
    await page.open("/workbench/interactions");
    await page.getByText(/did not create the interaction with this token/).first().waitFor();
    await page.getByRole("link", { name: "10062" }).first().waitFor();
    await page.close();
  },

  async permissions_and_deliveries_are_explained() {
    const page = await enter("ada"), channel = server().channel;
    const m = await call("ada", "POST", `/channels/${channel}/messages`, { content: "Hello" });
    await page.open("/workbench/why");
    await page.getByLabel("Name or id of the member").fill("emil");
    await page.getByLabel("Permission").selectOption("MANAGE_CHANNELS");
    await page.getByLabel("Channel").fill(channel);
    await page.getByRole("button", { name: "Explain" }).first().click();
    await page.getByText(/^No: emil lacks MANAGE_CHANNELS in #general/).waitFor();
    await page.getByLabel("Name or id of the bot").fill("emil");
    await page.getByLabel("Link of the message").fill(`/channels/1/${channel}/${m.id}`);
    await page.getByRole("button", { name: "Explain" }).last().click();
    await page.getByText(/^No: emil has no session/).waitFor();
    await picture(page, "console-why");
    await page.close();
  },

  async traffic_of_a_message_is_shown() {
    const page = await enter("ada");
    await page.open(general());
    await roll(page);
    await call("ada", "GET", "/users/1").catch(() => {});
    await page.open("/workbench/interactions");
    await page.getByText(/answered after/).first().waitFor();
    await page.getByRole("img", { name: /created, delivered after .*answered after/ }).first().waitFor();
    await picture(page, "console-interactions");
    await page.open("/workbench/traffic");
    await page.getByLabel("Filter by text").fill("/users/1");
    await page.getByRole("button", { name: /404 .*GET/ }).first().click();
    await page.getByText(/curl -X GET/).waitFor();
    await page.getByText(/^Request headers/).click();
    const name = page.locator(".headers dt").filter({ hasText: /^authorization$/i });
    await name.waitFor();
    assert.equal(await name.locator("+ dd").textContent(), "***");
    await page.getByText(/^Response headers/).click();
    await page.getByText("application/json").last().waitFor();
    await call("bob", "POST", `/channels/${server().channel}/messages`, { content: "Seen on the wire" });
    await page.getByLabel("Filter by text").fill("Seen on the wire");
    await page.getByRole("button", { name: /POST/ }).click();
    await page.getByText("Seen on the wire").first().waitFor();
    await page.getByLabel("Filter by text").fill("");
    await picture(page, "console-traffic");
    const rows = page.locator(".wire");
    await page.getByLabel("Filter by user").fill("bob");
    await page.getByLabel("Type").selectOption("call");
    await page.getByLabel("Status").selectOption("error");
    await until("no refused request of that user is shown", async () => (await rows.count()) === 0);
    await page.getByLabel("Filter by user").fill("ada");
    await until("only refused requests are shown", async () => (await rows.allTextContents()).every((x) => /ada4\d\d/.test(x)) && (await rows.count()) > 0);
    await page.close();
  },

  async recorded_request_can_be_changed_and_repeated() {
    const page = await enter("ada");
    await call("ada", "POST", `/channels/${server().channel}/messages`, { content: "Said once" });
    await page.open("/workbench/traffic");
    await page.getByLabel("Filter by text").fill("Said once");
    await page.getByRole("button", { name: /POST/ }).click();
    await page.getByText("Send again").click();
    await page.getByLabel("Body").fill('{ "content": "Said twice" }');
    await page.getByLabel("Send as", { exact: true }).selectOption({ label: "As Bob" });
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByText(/^200 OK/).waitFor();
    const [said] = await call("bob", "GET", `/channels/${server().channel}/messages?limit=1`);
    assert.deepEqual([said.content, said.author.username], ["Said twice", "bob"]);
    await page.open(general());
    await roll(page);
    await page.open("/workbench/interactions");
    const rolls = page.getByRole("button", { name: /\/roll/ });
    await rolls.first().click();
    await page.getByText("Send again").click();
    const before = await rolls.count();
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByRole("status", { name: "Response" }).filter({ hasText: /^204/ }).waitFor();
    await until("another roll is shown", async () => (await rolls.count()) === before + 1);
    await page.close();
  },

  async malformed_requests_are_shown_in_the_traffic() {
    const page = await enter("ada"), at = new URL(server().url);
    await page.open("/workbench/traffic");
    await page.locator(".wire").first().waitFor();
    const socket = connect(Number(at.port), at.hostname, () => socket.end("GET /nonsense HTTP/9.9\r\n\r\n"));
    await page.getByLabel("Type").selectOption("call");
    await page.getByRole("button", { name: /505 .*nonsense/ }).click();
    await page.getByText("Refused with 505").waitFor();
    await page.close();
  },

  async active_failure_rules_are_shown_on_every_page() {
    const page = await enter("ada");
    await page.open("/workbench/trouble");
    await page.getByLabel("Path").fill("/users/@me/notes/*");
    await page.getByRole("button", { name: "Add" }).click();
    await page.getByText("A simulated error is set for every request to /users/@me/notes/*.").waitFor();
    await page.getByLabel("Delay of all events, ms").fill("300");
    await page.getByRole("button", { name: "Delay events" }).click();
    await page.getByText("Events are delayed by 300 ms, and a simulated error is set for").waitFor();
    await page.getByLabel("Delay, ms").fill("7");
    await page.getByRole("button", { name: "+15 min" }).click();
    await page.getByText("and the server clock is shifted by 15 min").waitFor();
    await page.getByText(/, shifted by 90\d s/).waitFor();
    assert.equal(await page.getByLabel("Delay, ms").inputValue(), "7"); // typed values stay, whatever is redrawn around them
    await page.getByLabel("Delay, ms").fill("");
    await assert.rejects(call("ada", "GET", "/users/@me/notes/1"), /: 500 /); // once, and then everything works as before
    await assert.rejects(call("ada", "GET", "/users/@me/notes/1"), /: 404 /);
    await page.getByLabel("Path").fill("/channels/*/messages");
    await page.getByLabel("Status").fill("429");
    await page.getByRole("button", { name: "Add" }).click();
    await page.getByRole("cell", { name: "429" }).waitFor();
    await assert.rejects(call("ada", "GET", `/channels/${server().channel}/messages`), /: 429 .*retry_after/);
    await page.getByLabel("Path").fill("/users/@me/notes/*");
    await page.getByRole("button", { name: "Add" }).click();
    await page.getByText("a simulated error is set for every request to /users/@me/notes/*").waitFor();
    await page.open(general());
    await page.getByText("a simulated error is set for").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("a simulated error is set for").waitFor({ state: "hidden" });
    await page.close();
  },

  async route_can_be_tried_with_a_form_as_the_bot() {
    const page = await enter(null);
    await page.open("/workbench/reference");
    await page.getByLabel("Search routes").fill("create_message");
    await page.locator("summary").filter({ has: page.getByText("/api/v10/channels/{channel.id}/messages", { exact: true }) }).click();
    await page.getByLabel("channel.id").fill(server().channel);
    await page.getByLabel("content", { exact: true }).fill("Said by a form");
    await page.getByLabel("embeds", { exact: true }).fill("[{");
    await page.getByLabel("Send as", { exact: true }).selectOption({ label: "As the bot helper" });
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByText("This is not valid JSON").waitFor();
    await page.getByLabel("embeds", { exact: true }).fill("");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByText(/^200 OK/).waitFor();
    const [said] = await call("bob", "GET", `/channels/${server().channel}/messages?limit=1`);
    assert.deepEqual([said.content, said.author.username], ["Said by a form", "helper"]);
    await page.close();
  },

  async hourly_figures_and_sessions_are_shown() {
    const page = await enter("ada");
    await call("ada", "GET", "/users/@me"); // a request to an account route
    await page.open("/workbench/health");
    await page.locator("figure").filter({ hasText: "Requests per second" }).first().waitFor();
    await page.getByRole("button", { name: "Accounts", exact: true }).click();
    await page.locator("figure").filter({ hasText: "Accounts: 99th percentile" }).waitFor();
    await page.turn("/workbench/sessions");
    await page.getByRole("row", { name: /helper bot 0\/1 guilds, guild_messages/ }).waitFor();
    await page.close();
  },

  async session_can_be_reconnected_and_closed() {
    const page = await enter("ada"), at = new URL(server().url), said = [];
    const socket = new WebSocket(`ws://${at.host}/?v=10&encoding=json`), closed = new Promise((go) => { socket.onclose = (e) => go(e.code); });
    socket.onmessage = (e) => {
      const { op, t, d } = JSON.parse(e.data);
      said.push([op, d]);
      if (op === 10) socket.send(JSON.stringify({ op: 2, d: { token: server().token("dara"), properties: {} } }));
      if (t === "READY") said.ready = true;
    };
    await until("it is there", () => said.ready);
    await page.open("/workbench/sessions");
    const push = async (what) => {
      await page.getByRole("row", { name: /^dara person/ }).getByRole("button", { name: "Reset…" }).click();
      await page.getByRole("dialog", { name: "Reset or close a session" }).getByRole("button", { name: what, exact: true }).click();
    };
    await push("Reconnect (op 7)");
    await until("the session was asked to reconnect", () => said.some(([op]) => op === 7));
    const again = new WebSocket(`ws://${at.host}/?v=10&encoding=json`), received = [];
    again.onmessage = (e) => {
      const { op, t, d } = JSON.parse(e.data);
      received.push([op, d, t]);
      if (op === 10) again.send(JSON.stringify({ op: 2, d: { token: server().token("cleo"), properties: {} } }));
    };
    const ended = new Promise((go) => { again.onclose = (e) => go(e.code); });
    await until("the other session is ready", () => received.some(([, , t]) => t === "READY"));
    await page.getByRole("row", { name: /^cleo person/ }).getByRole("button", { name: "Reset…" }).click();
    const dialog = page.getByRole("dialog", { name: "Reset or close a session" });
    await dialog.getByLabel("Close with a code").fill("4009");
    await dialog.getByRole("button", { name: "Close", exact: true }).last().click();
    assert.equal(await ended, 4009);
    socket.close();
    await closed;
    await page.close();
  },

  async button_click_works_while_its_table_is_redrawn() {
    const page = await enter("ada");
    await page.open("/workbench/sessions");
    await page.getByRole("row", { name: /^helper bot/ }).first().getByRole("button", { name: "Reset…" }).hover(); // the bot may have several sessions
    await page.mouse.down();
    await (await page.waitForResponse(/\/console\/sessions$/)).finished();
    await frames(page);
    await page.mouse.up();
    await page.getByRole("dialog", { name: "Reset or close a session" }).waitFor();
    await page.close();
  },

  async snapshot_is_saved_and_restored() {
    const page = await enter("ada");
    await page.open("/workbench/world");
    await page.getByLabel("Snapshot name").fill("../no");
    await page.getByRole("button", { name: "Create snapshot" }).click();
    await page.locator("[aria-invalid=true]").waitFor();
    await page.getByLabel("Snapshot name").fill("before");
    await page.getByRole("button", { name: "Create snapshot" }).click();
    await page.getByRole("cell", { name: "before", exact: true }).waitFor();
    await page.getByLabel("New account").fill("kim");
    await page.getByLabel("Password").fill("correct horse");
    await page.getByLabel("Password").press("Enter");
    await page.getByText("The account @kim was created").waitFor();
    await page.getByLabel("New server").fill("Kim’s shed");
    await page.getByLabel("New server").press("Enter");
    await page.getByRole("cell", { name: "Kim’s shed" }).waitFor();
    await page.getByLabel("New app").fill("Kettle");
    await page.getByLabel("New app").press("Enter");
    await page.getByRole("row", { name: /^Kettle/ }).getByRole("link", { name: "Add it to a server" }).waitFor();
    const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Export world" }).click()]);
    assert.ok(JSON.parse(readFileSync(await saved.path(), "utf8")).users.some((u) => u.username === "kim"));
    const choose = (world) => page.getByLabel("World file").setInputFiles({ name: "world.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify(world)) });
    await choose({ users: [{ username: 7 }] });
    await page.getByRole("button", { name: "Import" }).click();
    await page.getByText(/users\.0\.username/).first().waitFor();
    await choose({ users: [{ username: "lea", password: "correct horse" }], guilds: [{ name: "Lea’s", owner: "lea" }] });
    await page.getByRole("button", { name: "Import" }).click();
    await page.getByText(/Imported: 1 users, 1 guilds/).waitFor();
    await server().call(null, "POST", "/auth/login", { login: "lea", password: "correct horse" });
    await page.getByRole("row", { name: /^before \d/ }).getByRole("button", { name: "Restore" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Restore" }).click();
    await page.getByText("“before” was restored").waitFor();
    for (const login of ["lea", "kim"]) await assert.rejects(server().call(null, "POST", "/auth/login", { login, password: "correct horse" }), /400/);
    await page.open(general());
    await field(page).waitFor();
    await page.close();
  },

  async page_recovers_after_a_server_restart() {
    const page = await enter("ada");
    await page.open(general());
    await field(page).fill("Half a sentence");
    await server().kill();
    await page.getByText(/Connection lost/).waitFor();
    await server().restart("--workbench", "on", "--traffic", "8");
    await call("bob", "POST", `/channels/${server().channel}/messages`, { content: "While you were away" });
    await seen(page, "While you were away");
    await until("the bar is gone", async () => !(await page.getByText(/Connection lost|Connecting…/).isVisible()));
    assert.equal(await field(page).inputValue(), "Half a sentence");
    await say(page, "Back again");
    await seen(page, "Back again");
    await page.close();
  },

  async operator_handles_reports_bans_codes_and_announcements() {
    const said = await call("bob", "POST", `/channels/${server().channel}/messages`, { content: "Buy cheap gold" });
    const page = await enter("ada");
    await page.open(general());
    const article = page.getByRole("article").filter({ hasText: "Buy cheap gold" });
    await article.click({ button: "right" });
    await page.getByRole("menuitem", { name: "Report message" }).click();
    const asked = page.getByRole("dialog", { name: "Report message" });
    await asked.getByLabel("Comment (optional)").fill("He does this every day");
    await asked.getByRole("button", { name: "Report" }).click();
    await asked.waitFor({ state: "detached" });

    await page.open("/workbench/moderation");
    await page.getByRole("region", { name: "Reports" }).getByRole("button", { name: "Show" }).click();
    const report = page.getByRole("dialog", { name: "Report" });
    await report.getByText("Buy cheap gold").waitFor();
    await report.getByText("He does this every day").waitFor();
    await report.getByRole("button", { name: "Delete message" }).click();
    await page.getByText("No open reports.").waitFor();
    await assert.rejects(call("ada", "GET", `/channels/${server().channel}/messages/${said.id}`));

    const bans = page.getByRole("region", { name: "Banned addresses" });
    await bans.getByLabel("Range").fill("192.0.2.1/24");
    await bans.getByRole("button", { name: "Ban", exact: true }).click();
    await bans.getByText(/^write a range.*bits after the prefix must be zero/).waitFor();
    await bans.getByLabel("Range").fill("192.0.2.0/24");
    await bans.getByRole("button", { name: "Ban", exact: true }).click();
    await bans.getByRole("cell", { name: "192.0.2.0/24" }).waitFor();
    await bans.getByRole("button", { name: "Remove" }).click();
    await bans.getByText("Nothing here yet").waitFor();

    await page.getByRole("button", { name: "Create code" }).click();
    const link = await page.getByRole("dialog", { name: "Registration code" }).getByLabel("Link").inputValue();
    assert.match(link, /\/register\?invite=reg-/);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("button", { name: "Revoke" }).waitFor({ state: "detached" });

    const accounts = page.getByRole("region", { name: "Accounts" });
    await accounts.getByLabel("Username or ID").fill("nobody-at-all");
    await accounts.getByRole("button", { name: "Search" }).click();
    await accounts.getByText(/^there is no such account/).waitFor();
    await accounts.getByLabel("Username or ID").fill("cleo");
    await accounts.getByRole("button", { name: "Search" }).click();
    await accounts.getByText("active").waitFor();

    await page.getByLabel("Text", { exact: true }).fill("Maintenance at noon");
    await page.getByRole("button", { name: "Announce", exact: true }).click();
    await page.getByText(/Shown until .*Maintenance at noon/).waitFor();
    await picture(page, "console-moderation");
    const reader = await enter("bob");
    await reader.open(general());
    const banner = reader.locator(".bar.announcement");
    await banner.getByText("Maintenance at noon").waitFor();
    await banner.getByRole("button", { name: "Dismiss" }).click();
    await reader.reload();
    await field(reader).waitFor();
    await until("it stays dismissed", async () => !(await banner.isVisible()));
    await page.getByRole("button", { name: "Remove announcement" }).click();
    await page.getByText("No announcement is shown.").waitFor();
    await Promise.all([page.close(), reader.close()]);
  },
};
