// settings.js - tests friends, stages, GIFs, user settings and guild settings.
import assert from "node:assert/strict";
import { createPublicKey, verify } from "node:crypto";
import { createServer } from "node:http";
import { call, enter, frames, general, seen, server } from "./harness.js";
import { until } from "./demo_server.js";

const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
const picture = { name: "picture.png", mimeType: "image/png", buffer: PNG };
const register = (username) => server().call(null, "POST", "/auth/register", { username, password: "correct horse" });
/** Fills in the text field of a dialog. */
const write = async (page, title, text) => {
  await page.getByRole("dialog", { name: title }).getByRole("textbox").fill(text);
  await page.keyboard.press("Enter");
};

const BACK = "http://127.0.0.1:1/back";
/** Authorizes an app for a user; returns the app's access token. */
async function allow(who, { id, secret, scope }) {
  const { location } = await server().call(who, "POST", `/oauth2/authorize?client_id=${id}&response_type=code&redirect_uri=${encodeURIComponent(BACK)}&scope=${encodeURIComponent(scope)}`, { authorize: true });
  const body = new URLSearchParams({ grant_type: "authorization_code", code: new URL(location).searchParams.get("code"), redirect_uri: BACK, client_id: id, client_secret: secret });
  return (await (await fetch(`${server().api}/oauth2/token`, { method: "POST", body })).json()).access_token;
}

/** Runs an interactions endpoint that accepts signed requests and refuses others. */
async function endpoint(key, work) {
  const der = createPublicKey({ key: Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), Buffer.from(key, "hex")]), format: "der", type: "spki" });
  const app = createServer(async (request, answer) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const good = verify(null, Buffer.concat([Buffer.from(String(request.headers["x-signature-timestamp"])), ...parts]), der, Buffer.from(String(request.headers["x-signature-ed25519"]), "hex"));
    answer.writeHead(good ? 200 : 401, { "Content-Type": "application/json" }).end(good ? '{"type":1}' : "{}");
  });
  await new Promise((go) => app.listen(0, "127.0.0.1", go));
  try {
    await work(`http://127.0.0.1:${app.address().port}/`);
  } finally {
    app.close();
    app.closeAllConnections();
  }
}

