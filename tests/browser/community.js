// community.js - a server is run from the web client: channels, permissions, roles, members and the other settings.
import assert from "node:assert/strict";
import { call, enter, server } from "./harness.js";
import { until } from "./demo_server.js";

const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

/** A new server of Ada's with Bob and Cleo in it. */
async function found(name) {
  const g = await call("ada", "POST", "/guilds", { name });
  const general = (await call("ada", "GET", `/guilds/${g.id}/channels`)).find((c) => c.type === 0), invite = await call("ada", "POST", `/channels/${general.id}/invites`, {});
  for (const who of ["bob", "cleo"]) await call(who, "POST", `/invites/${invite.code}`, {});
  return { id: g.id, general };
}
const make = (g, body) => call("ada", "POST", `/guilds/${g.id}/channels`, body);
const channel = (id) => call("ada", "GET", `/channels/${id}`);

/** Bob gets a role with these permissions. */
async function appoint(g, permissions) {
  const role = await call("ada", "POST", `/guilds/${g.id}/roles`, { name: "Helpers", permissions: String(permissions) }), bob = await call("bob", "GET", "/users/@me");
  await call("ada", "PUT", `/guilds/${g.id}/members/${bob.id}/roles/${role.id}`);
  return { role, bob };
}

export const TESTS = {
  async a_channel_is_changed_and_deleted_from_its_settings() {
    const g = await found("The Yard"), room = await make(g, { name: "hall", type: 2 }), category = await make(g, { name: "Corner", type: 4 }), page = await enter("ada"), bob = await enter("bob");
    await bob.open(`/channels/${g.id}/${g.general.id}`);
    await page.open(`/channels/${g.id}/${g.general.id}`);
    await page.getByRole("link", { name: "general", exact: true }).click({ button: "right" });
    await page.getByRole("menuitem", { name: "Channel settings" }).click();
    await page.getByLabel("Name").fill("lobby");
    await page.getByLabel("Topic").fill("Say hello");
    await page.getByLabel("Slow mode").selectOption({ label: "10 seconds" });
    await page.getByLabel("Age-restricted channel").check();
    await page.getByLabel("Category").selectOption({ label: "Corner" });
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Done").waitFor();
    const now = await channel(g.general.id);
    assert.deepEqual([now.name, now.topic, now.rate_limit_per_user, now.nsfw, now.parent_id], ["lobby", "Say hello", 10, true, category.id]);
    await bob.getByRole("heading", { name: "lobby", level: 1 }).waitFor(); // another person sees it at once
    await page.open(`/channels/${g.id}/${room.id}`);
    await page.getByRole("link", { name: "Channel settings" }).click();
    await page.getByLabel("Bitrate (kbps)").fill("32");
    await page.getByLabel("User limit").fill("7");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Done").waitFor();
    const voice = await channel(room.id);
    assert.deepEqual([voice.bitrate, voice.user_limit], [32000, 7]);
    await page.getByRole("button", { name: "Delete channel" }).click();
    const question = page.getByRole("dialog", { name: "Delete channel" });
    await question.getByRole("button", { name: "Cancel" }).click();
    assert.equal((await channel(room.id)).id, room.id);
    await page.getByRole("button", { name: "Delete channel" }).click();
    await question.getByRole("button", { name: "Delete" }).click();
    await until("it is gone", () => channel(room.id).then(() => false, () => true));
    await Promise.all([page.close(), bob.close()]);
  },

  async channels_are_moved_by_keys_menu_and_mouse() {
    const g = await found("The Shelf"), page = await enter("ada");
    const one = await make(g, { name: "one", type: 0 }), two = await make(g, { name: "two", type: 0 }), box = await make(g, { name: "Box", type: 4 });
    const order = async () => (await call("ada", "GET", `/guilds/${g.id}/channels`)).filter((c) => c.type === 0 && !c.parent_id).sort((a, b) => a.position - b.position || (a.id < b.id ? -1 : 1)).map((c) => c.name).join();
    await page.open(`/channels/${g.id}/${g.general.id}`);
    const link = (name) => page.locator(".channel-list").getByRole("link", { name, exact: true });
    await link("two").focus();
    await page.keyboard.press("Alt+ArrowUp");
    await until("two stands before one", async () => /two,one$/.test(await order()));
    await until("the focus stays", () => link("two").evaluate((el) => el === document.activeElement));
    await link("one").click({ button: "right" });
    await page.getByRole("menuitem", { name: "Move up" }).click();
    await until("one stands before two", async () => /one,two$/.test(await order()));
    await link("two").dragTo(page.locator(".category", { hasText: "Box" }));
    await until("two is in the box", async () => (await channel(two.id)).parent_id === box.id);
    await link("one").click({ button: "right" });
    await page.getByRole("menuitem", { name: "Move to category…" }).click();
    const dialog = page.getByRole("dialog", { name: "Move one" });
    await dialog.getByLabel("Category").selectOption({ label: "Box" });
    await dialog.getByRole("button", { name: "Move" }).click();
    await until("one is in the box, too", async () => (await channel(one.id)).parent_id === box.id);
    await page.close();
  },

  async permissions_of_a_channel_have_three_states() {
    const g = await found("The Vault"), page = await enter("ada"), other = await enter("ada"), role = await call("ada", "POST", `/guilds/${g.id}/roles`, { name: "Keepers", permissions: "0" });
    const path = `/channels/${g.id}/${g.general.id}/settings/permissions`, tri = (p, name) => p.getByRole("radiogroup", { name, exact: true });
    await other.open(path);
    await page.open(path);
    await tri(page, "View channels").getByRole("radio", { name: "Deny" }).check();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved").waitFor();
    const overwrite = async (id) => (await channel(g.general.id)).permission_overwrites.find((o) => o.id === id);
    assert.equal((await overwrite(g.id)).deny, "1024");
    await until("the other window shows it", () => tri(other, "View channels").getByRole("radio", { name: "Deny" }).isChecked());
    await page.getByText("A member who has no other role cannot see this channel.").waitFor();
    await page.getByRole("button", { name: "Add roles or members" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Keepers" }).click();
    await page.getByRole("heading", { name: "Keepers" }).waitFor();
    await tri(page, "View channels").getByRole("radio", { name: "Allow" }).check();
    await page.getByLabel("Search permissions").fill("view");
    await tri(page, "Send messages").waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Save" }).click();
    await until("it is allowed", async () => (await overwrite(role.id))?.allow === "1024");
    await page.getByLabel("Role", { exact: true }).selectOption({ label: "Keepers" });
    await page.getByText("A member who has no other role can see this channel.").waitFor();
    await page.getByRole("button", { name: "Add roles or members" }).click();
    await page.getByLabel("Search members").fill("cle");
    await page.getByRole("dialog").getByRole("button", { name: /cleo/i }).click();
    await page.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await until("only two are left", async () => (await channel(g.general.id)).permission_overwrites.length === 2);
    await page.getByRole("button", { name: "View server as this role" }).click();
    await page.getByText("You see this server as").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await Promise.all([page.close(), other.close()]);
  },

  async roles_are_ordered_searched_and_deleted() {
    const g = await found("The Guild Hall"), page = await enter("ada"), row = (name) => page.getByRole("row", { name });
    for (const name of ["Lower", "Upper"]) await call("ada", "POST", `/guilds/${g.id}/roles`, { name });
    const top = async () => (await call("ada", "GET", `/guilds/${g.id}/roles`)).sort((a, b) => b.position - a.position)[0].name;
    await page.open(`/channels/${g.id}/settings/roles`);
    const first = await top(), second = first === "Upper" ? "Lower" : "Upper";
    await page.getByRole("button", { name: `Move ${second} up` }).click();
    await until("it is the highest", async () => (await top()) === second);
    const shown = async () => (await page.getByRole("row", { name: /^(Upper|Lower)/ }).allInnerTexts())[0];
    await until("the page shows it first", async () => (await shown()).startsWith(second));
    await row(new RegExp(`^${first}`)).dragTo(row(new RegExp(`^${second}`)), { targetPosition: { x: 20, y: 3 } });
    await until("it was dragged to the top", async () => (await top()) === first);
    await row(/^Upper/).getByRole("button", { name: "Edit" }).click();
    const editor = page.getByRole("dialog", { name: "Upper" });
    await editor.getByLabel("Search permissions").fill("ban");
    await editor.getByLabel("Kick members").waitFor({ state: "hidden" });
    await editor.getByLabel("Ban members").check();
    await editor.getByLabel("Name", { exact: true }).fill("Wardens");
    await editor.getByLabel("Allow anyone to mention this role").check();
    await editor.getByRole("button", { name: "Save" }).click();
    await row(/^Wardens/).waitFor();
    const changed = (await call("ada", "GET", `/guilds/${g.id}/roles`)).find((r) => r.name === "Wardens");
    assert.deepEqual([(BigInt(changed.permissions) & 4n) !== 0n, changed.mentionable], [true, true]);
    await row(/^Wardens/).getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog", { name: "Delete role" }).getByRole("button", { name: "Delete" }).click();
    await row(/^Wardens/).waitFor({ state: "detached" });
    await page.close();
  },

  async members_are_found_timed_out_and_banned_after_a_question() {
    const g = await found("The Square"), page = await enter("ada"), row = (name) => page.getByRole("row", { name }), bob = await call("bob", "GET", "/users/@me");
    await call("bob", "POST", `/channels/${g.general.id}/messages`, { content: "Noise" });
    await page.open(`/channels/${g.id}/settings/members`);
    await row(/^@cleo/).waitFor();
    await page.getByLabel("Search members").fill("bo");
    await row(/^@cleo/).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "More about bob" }).click();
    await page.getByRole("menuitem", { name: "Time out" }).click();
    const asked = page.getByRole("dialog", { name: "Time out" });
    await asked.getByLabel("Duration").selectOption({ label: "1 hour" });
    await asked.getByRole("button", { name: "Time out" }).click();
    await row(/timed out until/).waitFor();
    const member = await call("ada", "GET", `/guilds/${g.id}/members/${bob.id}`), left = new Date(member.communication_disabled_until) - Date.now();
    assert.ok(left > 3500000 && left <= 3600000, `${left}`);
    await page.getByRole("button", { name: "More about bob" }).click();
    await page.getByRole("menuitem", { name: "Ban" }).click();
    const ban = page.getByRole("dialog", { name: "Ban" });
    await ban.getByLabel("Delete messages").selectOption({ label: "The last hour" });
    await ban.getByLabel("Reason").fill("Too loud, müde");
    await ban.getByRole("button", { name: "Ban" }).click();
    await row(/^@bob/).waitFor({ state: "detached" });
    assert.equal((await call("ada", "GET", `/guilds/${g.id}/bans/${bob.id}`)).reason, "Too loud, müde");
    assert.ok(!(await call("ada", "GET", `/channels/${g.general.id}/messages`)).some((m) => m.content === "Noise"));
    await page.turn(`/channels/${g.id}/settings/bans`);
    await row(/^@bob Too loud/).waitFor();
    await call("ada", "DELETE", `/guilds/${g.id}/bans/${bob.id}`); // another administrator
    await row(/^@bob/).waitFor({ state: "detached" });
    await page.close();
  },

  async what_nobody_permits_is_hidden_and_a_refusal_names_the_permission() {
    const g = await found("The Gate"), page = await enter("bob"), { role } = await appoint(g, (1n << 28n) | (1n << 4n));
    await page.open(`/channels/${g.id}/settings/roles`);
    await page.getByRole("row", { name: /^Helpers/ }).waitFor();
    for (const hidden of ["Overview", "Bans", "Webhooks", "Audit log"]) assert.equal(await page.getByRole("link", { name: hidden }).count(), 0);
    await page.open(`/channels/${g.id}/settings/bans`);
    await page.getByText("You need the permission “Ban members”").waitFor();
    await page.open(`/channels/${g.id}/${g.general.id}/settings`);
    await page.getByLabel("Name").waitFor();
    const own = server(), token = own.token("ada"); // the route runs outside of the worker
    await page.route("**/channels/*", async (route) => {
      if (route.request().method() === "PATCH") await own.call(token, "PATCH", `/guilds/${g.id}/roles/${role.id}`, { permissions: "0" });
      await route.continue();
    });
    await page.getByLabel("Name").fill("mine");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Manage channels").waitFor();
    await page.close();
  },

  async invites_webhooks_and_pictures_are_managed() {
    const g = await found("The Shop"), page = await enter("ada"), row = (name) => page.getByRole("row", { name });
    const tab = async (name) => {
      await page.turn(`/channels/${g.id}/settings/${name}`);
      await page.locator(".page:not([data-old]) .settings-body > div > *").first().waitFor();
    };
    await page.open(`/channels/${g.id}/settings/invites`);
    await page.getByLabel("Expires after").selectOption({ label: "30 minutes" });
    await page.getByLabel("Maximum number of uses").selectOption({ label: "5 uses" });
    await page.getByRole("button", { name: "Create" }).click();
    await row(/0 of 5/).waitFor();
    await row(/0 of 5/).getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("dialog", { name: "Revoke invite" }).getByRole("button", { name: "Revoke" }).click();
    await row(/0 of 5/).waitFor({ state: "detached" });
    await tab("webhooks");
    await page.getByLabel("Name").fill("Postman");
    await page.getByRole("button", { name: "Create" }).click();
    await row(/^Postman/).getByRole("button", { name: "Edit" }).click();
    const hook = page.getByRole("dialog", { name: "Postman" });
    await hook.getByLabel("Name").fill("Courier");
    await hook.getByRole("button", { name: "Save" }).click();
    await row(/^Courier/).getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog", { name: "Delete webhook" }).getByRole("button", { name: "Delete" }).click();
    await row(/^Courier/).waitFor({ state: "detached" });
    await tab("stickers");
    await page.getByLabel("Name").fill("Dot");
    await page.getByLabel("Related emoji").fill("dot");
    await page.getByLabel("Picture").setInputFiles({ name: "dot.png", mimeType: "image/png", buffer: PNG });
    await page.getByRole("button", { name: "Add" }).click();
    await row(/Dot dot/).waitFor();
    await tab("emoji");
    await page.getByLabel("Name").fill("dot");
    await page.getByLabel("Picture").setInputFiles({ name: "dot.png", mimeType: "image/png", buffer: PNG });
    await page.getByRole("button", { name: "Add" }).click();
    await row(/:dot:/).getByRole("button", { name: "Rename" }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("spot");
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await row(/:spot:/).waitFor();
    await tab("log");
    await page.getByRole("cell", { name: /changed an emoji spot/ }).waitFor();
    await page.getByText("Name: dot → spot").waitFor();
    await page.getByLabel("Action").selectOption({ label: "created a webhook" });
    await page.getByRole("cell", { name: /changed an emoji/ }).waitFor({ state: "detached" });
    await page.getByRole("cell", { name: /created a webhook/ }).waitFor();
    await page.close();
  },

  async events_rules_and_the_template_are_managed() {
    const g = await found("The Stage"), page = await enter("ada"), bob = await enter("bob");
    await bob.open(`/channels/${g.id}/settings/events`);
    await bob.getByText("No events are planned.").waitFor();
    await page.open(`/channels/${g.id}/settings/events`);
    await page.getByRole("button", { name: "New event" }).click();
    const dialog = page.getByRole("dialog", { name: "New event" });
    await dialog.getByLabel("Name").fill("Tea");
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.getByText("Choose a channel or enter a location.").waitFor();
    await dialog.getByLabel("Location").fill("Kitchen");
    await dialog.getByRole("button", { name: "Create" }).click();
    await bob.getByRole("article", { name: "Tea" }).getByRole("button", { name: "Interested" }).click();
    await bob.getByRole("button", { name: "Interested", pressed: true }).waitFor();
    await page.getByRole("button", { name: "Start event" }).click();
    await bob.getByRole("article", { name: "Tea" }).getByText("Happening now").waitFor();
    await page.turn(`/channels/${g.id}/settings/automod`);
    await page.getByRole("button", { name: "New rule" }).click();
    await page.getByRole("menuitem", { name: "Block words in messages" }).click();
    const rule = page.getByRole("dialog");
    await rule.getByLabel("Blocked words", { exact: true }).fill("mud, dirt*");
    await rule.getByRole("button", { name: "Create" }).click();
    await page.getByRole("article").getByText("dirt*").waitFor();
    await assert.rejects(call("bob", "POST", `/channels/${g.general.id}/messages`, { content: "so much mud" }));
    await page.getByRole("button", { name: "Turn off" }).click();
    await page.getByRole("button", { name: "Turn on" }).waitFor();
    await call("bob", "POST", `/channels/${g.general.id}/messages`, { content: "so much mud" });
    await page.turn(`/channels/${g.id}/settings/template`);
    await page.getByLabel("Name").fill("Stages");
    await page.getByRole("button", { name: "Create" }).click();
    await page.getByRole("heading", { name: "Stages" }).waitFor();
    await page.turn(`/channels/${g.id}/settings/onboarding`);
    await page.getByRole("button", { name: "New question" }).click();
    const prompt = page.getByRole("dialog", { name: "New question" });
    await prompt.getByLabel("Question").fill("What do you like?");
    await prompt.getByLabel("Answer 1", { exact: true }).fill("Tea");
    await prompt.getByLabel("Channel for answer 1").selectOption({ label: "#general" });
    await prompt.getByRole("button", { name: "Save" }).click();
    await page.getByRole("article", { name: "What do you like?" }).waitFor();
    await page.turn(`/channels/${g.id}/settings/welcome`);
    await page.getByLabel("Description", { exact: true }).fill("Come in");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Done").waitFor();
    await Promise.all([page.close(), bob.close()]);
  },
};
