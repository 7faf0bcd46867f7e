// everyday_use.js - tests registration, login, messages, friends, voice, two-factor authentication and
// links.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { readQr } from "./qr_reader.js";
import { browserSideOf, call, enter, field, frames, general, options, say, seen, server } from "./harness.js";
import { Server, Speaker, until } from "./demo_server.js";

/** Returns the current code of an authenticator app. */
function codeOf(secret) {
  const bits = [...secret].map((c) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(c).toString(2).padStart(5, "0")).join("");
  const key = Buffer.from(bits.match(/.{8}/g).map((b) => parseInt(b, 2))), count = Buffer.alloc(8);
  count.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30000)));
  const mac = createHmac("sha1", key).update(count).digest(), at = mac[19] & 15;
  return String((mac.readUInt32BE(at) & 0x7fffffff) % 1000000).padStart(6, "0");
}

/** Returns the modules of a QR code image, without the margin. */
async function modulesOf(locator) {
  const { size, d } = await locator.evaluate((svg) => ({ size: svg.viewBox.baseVal.width, d: svg.querySelector("path").getAttribute("d") }));
  const rows = Array.from({ length: size - 8 }, () => new Array(size - 8).fill(false));
  for (const [, c, r] of d.matchAll(/M(\d+) (\d+)h1v1h-1z/g)) rows[r - 4][c - 4] = true;
  return rows;
}