export const TESTS = {
  async user_can_log_in_with_a_token() {
    const page = await enter(null);
    await page.open("/");
    await page.getByRole("tab", { name: "Use a token" }).click();
    await page.getByLabel("Token", { exact: true }).fill("nonsense");
    await page.getByRole("button", { name: "Log in with this token" }).click();
    await page.getByText(/Unauthorized/).waitFor();
    await page.getByLabel("Token", { exact: true }).fill(server().token("cleo"));
    await page.getByRole("button", { name: "Log in with this token" }).click();
    await page.getByText("@cleo").first().waitFor();
    await page.close();
  },

  async friends_can_be_nicknamed_annotated_ignored_and_blocked() {
    const ada = await enter("ada"), { token } = await register("zoe"), zoe = await server().call(token, "GET", "/users/@me"), tab = (name) => ada.getByRole("tab", { name }).click();
    const person = (name) => ada.locator(".person").filter({ hasText: name });
    const more = async (name, what) => {
      await person(name).getByRole("button", { name: /^More about/ }).click();
      await ada.getByRole("menuitem", { name: what }).click();
    };
    await ada.open("/friends");
    await server().call(token, "POST", "/users/@me/relationships", { username: "ada" });
    await tab(/Pending/);
    await person("zoe").getByRole("button", { name: "Accept" }).click();
    await ada.getByRole("dialog", { name: "Friend request from an unknown person" }).getByRole("button", { name: "Accept" }).click();
    await tab("All");
    await more("zoe", "Nickname");
    await write(ada, "Nickname", "Zed");
    await person("Zed").waitFor();
    await more("Zed", "Note");
    await write(ada, "Note", "Met at the bench");
    await person("Zed").locator(".person-name").click();
    for (const note of ["Met at the bench", "Met at the lathe"]) {
      await until("the note is in the profile", async () => (await ada.getByRole("textbox", { name: "Note" }).inputValue()) === note);
      await call("ada", "PUT", `/users/@me/notes/${zoe.id}`, { note: "Met at the lathe" }); // changed in another window
    }
    await ada.keyboard.press("Escape");
    await more("Zed", "Ignore");
    await tab("Ignored");
    await person("Zed").waitFor();
    await tab("All");
    await more("Zed", "Block");
    await person("Zed").waitFor({ state: "detached" });
    await tab("Blocked");
    await person("zoe").getByRole("button", { name: "Unblock" }).click();
    await person("zoe").waitFor({ state: "detached" });
    await ada.close();
  },

  async game_friends_show_the_name_of_their_game() {
    const ada = await enter("ada"), { token } = await register("max"), game = await call("ada", "POST", "/applications", { name: "Chess", redirect_uris: [BACK] }), { secret } = await call("ada", "POST", `/applications/${game.id}/reset`, {});
    const play = (who) => allow(who, { id: game.id, secret, scope: "identify relationships.read relationships.write" });
    const [bearer] = await Promise.all([token, server().token("ada")].map(play)); // both users play the game
    await server().call(`Bearer ${bearer}`, "POST", "/users/@me/game-relationships", { username: "ada" });
    await ada.open("/friends");
    await ada.getByRole("tab", { name: "Games" }).click();
    const row = ada.locator(".person").filter({ hasText: "Chess" });
    await row.getByRole("button", { name: "Accept" }).click();
    await row.getByText("in Chess · friend").waitFor();
    await row.getByRole("button", { name: "Remove" }).click();
    await row.waitFor({ state: "detached" });
    await ada.close();
  },

  async stage_audience_can_request_to_speak() {
    const stage = (await call("ada", "GET", `/guilds/${server().guild}/channels`)).find((c) => c.type === 13), path = `/channels/${server().guild}/${stage.id}`;
    const [ada, emil] = await Promise.all([enter("ada"), enter("emil")]);
    await Promise.all([ada.open(path), emil.open(path)]);
    await ada.getByRole("button", { name: "Start the stage" }).click();
    await write(ada, "Start the stage", "Dovetails");
    await emil.getByRole("heading", { name: "Dovetails" }).waitFor();
    await emil.getByRole("button", { name: "Join voice" }).click();
    const audience = ada.getByRole("region", { name: "Audience" }).locator(".voice-tile").filter({ hasText: "Emil" });
    await audience.waitFor();
    await emil.getByRole("button", { name: "Raise your hand" }).click();
    await audience.getByText("hand raised").waitFor();
    await audience.getByRole("button", { name: /Actions for/ }).click();
    await ada.getByRole("menuitem", { name: "Invite to speak" }).click();
    await ada.getByRole("region", { name: "Speakers" }).locator(".voice-tile").filter({ hasText: "Emil" }).waitFor();
    await emil.getByRole("button", { name: "Accept and speak" }).click();
    await emil.getByRole("button", { name: "Send effect" }).click();
    // The effect is visible only for a moment, so the page records it.
    await ada.evaluate(() => new MutationObserver(() => { window.effectCame ||= !!document.querySelector(".effect"); }).observe(document.body, { childList: true, subtree: true }));
    await emil.getByLabel("Search emoji").fill("tada");
    await emil.getByRole("button", { name: ":tada:" }).click();
    await until("the effect came", () => ada.evaluate(() => window.effectCame));
    await emil.getByRole("button", { name: "Back to the audience" }).click();
    await audience.waitFor();
    await audience.getByRole("button", { name: /Actions for/ }).click();
    await ada.getByRole("menuitem", { name: "Move to Tea table" }).click();
    await audience.waitFor({ state: "detached" });
    await emil.locator(".voice-bar").getByText("Tea table").waitFor();
    await ada.getByRole("button", { name: "End the stage" }).click();
    await ada.getByText("Evening talks").first().waitFor();
    await Promise.all([ada.close(), emil.close()]);
  },

  async gif_is_searched_chosen_and_sent() {
    const page = await enter("ada"), address = `${server().url}/gifs/hello.gif`;
    // The demo's GIF catalogue is empty, so the server's replies are simulated.
    const found = [{ id: "g1", title: "Waving", url: address, src: address, gif_src: address, preview: address, width: 1, height: 1 }];
    let release;
    const held = new Promise((go) => { release = go; });
    await page.route(/\/gifs\/search/, (route) => route.fulfill({ json: found }));
    await page.route(/\/gifs\/trending-gifs/, async (route) => { await held; await route.fulfill({ json: found }); });
    await page.route(/\/gifs\/suggest/, (route) => route.fulfill({ json: ["hello there"] }));
    await page.route(/\/gifs\/trending\?/, (route) => route.fulfill({ json: { categories: [{ name: "cats", src: address }], gifs: [] } }));
    await page.route(/\/gifs\/hello\.gif/, (route) => route.fulfill({ contentType: "image/png", body: PNG }));
    await page.open(general());
    await page.getByRole("button", { name: "GIFs" }).click();
    const box = page.getByRole("dialog", { name: "GIFs" });
    await box.getByRole("button", { name: "cats" }).waitFor();
    await box.getByLabel("Search GIFs").fill("hello");
    await box.getByRole("button", { name: "hello there" }).waitFor();
    const late = page.waitForResponse(/\/gifs\/trending-gifs/);
    release(); // the earlier reply arrives last and is not shown
    await (await late).finished();
    await frames(page);
    const chosen = page.waitForRequest((r) => r.url().endsWith("/gifs/select"));
    await box.getByRole("button", { name: "Waving" }).click();
    assert.deepEqual((await chosen).postDataJSON(), { id: "g1", q: "hello" });
    await until("the GIF was sent", async () => (await call("ada", "GET", `/channels/${server().channel}/messages?limit=1`))[0].content === address);
    await page.close();
  },

  async user_settings_are_stored() {
    await register("kay");
    const page = await enter(null), login = () => server().call(null, "POST", "/auth/login", { login: "kay", password: "correct horse" }), { token } = await login(), other = await login();
    await page.open("/");
    await page.evaluate((text) => sessionStorage.setItem("token", text), token);
    await page.open("/settings/profile");
    await page.getByLabel("Display name").fill("Kay of the lathe");
    await page.getByLabel("Picture").setInputFiles(picture);
    await page.getByRole("dialog", { name: "Edit picture" }).getByRole("button", { name: "Apply" }).click();
    await page.getByRole("button", { name: "Save" }).first().click();
    await page.getByText("Done").waitFor();
    const me = await server().call(token, "GET", "/users/@me");
    assert.equal(me.global_name, "Kay of the lathe");
    assert.ok(me.avatar);
    await page.turn("/settings/privacy");
    for (const who of ["Everyone", "Friends of friends"]) await page.getByLabel(who).uncheck();
    await page.getByRole("button", { name: "Save" }).first().click();
    await until("the setting is stored", async () => (await server().call(token, "GET", "/users/@me/settings")).friend_source_flags.mutual_friends === false);
    await page.turn("/settings/sessions");
    const logins = page.locator("tbody tr"); // logins of the registration, of this window, of the other
    await logins.nth(2).waitFor();
    assert.deepEqual(await Promise.all([0, 1, 2].map(async (i) => [/this session/.test(await logins.nth(i).textContent()), await logins.nth(i).getByRole("button").textContent()])), [[false, "Log out"], [true, "Log out"], [false, "Log out"]]);
    await logins.nth(2).getByRole("button", { name: "Log out" }).click();
    await page.getByRole("dialog", { name: "Log out of this session" }).getByRole("button", { name: "Log out" }).click();
    const dialog = page.getByRole("dialog", { name: "Password" });
    await dialog.getByRole("button", { name: "Confirm" }).click();
    await dialog.getByText("Please fill this in").waitFor(); // the password proves who it is
    await dialog.getByLabel("Password").fill("correct horse");
    await dialog.getByRole("button", { name: "Confirm" }).click();
    await dialog.waitFor({ state: "detached" });
    await logins.nth(2).waitFor({ state: "detached" });
    await assert.rejects(server().call(other.token, "GET", "/users/@me"), /401/);
    await logins.nth(1).getByRole("button", { name: "Log out" }).click();
    await page.getByRole("tab", { name: "Log in" }).waitFor();
    await assert.rejects(server().call(token, "GET", "/users/@me"), /401/);
    await page.close();
  },

  async app_is_created_with_a_token_and_a_tested_endpoint() {
    const page = await enter("ada");
    await page.open("/settings/apps");
    await page.getByLabel("Name").fill("Sundial");
    await page.getByRole("button", { name: "Create" }).click();
    await page.getByRole("heading", { name: "Sundial" }).waitFor();
    await page.getByRole("button", { name: "New token" }).click();
    await page.getByRole("dialog", { name: "New token" }).getByRole("button", { name: "New token" }).click();
    const shown = page.getByRole("dialog", { name: "The bot’s token" });
    const token = await shown.locator(".secret").textContent();
    assert.equal((await server().call(`Bot ${token}`, "GET", "/users/@me")).bot, true);
    let release;
    const clicked = new Promise((go) => { release = go; }); // nothing is redrawn during the click
    await page.route("**/application-command-index", (r) => clicked.then(() => r.continue()));
    await shown.getByRole("button", { name: "Close" }).click();
    release();
    assert.match(await page.getByLabel("Install link").inputValue(), /\/oauth2\/authorize\?client_id=\d+&scope=bot/);
    await page.getByLabel("URL").fill("http://127.0.0.1:9/");
    await page.getByRole("button", { name: "Save and test" }).click();
    await page.locator("[aria-invalid=true]").waitFor();
    await endpoint(await page.locator("code").filter({ hasText: /^[0-9a-f]{64}$/ }).textContent(), async (url) => {
      await page.getByLabel("URL").fill(url);
      await page.getByRole("button", { name: "Save and test" }).click();
      await page.getByText("The endpoint answers correctly").waitFor();
    });
    await page.turn("/settings/teams");
    await page.getByLabel("Name").fill("Clockmakers");
    await page.getByRole("button", { name: "Create" }).click();
    await page.getByLabel("Invite a user").fill("bob");
    await page.getByRole("button", { name: "Invite", exact: true }).click();
    await page.getByRole("cell", { name: "@bob (invited)" }).waitFor();
    await page.close();
  },

  async guild_settings_pages_work() {
    const made = await call("ada", "POST", "/guilds", { name: "The Attic" }), page = await enter("ada");
    const tab = async (name) => {
      await page.turn(`/channels/${made.id}/settings/${name}`);
      await page.locator(".page:not([data-old]) .settings-body > div > *").first().waitFor();
    };
    const channel = (await call("ada", "GET", `/guilds/${made.id}/channels`)).find((c) => c.type === 0), invite = await call("ada", "POST", `/channels/${channel.id}/invites`, {});
    for (const who of ["bob", "cleo"]) await call(who, "POST", `/invites/${invite.code}`, {});
    const row = (name) => page.getByRole("row", { name });
    await page.open(`/channels/${made.id}/settings/roles`);
    await page.getByLabel("Name").fill("Sweepers");
    await page.getByRole("button", { name: "Create" }).click();
    await row(/^Sweepers/).getByRole("button", { name: "Edit" }).click();
    const role = page.getByRole("dialog", { name: "Sweepers" });
    await role.getByLabel("Manage messages").check();
    await role.getByLabel("Display separately in the member list").check();
    await role.getByRole("button", { name: "Save" }).click();
    await role.waitFor({ state: "detached" });
    const stored = (await call("ada", "GET", `/guilds/${made.id}/roles`)).find((r) => r.name === "Sweepers");
    assert.deepEqual([(BigInt(stored.permissions) & 0x2000n) !== 0n, stored.hoist], [true, true]);
    await tab("members");
    await row(/^@bob/).getByRole("button", { name: "Edit" }).click();
    const member = page.getByRole("dialog", { name: "bob" });
    await member.getByLabel("Sweepers").check();
    await member.getByLabel("Nickname").fill("Broom");
    await member.getByRole("button", { name: "Save" }).click();
    await member.waitFor({ state: "detached" });
    await row(/^@bob Broom Sweepers/).waitFor();
    await row(/^@cleo/).getByRole("button", { name: "Kick" }).click();
    await page.getByRole("dialog", { name: "Kick" }).getByRole("button", { name: "Kick" }).click();
    const bob = await call("bob", "GET", "/users/@me");
    await call("ada", "PUT", `/guilds/${made.id}/bans/${bob.id}`, {});
    await tab("bans");
    await row(/^@bob/).getByRole("button", { name: "Revoke ban" }).click();
    await page.getByRole("dialog", { name: "Revoke ban" }).getByRole("button", { name: "Revoke ban" }).click();
    await row(/^@bob/).waitFor({ state: "detached" });
    await tab("webhooks");
    await page.getByLabel("Name").fill("Postman");
    await page.getByRole("button", { name: "Create" }).click();
    await row(/^Postman #/).waitFor();
    await tab("emoji");
    await page.getByLabel("Name").fill("broom");
    await page.getByLabel("Picture").setInputFiles(picture);
    await page.getByRole("button", { name: "Add" }).click();
    await page.getByText(":broom:", { exact: true }).waitFor();
    await tab("invites");
    await row(new RegExp(`^${invite.code}`)).getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("dialog", { name: "Revoke invite" }).getByRole("button", { name: "Revoke" }).click();
    await row(new RegExp(`^${invite.code}`)).waitFor({ state: "detached" });
    await tab("log");
    for (const words of ["created a role Sweepers", "kicked cleo", "unbanned bob", "created a webhook", "created an emoji", "deleted an invite"]) await page.getByRole("cell", { name: words }).first().waitFor();
    await tab("overview");
    await page.getByLabel("Name").fill("The Cellar");
    await page.getByRole("button", { name: "Save" }).first().click();
    await until("the guild has its new name", async () => (await call("ada", "GET", `/guilds/${made.id}`)).name === "The Cellar");
    await page.close();
  },

  async older_reply_never_replaces_a_newer_one() {
    const made = await call("ada", "POST", "/guilds", { name: "The Loft" }), page = await enter("ada"), row = (invite) => page.getByRole("row", { name: new RegExp(`^${invite.code}`) });
    const channel = (await call("ada", "GET", `/guilds/${made.id}/channels`)).find((c) => c.type === 0), invites = await Promise.all([1, 2].map((n) => call("ada", "POST", `/channels/${channel.id}/invites`, { unique: true, max_uses: n })));
    let release, read = 0;
    const held = new Promise((go) => { release = go; });
    await page.open(`/channels/${made.id}/settings/invites`);
    await row(invites[1]).waitFor();
    await page.route(`**/guilds/${made.id}/invites`, async (route) => {
      const response = await route.fetch();
      if (++read === 1) await held;
      await route.fulfill({ response });
    });
    const revoke = async (invite) => {
      await row(invite).getByRole("button", { name: "Revoke" }).click();
      await page.getByRole("dialog", { name: "Revoke invite" }).getByRole("button", { name: "Revoke" }).click();
    };
    await revoke(invites[0]);
    await until("the list was read with one of them", () => read === 1);
    await revoke(invites[1]);
    await row(invites[1]).waitFor({ state: "detached" });
    const answered = page.waitForEvent("requestfinished", (r) => r.method() === "GET" && r.url().endsWith("/invites"));
    release();
    await answered;
    await frames(page);
    assert.equal(await row(invites[1]).count(), 0);
    await page.close();
  },

  async authorizations_and_connections_can_be_removed() {
    const page = await enter("ada"), guild = await call("ada", "POST", "/guilds", { name: "The Shed" }), row = (name) => page.getByRole("row", { name });
    const app = await call("ada", "POST", "/applications", { name: "Diary", redirect_uris: [BACK] }), { secret } = await call("ada", "POST", `/applications/${app.id}/reset`, {}), roles = () => call("ada", "GET", `/guilds/${guild.id}/roles`);
    await call("ada", "POST", `/applications/${app.id}/bot`, {});
    await allow(server().token("ada"), { id: app.id, secret, scope: "identify" });
    await call("ada", "POST", `/oauth2/authorize?client_id=${app.id}&scope=bot`, { authorize: true, guild_id: guild.id });
    for (const name of ["Lower", "Upper"]) await call("ada", "POST", `/guilds/${guild.id}/roles`, { name });
    await page.open("/settings/grants");
    await row(/Diary identify/).getByRole("button", { name: "Remove" }).click();
    await page.getByRole("dialog", { name: "Remove" }).getByRole("button", { name: "Remove" }).click();
    await row(/Diary/).waitFor({ state: "detached" });
    assert.ok(!(await call("ada", "GET", "/oauth2/tokens")).some((g) => g.application.id === app.id));
    await page.turn(`/channels/${guild.id}/settings/integrations`);
    await row(/^Diary/).getByRole("button", { name: "Remove" }).click();
    await page.getByRole("dialog", { name: "Remove" }).getByRole("button", { name: "Remove" }).click();
    await row(/^Diary/).waitFor({ state: "detached" });
    assert.deepEqual(await call("ada", "GET", `/guilds/${guild.id}/integrations`), []);
    await page.turn(`/channels/${guild.id}/settings/roles`);
    const [upper] = (await roles()).filter((r) => /Lower|Upper/.test(r.name)).sort((a, b) => b.position - a.position), rank = async () => (await roles()).find((r) => r.id === upper.id).position;
    await row(new RegExp(`^${upper.name}`)).getByRole("button", { name: `Move ${upper.name} down` }).click();
    await until("the role is below the other", async () => (await rank()) < upper.position);
    // The demo has no external platform, so the server's replies are simulated.
    const connection = { type: "platform_a", id: "7", name: "ada.elsewhere", visibility: 1 }, asked = [];
    await page.route(/\/users\/@me\/connections/, (route) => {
      if (route.request().method() !== "GET") asked.push([route.request().method(), route.request().postDataJSON()]);
      return asked.length === 2 ? route.fulfill({ json: [] }) : route.fulfill({ json: [{ ...connection, visibility: asked.length ? 0 : 1 }] });
    });
    await page.turn("/settings/connections");
    await row(/^platform_a ada.elsewhere Visible to everyone/).getByRole("button", { name: "Hide" }).click();
    await row(/^platform_a ada.elsewhere Visible only to you/).getByRole("button", { name: "Remove" }).click();
    await row(/^platform_a/).waitFor({ state: "detached" });
    assert.deepEqual(asked, [["PATCH", { visibility: 0 }], ["DELETE", null]]);
    await page.close();
  },

  async friend_suggestions_can_be_requested_or_dismissed() {
    const page = await enter("ada"), { token } = await register("una"), una = await server().call(token, "GET", "/users/@me"), dismissed = [];
    // Friend suggestions come from address books, which need phone numbers, so they are simulated.
    await page.route(/\/friend-suggestions/, (route) => {
      if (route.request().method() === "DELETE") dismissed.push(route.request().url());
      return dismissed.length ? route.fulfill({ json: [] }) : route.fulfill({ json: [{ suggested_user: una, mutual_friends_count: 3, reasons: [] }] });
    });
    await page.open("/friends");
    await page.getByRole("tab", { name: /Suggestions/ }).click();
    const row = page.locator(".person").filter({ hasText: "una" });
    await row.getByText("3 friends in common").waitFor();
    await row.getByRole("button", { name: "Dismiss" }).click();
    await row.waitFor({ state: "detached" });
    assert.equal(dismissed.length, 1);
    await page.close();
  },

  async command_permissions_are_set_in_the_guild_settings() {
    const page = await enter("ada"), emil = await enter("emil");
    await page.open(`/channels/${server().guild}/settings/commands`);
    await page.getByRole("row", { name: /^\/roll/ }).getByRole("button", { name: "Permissions" }).click();
    const dialog = page.getByRole("dialog", { name: "roll" });
    await dialog.getByLabel("Search members").fill("emil");
    await dialog.getByRole("button", { name: /emil/ }).click();
    await dialog.getByLabel("emil", { exact: true }).selectOption({ label: "denied" });
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    await emil.open(general());
    await emil.getByRole("textbox", { name: /^Message / }).fill("/");
    await emil.getByRole("option", { name: /\/ask/ }).waitFor();
    assert.equal(await emil.getByRole("option", { name: /\/roll/ }).count(), 0);
    await Promise.all([page.close(), emil.close()]);
  },
};