export const TESTS = {
  async users_register_and_log_in_with_the_form() {
    const page = await enter(null);
    await page.open("/");
    await page.getByRole("tab", { name: "Register" }).click();
    await page.getByLabel("Username").fill("ada");
    await page.getByLabel("Password").fill("correct horse");
    await page.getByRole("button", { name: "Register" }).click();
    await page.locator("[aria-invalid=true]").waitFor(); // the server's error is shown at the field
    await page.getByLabel("Username").fill("gwen");
    await page.getByRole("button", { name: "Register" }).click();
    await page.getByRole("heading", { name: "Friends" }).waitFor();
    await page.route("**/auth/logout", async (route) => { const response = await route.fetch(); setTimeout(() => route.fulfill({ response }), 500); }); // other events may arrive before
    await page.getByTitle("Status").click();
    await page.getByRole("menuitem", { name: "Log out" }).click();
    await page.getByLabel("Username or email").fill("gwen");
    assert.equal(await page.getByText("The token is no longer good").count(), 0);
    await page.getByLabel("Password").fill("correct horse");
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("heading", { name: "Friends" }).waitFor();
    await page.close();
  },

  async user_registers_with_an_invitation_code() {
    const asking = new Server(options.executable), page = await enter(null, { elsewhere: true });
    try {
      await asking.begin("--registration", "invite");
      const code = JSON.parse(execFileSync(options.executable, ["invite", "create", "--json", "--data", asking.data], { encoding: "utf8" })).code;
      const register = async (name) => {
        await page.getByLabel("Username").fill(name);
        await page.getByLabel("Password").fill("correct horse");
        await page.getByRole("button", { name: "Register" }).click();
      };
      await page.goto(`${asking.url}/register`);
      await page.getByText("This server requires an invitation code.").waitFor();
      await register("gwen");
      await page.locator(".field", { hasText: "Invitation code" }).getByText("asks for an invitation code").waitFor(); // the server's refusal, at its field
      await page.getByLabel("Invitation code").fill("reg-nonsense");
      await register("gwen");
      await page.locator(".field", { hasText: "Invitation code" }).getByText("is not valid, or it has expired").waitFor();
      await page.goto(`${asking.url}/invite/${code}`);
      await until("the code is filled in", async () => (await page.getByLabel("Invitation code").inputValue()) === code);
      await register("gwen");
      await page.getByRole("heading", { name: "Friends" }).waitFor();
      await page.goto(`${asking.url}/invite/${code}`);
      await page.getByRole("heading", { name: "This link is for registering a new account" }).waitFor();
    } finally {
      await asking.end();
      await page.close();
    }
  },

  async closed_server_shows_that_registration_is_closed() {
    const closed = new Server(options.executable), page = await enter(null, { elsewhere: true });
    try {
      await closed.begin("--registration", "closed");
      await page.goto(`${closed.url}/register`);
      await page.getByText("Registration is closed on this server.").waitFor();
      assert.equal(await page.getByRole("button", { name: "Register" }).count(), 0);
    } finally {
      await page.close(); // the page may still be loading the application
      await closed.end();
    }
  },

  async pressed_buttons_do_not_move() {
    const page = await enter(null);
    let release;
    const held = new Promise((go) => { release = go; });
    await page.route("**/console/people", async (route) => { await held; await route.continue(); });
    await page.open("/");
    await page.getByRole("tab", { name: "Register" }).hover();
    await page.mouse.down();
    const late = page.waitForResponse("**/console/people");
    release();
    await (await late).finished();
    await frames(page);
    await page.mouse.up();
    await page.getByLabel("Display name").waitFor();
    await page.getByRole("button", { name: "Ada" }).waitFor();
    await page.close();
  },

  async pages_of_mailed_links_hide_their_tokens() {
    const page = await enter(null);
    await page.open("/verify#token=1.x"); // the demo sends no mail, so no link is valid
    await page.getByRole("heading", { name: "This link has expired or was already used" }).waitFor();
    assert.equal(new URL(page.url()).hash, "");
    await page.open("/reset#token=1.x");
    await page.getByRole("heading", { name: "New password" }).waitFor();
    assert.equal(new URL(page.url()).hash, "");
    await page.getByLabel("Password").fill("another horse");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("temporarily disabled").waitFor();
    await page.open("/claim#token=claim-x");
    await page.getByRole("heading", { name: "Claim your account" }).waitFor();
    assert.equal(new URL(page.url()).hash, "");
    await page.getByLabel("Password").fill("another horse");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("The code is wrong, used or expired. Ask for a new one.").waitFor();
    await page.open("/");
    await page.getByRole("button", { name: "Forgot your password?" }).click();
    await page.getByLabel("Username or email").fill("ada");
    await page.getByRole("button", { name: "Send reset link" }).click();
    await page.getByText("temporarily disabled").waitFor();
    await page.close();
  },

  async copied_account_is_claimed_by_a_log_in_at_the_other_server() {
    const page = await enter(null), bodies = [], asked = [];
    await page.open("/claim"); // the demo has no other server
    await page.getByText("Open the link in the direct message").waitFor();
    assert.equal(await page.getByRole("button", { name: /Continue with/ }).count(), 0);
    await page.route("**/policies/instance/config", (route) => route.fulfill({ json: { claim_from: "other.example", register_disabled: true } }));
    await page.route("**/auth/claim/identity", (route) => { asked.push("start"); return route.fulfill({ json: { url: `${new URL(page.url()).origin}/claim?code=c0de&state=st4te`, proof: "pr00f" } }); });
    await page.route("**/auth/claim/identity/callback", (route) => {
      bodies.push(route.request().postDataJSON());
      return bodies.length === 1
        ? route.fulfill({ json: { code: "claim-x", username: "cleo" } })
        : route.fulfill({ status: 400, json: { code: 50035, message: "Invalid Form Body", errors: { state: { _errors: [{ code: "CLAIM_STATE_INVALID", message: "Start again." }] } } } });
    });
    await page.open("/register");
    await page.getByRole("link", { name: "Claim your account" }).click();
    await page.getByRole("button", { name: "Continue with other.example" }).click();
    await page.getByRole("heading", { name: "Claim the account cleo" }).waitFor();
    assert.deepEqual(bodies, [{ state: "st4te", code: "c0de", proof: "pr00f" }]);
    assert.equal(new URL(page.url()).search, ""); // the address shows neither code nor state
    await page.getByLabel("Password").fill("another horse");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("The code is wrong, used or expired. Ask for a new one.").waitFor();
    // A link of somebody else: this tab has no proof.
    await page.open("/claim?code=c0de&state=theirs");
    await page.getByText("Start again.").waitFor();
    assert.equal(bodies[1].proof, "none");
    await page.open("/claim?error=access_denied&state=st4te");
    await page.getByText("You have not allowed the log-in").waitFor();
    assert.equal(bodies.length, 2);
    assert.deepEqual(asked, ["start"]);
    await page.close();
  },

  async demo_users_can_log_in_with_one_click() {
    const page = await enter(null);
    await page.open("/");
    await page.getByRole("button", { name: "Ada" }).click();
    await page.getByRole("heading", { name: "Friends" }).waitFor();
    await page.getByText("@ada").first().waitFor();
    await page.close();
  },

  async two_users_see_messages_of_each_other() {
    const [ada, bob] = await Promise.all([enter("ada"), enter("bob")]);
    await Promise.all([ada.open(general()), bob.open(general())]);
    // Online members are shown, also those who are not friends: the bot and Bob.
    for (const name of ["helper", "Bob"]) await ada.locator(".member:not(.offline)").filter({ hasText: name }).waitFor();
    await say(ada, "Hello Bob, **how** are you?");
    await bob.getByText("Hello Bob,").waitFor();
    assert.equal(await bob.locator(".text strong").last().textContent(), "how");
    await field(bob).pressSequentially("I");
    await ada.getByText(/is typing/).waitFor();
    await say(bob, "Well!");
    await seen(ada, "Well!");
    await ada.getByRole("article").last().hover();
    await ada.getByRole("button", { name: "React with 👍" }).last().click();
    await bob.getByRole("button", { name: "👍, 1" }).click();
    await ada.getByRole("button", { name: "👍, 2" }).waitFor();
    await field(bob).press("ArrowUp");
    await bob.getByLabel("Edit message").fill("Very well!");
    await bob.getByLabel("Edit message").press("Enter");
    await field(bob).fill("And you?");
    await ada.getByText("(edited)").waitFor();
    assert.equal(await field(bob).inputValue(), "And you?"); // the draft is not part of the edited message
    await call("bob", "POST", `/channels/${server().channel}/messages`, { poll: { question: { text: "Oak or larch?" }, answers: [{ poll_media: { text: "Oak" } }, { poll_media: { text: "Larch" } }], duration: 1 } });
    await ada.getByRole("button", { name: "Larch" }).click();
    await bob.getByRole("button", { name: "Larch 1" }).waitFor();
    await field(ada).fill("");
    await ada.locator("input[type=file]").first().setInputFiles({ name: "plan.txt", mimeType: "text/plain", buffer: Buffer.from("oak") });
    await say(ada, "The plan");
    await bob.getByRole("link", { name: "plan.txt" }).waitFor();
    await Promise.all([ada.close(), bob.close()]);
  },

  async messages_sent_while_a_channel_opens_are_shown() {
    const page = await enter("ada");
    let release, read = false;
    const held = new Promise((go) => { release = go; });
    await call("bob", "POST", `/channels/${server().channel}/messages`, { content: "Said before" });
    await page.route(/\/messages\?limit=50/, async (route) => {
      const response = await route.fetch();
      read = true;
      await held;
      await route.fulfill({ response });
    });
    await page.open(general());
    await until("the messages were read", () => read);
    await call("bob", "POST", `/channels/${server().channel}/messages`, { content: "Said meanwhile" });
    await seen(page, "Said meanwhile");
    release();
    await seen(page, "Said before");
    assert.match(await page.locator("article").last().textContent(), /Said meanwhile/);
    await page.close();
  },

  async changes_made_while_a_channel_opens_are_shown() {
    const page = await enter("ada");
    let release, read = false;
    const held = new Promise((go) => { release = go; });
    const showState = (content) => call("bob", "POST", `/channels/${server().channel}/messages`, { content });
    const [edited, liked, gone] = [await showState("Six legs"), await showState("A table"), await showState("Nobody wants this")];
    await page.route(/\/messages\?limit=50/, async (route) => {
      const response = await route.fetch();
      read = true;
      await held;
      await route.fulfill({ response });
    });
    await page.open(general());
    await until("the messages were read", () => read);
    await call("bob", "PATCH", `/channels/${server().channel}/messages/${edited.id}`, { content: "Four legs" });
    await call("bob", "PUT", `/channels/${server().channel}/messages/${liked.id}/reactions/%F0%9F%91%8D/@me`);
    await call("bob", "DELETE", `/channels/${server().channel}/messages/${gone.id}`);
    await showState("Told last");
    await seen(page, "Told last"); // and thereby all earlier events
    release();
    await seen(page, "Four legs");
    await page.locator(`[data-id="${liked.id}"]`).getByRole("button", { name: "👍, 1" }).waitFor();
    assert.equal(await page.getByText(/Six legs|Nobody wants this/).count(), 0);
    await page.close();
  },

  async unread_channels_are_marked_in_a_new_window() {
    const me = await call("ada", "GET", "/users/@me");
    const ada = await enter("ada");
    await ada.open(general());
    await field(ada).waitFor();
    await until("the read state is stored", async () => {
      const acked = ada.waitForResponse((r) => r.url().endsWith("/ack") && r.ok());
      await call("bob", "POST", `/channels/${server().channel}/messages`, { content: "Read at once" });
      return acked;
    });
    await ada.close();
    await call("bob", "POST", `/channels/${server().channel}/messages`, { content: `Read later <@${me.id}>` });
    const later = await enter("ada");
    await later.open("/friends");
    await later.getByRole("link", { name: "The Workshop, unread" }).click();
    await later.getByRole("link", { name: "general, 1 unread" }).click();
    await seen(later, "Read later");
    await later.getByRole("link", { name: "The Workshop", exact: true }).waitFor();
    await later.close();
  },

  async friend_request_is_sent_and_accepted() {
    const [ada, bob] = await Promise.all([enter("ada"), enter("bob")]);
    await server().call(null, "POST", "/auth/register", { username: "hal", password: "correct horse" });
    await Promise.all([ada.open("/friends"), bob.open("/friends")]);
    await ada.getByLabel("Add friend").fill("nobody.at.all");
    await ada.getByRole("button", { name: "Send request" }).click();
    await ada.locator("[aria-invalid=true]").waitFor();
    await call("ada", "DELETE", `/users/@me/relationships/${(await call("bob", "GET", "/users/@me")).id}`);
    await ada.getByLabel("Add friend").fill("bob");
    await ada.getByRole("button", { name: "Send request" }).click();
    await bob.getByRole("tab", { name: /Pending/ }).click();
    await bob.getByRole("button", { name: "Accept" }).click();
    await bob.getByRole("tab", { name: "All" }).click();
    await bob.getByRole("button", { name: "Message Ada" }).click();
    await say(bob, "Friends again");
    await ada.getByRole("link", { name: /Bob/ }).first().click();
    await seen(ada, "Friends again");
    await Promise.all([ada.close(), bob.close()]);
  },

  async voice_channel_shows_both_users() {
    const [ada, bob] = await Promise.all([enter("ada"), enter("bob")]);
    for (const page of [ada, bob]) {
      await page.open(general());
      await page.getByRole("link", { name: "Tea table" }).click();
      await page.getByRole("button", { name: "Join voice" }).click();
      await page.getByRole("group", { name: "Voice", exact: true }).getByText("Voice connected").waitFor();
    }
    const tiles = (page) => page.getByRole("region", { name: "Connected members" }).locator(".voice-tile");
    for (const page of [ada, bob]) await until("both are seen", async () => (await tiles(page).count()) === 2);
    await ada.getByRole("button", { name: "Mute", exact: true }).first().click();
    await tiles(bob).filter({ hasText: "Ada" }).getByText("muted").waitFor();
    await ada.getByRole("button", { name: "Leave voice" }).click();
    await until("one is left", async () => (await tiles(bob).count()) === 1);
    await bob.getByRole("button", { name: "Leave voice" }).click();
    await Promise.all([ada.close(), bob.close()]);
  },

  async speaking_users_are_highlighted() {
    const ada = await enter("ada"), channels = await call("ada", "GET", `/guilds/${server().guild}/channels`);
    const room = channels.find((c) => c.name === "Tea table").id, bob = new Speaker(server(), "bob", room);
    await bob.begin();
    await ada.open(`/channels/${server().guild}/${room}`);
    await ada.getByRole("button", { name: "Join voice" }).click();
    const tile = ada.getByRole("region", { name: "Connected members" }).locator(".voice-tile").filter({ hasText: "Bob" });
    const speaking = tile.and(ada.locator(".speaking"));
    bob.speaks(1);
    await speaking.waitFor();
    assert.equal(await ada.locator(".voice-person.speaking").filter({ hasText: "Bob" }).count(), 1);
    bob.speaks(0);
    await speaking.waitFor({ state: "detached" });
    assert.equal(await ada.locator(".voice-person.speaking").filter({ hasText: "Bob" }).count(), 0);
    // A user who joins later sees who is already speaking.
    bob.speaks(1);
    await speaking.waitFor();
    await ada.getByRole("button", { name: "Leave voice" }).click();
    await speaking.waitFor({ state: "detached" });
    await ada.getByRole("button", { name: "Join voice" }).click();
    await speaking.waitFor();
    bob.end();
    await ada.getByRole("button", { name: "Leave voice" }).click();
    await ada.close();
  },

  async stream_shows_its_preview_image() {
    const channels = await call("ada", "GET", `/guilds/${server().guild}/channels`);
    const room = channels.find((c) => c.name === "Tea table").id, bob = new Speaker(server(), "bob", room);
    await bob.begin();
    bob.main.send(JSON.stringify({ op: 18, d: { type: "guild", guild_id: server().guild, channel_id: room } }));
    const key = `guild:${server().guild}:${room}:${(await call("bob", "GET", "/users/@me")).id}`;
    const thumbnail = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    await until("the stream has a preview", () => call("bob", "POST", `/streams/${encodeURIComponent(key)}/preview`, { thumbnail }).then(() => true, () => false));
    const ada = await enter("ada");
    await ada.open(`/channels/${server().guild}/${room}`);
    await ada.getByRole("img", { name: /^Stream of Bob/ }).waitFor();
    bob.end();
    await ada.close();
  },

  async second_factor_is_enabled_used_and_disabled() {
    const page = await enter(null);
    await server().call(null, "POST", "/auth/register", { username: "jon", password: "correct horse" });
    await page.open("/");
    const login = async () => {
      await page.getByLabel("Username or email").fill("jon");
      await page.getByLabel("Password").fill("correct horse");
      await page.getByRole("button", { name: "Log in" }).click();
    };
    await login();
    await page.getByRole("heading", { name: "Friends" }).waitFor();
    await page.open("/settings/security");
    const secret = (await page.getByRole("group", { name: "Key" }).textContent()).replaceAll(" ", "");
    assert.match(secret, /^[A-Z2-7]{32}$/);
    const scanned = readQr(await modulesOf(page.getByRole("img", { name: "The key as a QR code" })));
    assert.equal(new URL(scanned).searchParams.get("secret"), secret);
    assert.ok(scanned.startsWith("otpauth://totp/") && decodeURIComponent(scanned).includes(":jon?"), scanned);
    await page.getByLabel("Six-digit code").fill("nonsense");
    await page.getByLabel("Password").fill("correct horse");
    await page.getByRole("button", { name: "Turn on" }).click();
    await page.getByText("Invalid two-factor code").waitFor();
    await page.getByLabel("Six-digit code").fill(codeOf(secret));
    await page.getByRole("button", { name: "Turn on" }).click();
    const codes = page.getByRole("dialog", { name: "Backup codes" });
    await codes.waitFor();
    const backup = await codes.getByRole("listitem").allTextContents();
    assert.equal(backup.length, 10);
    await codes.getByRole("button", { name: "Close" }).click();
    await page.getByText("Each login asks for a code").waitFor();
    await page.getByLabel("Password").fill("correct horse");
    await page.getByRole("button", { name: "Show backup codes" }).click();
    await page.getByText("Invalid two-factor code").waitFor(); // the password alone is not sufficient
    await page.getByLabel("Six-digit code or backup code").first().fill(backup[2]);
    await page.getByRole("button", { name: "Show backup codes" }).click();
    await codes.waitFor();
    assert.deepEqual(await codes.getByRole("listitem").allTextContents(), backup);
    await codes.getByRole("button", { name: "Close" }).click();
    await page.open("/settings/account");
    const change = page.locator("form").filter({ hasText: "New password" });
    await change.getByLabel("Current password").fill("correct horse");
    await change.getByLabel("New password").fill("correct horse");
    await change.getByLabel("Six-digit code or backup code").fill(backup[3]);
    await change.getByRole("button", { name: "Save" }).click();
    await change.getByText("Done").waitFor();
    await page.evaluate(() => sessionStorage.clear());
    await page.open("/login");
    await login();
    const asked = page.getByRole("dialog", { name: "Two-factor authentication" });
    await asked.getByRole("textbox").fill(backup[0]);
    await asked.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("heading", { name: "Friends" }).waitFor();
    await page.open("/settings/security");
    await page.getByLabel("Six-digit code or backup code").last().fill(backup[1]);
    await page.getByRole("button", { name: "Turn off" }).click();
    await page.getByRole("group", { name: "Key" }).waitFor();
    await page.close();
  },

  async security_key_is_registered_used_renamed_and_removed() {
    await server().call(null, "POST", "/auth/register", { username: "kim", password: "correct horse" });
    // Browsers accept no address as the host of a key.
    const page = await enter(null, { elsewhere: true, locale: "en-GB" }), url = server().url.replace("127.0.0.1", "localhost"), open = (path) => page.goto(url + path);
    const browserSide = await browserSideOf(page), button = (name) => page.getByRole("button", { name, exact: true }).last();
    await browserSide.send("WebAuthn.enable");
    const { authenticatorId } = await browserSide.send("WebAuthn.addVirtualAuthenticator", { options: { protocol: "ctap2", transport: "usb", automaticPresenceSimulation: true } });
    const login = async () => {
      await open("/login");
      await page.getByLabel("Username or email").fill("kim");
      await page.getByLabel("Password").fill("correct horse");
      await button("Log in").click();
    };
    await login();
    await page.getByRole("heading", { name: "Friends" }).waitFor();
    await open("/settings/security");
    await page.getByLabel("Name").fill("Blue key");
    await button("Add a security key").click();
    const proof = page.getByRole("dialog", { name: "Password" });
    await proof.getByLabel("Password").fill("wrong horse");
    await proof.getByRole("button", { name: "Confirm" }).click();
    await proof.getByText("Password does not match.", { exact: true }).waitFor();
    await proof.getByLabel("Password").fill("correct horse");
    await proof.getByRole("button", { name: "Confirm" }).click();
    const codes = page.getByRole("dialog", { name: "Backup codes" });
    await codes.waitFor();
    const backup = await codes.getByRole("listitem").allTextContents();
    assert.equal(backup.length, 10);
    await codes.getByRole("button", { name: "Close" }).click();
    const row = page.getByRole("row").filter({ hasText: "Blue key" });
    await row.waitFor();
    await page.getByRole("img", { name: "The key as a QR code" }).waitFor(); // an authenticator app can still be added

    await page.evaluate(() => sessionStorage.clear());
    await login();
    const asked = page.getByRole("dialog", { name: "Two-factor authentication" });
    await browserSide.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: true });
    await asked.getByRole("button", { name: "Use a security key" }).click();
    await page.getByRole("heading", { name: "Friends" }).waitFor();

    // A change of the account without a code asks for the key.
    await open("/settings/account");
    const change = page.locator("form").filter({ hasText: "Username" }).first();
    await change.getByLabel("Username").fill("kimberley");
    await change.getByLabel("Current password").fill("correct horse");
    await change.getByRole("button", { name: "Save" }).click();
    await asked.getByRole("button", { name: "Use a security key" }).click();
    await change.getByText("Done").waitFor();

    await open("/settings/security");
    await row.getByRole("button", { name: "Rename" }).click();
    await page.getByRole("dialog", { name: "Rename" }).getByRole("textbox").fill("Red key");
    await button("Save").click();
    await asked.getByRole("button", { name: "Use a security key" }).click();
    await page.getByRole("row").filter({ hasText: "Red key" }).waitFor();

    // Without the key, a backup code is the proof.
    await browserSide.send("WebAuthn.removeVirtualAuthenticator", { authenticatorId });
    await page.getByRole("row").filter({ hasText: "Red key" }).getByRole("button", { name: "Remove" }).click();
    await asked.getByRole("textbox").fill("wrong code");
    await asked.getByRole("button", { name: "Confirm" }).click();
    await asked.getByText("Invalid two-factor code").waitFor();
    await asked.getByRole("textbox").fill(backup[0]);
    await asked.getByRole("button", { name: "Confirm" }).click();
    await page.getByText("Nothing here yet").waitFor();
    assert.equal(await page.getByRole("heading", { name: "Backup codes" }).count(), 0); // the second factor is off
    await page.close();
  },

  async invite_and_bot_authorization_links_work() {
    const invite = await call("ada", "POST", `/channels/${server().channel}/invites`, {});
    const guest = await enter(null);
    await guest.open(`/invite/${invite.code}`);
    await guest.getByRole("heading", { name: "The Workshop" }).waitFor();
    await guest.getByRole("button", { name: "Accept invite" }).click();
    await guest.getByRole("tab", { name: "Register" }).click();
    await guest.getByLabel("Username").fill("ivy");
    await guest.getByLabel("Password").fill("correct horse");
    await guest.getByRole("button", { name: "Register" }).click();
    await guest.getByRole("button", { name: "Accept invite" }).click();
    await guest.getByRole("heading", { name: "general", exact: true }).first().waitFor();
    await guest.open("/invite/nonsense");
    await guest.getByRole("heading", { name: "This invite is not valid" }).waitFor();
    const made = await call("ada", "POST", "/applications", { name: "Clock" });
    await call("ada", "POST", `/applications/${made.id}/bot`, {});
    const ada = await enter("ada");
    await ada.open(`/oauth2/authorize?client_id=${made.id}&scope=bot+applications.commands&permissions=2048`);
    await ada.getByLabel("Add to server").selectOption({ label: "The Workshop" });
    await ada.getByRole("button", { name: "Authorise" }).click();
    await ada.getByRole("heading", { name: "Done" }).waitFor();
    const members = await call("helper", "GET", `/guilds/${server().guild}/members?limit=100`);
    assert.ok(members.some((m) => m.user.bot && m.user.username.toLowerCase().startsWith("clock")));
    await ada.open("/nowhere/at/all");
    await ada.getByRole("heading", { name: "Page not found" }).waitFor();
    await Promise.all([guest.close(), ada.close()]);
  },

  async qr_codes_of_any_length_are_readable() {
    const page = await enter("bob");
    await page.open("/settings/security");
    await page.getByRole("img", { name: "The key as a QR code" }).waitFor();
    const texts = Array.from({ length: 54 }, (_, i) => `${"otpauth:/ä".repeat(20).slice(0, i * 4)}`).filter((x) => Buffer.byteLength(x) <= 213);
    const made = await page.evaluate(async (all) => {
      const at = performance.getEntriesByType("resource").find((e) => e.name.endsWith("/qr.js")).name, { qrModules } = await import(at);
      return all.map((text) => qrModules(text));
    }, texts);
    assert.deepEqual(made.map(readQr), texts);
    await page.close();
  },
};
