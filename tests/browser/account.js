// account.js - tests of the user's own account and profile, of groups, and of edits and reactions.
import assert from "node:assert/strict";
import { crc32, deflateSync } from "node:zlib";
import { call, enter, field, general, say, seen, server } from "./harness.js";
import { until } from "./demo_server.js";

const PASSWORD = "correct horse";

/** A PNG of 4 × 2 squares: the left half is red, the right half blue. */
function twoColours(width = 80, height = 40) {
  const row = Buffer.concat([Buffer.from([0]), ...Array.from({ length: width }, (_, x) => Buffer.from(x < width / 2 ? [255, 0, 0] : [0, 0, 255]))]);
  const chunk = (type, data) => { const body = Buffer.concat([Buffer.from(type), data]), size = Buffer.alloc(4), sum = Buffer.alloc(4); size.writeUInt32BE(data.length); sum.writeUInt32BE(crc32(body)); return Buffer.concat([size, body, sum]); };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2], 8);
  return Buffer.concat([Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]), chunk("IHDR", head), chunk("IDAT", deflateSync(Buffer.concat(Array(height).fill(row)))), chunk("IEND", Buffer.alloc(0))]);
}

/** Opens a window of a new account. */
async function newcomer(username, path) {
  const { token } = await server().call(null, "POST", "/auth/register", { username, password: PASSWORD }), page = await enter(null);
  await page.open("/");
  await page.evaluate((text) => sessionStorage.setItem("token", text), token);
  await page.open(path);
  return { page, token };
}

const formWith = (page, words) => page.locator("form").filter({ hasText: words });

/** Returns the size and the colour of two points of a picture of the server. */
const pointsOf = (page, path) => page.evaluate(async (url) => {
  const picture = await createImageBitmap(await (await fetch(url)).blob()), canvas = new OffscreenCanvas(picture.width, picture.height), paint = canvas.getContext("2d");
  paint.drawImage(picture, 0, 0);
  const at = (x) => [...paint.getImageData(x, picture.height / 2, 1, 1).data].slice(0, 3).map((v) => (v > 127 ? 1 : 0)).join("");
  return { width: picture.width, height: picture.height, left: at(4), right: at(picture.width - 5) };
}, path);

export const TESTS = {
  async pictures_are_cropped_by_keys_and_removed() {
    const { page, token } = await newcomer("nell", "/settings/profile"), me = () => server().call(token, "GET", "/users/@me");
    await page.getByLabel("Picture", { exact: true }).setInputFiles({ name: "me.png", mimeType: "image/png", buffer: twoColours() });
    const dialog = page.getByRole("dialog", { name: "Edit picture" });
    // The picture is twice as wide as the frame: moved to the right, its red half is in the frame.
    for (let i = 0; i < 20; i++) await dialog.getByRole("img").press("ArrowRight");
    await dialog.getByRole("button", { name: "Apply" }).click();
    await page.getByLabel("Banner").setInputFiles({ name: "banner.png", mimeType: "image/png", buffer: twoColours() });
    await dialog.getByLabel("Zoom").fill("2");
    await dialog.getByRole("button", { name: "Apply" }).click();
    await page.getByLabel("Pronouns").fill("they/them");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Done").waitFor();
    const { id, avatar, banner } = await me();
    assert.deepEqual(await pointsOf(page, `/avatars/${id}/${avatar}.png`), { width: 512, height: 512, left: "100", right: "100" });
    assert.deepEqual(await pointsOf(page, `/banners/${id}/${banner}.png`), { width: 1200, height: 480, left: "100", right: "001" });
    await page.getByLabel("Banner").setInputFiles({ name: "no.png", mimeType: "image/png", buffer: Buffer.from("no picture") });
    await page.getByText("This file is not a picture.").waitFor();
    await page.locator(".picture-field").first().getByRole("button", { name: "Remove" }).click();
    await page.getByRole("button", { name: "Save" }).click();
    await until("the picture is removed", async () => (await me()).avatar === null);
    assert.equal((await server().call(token, "GET", `/users/${id}/profile`)).user_profile.pronouns, "they/them");
    await page.close();
  },

  async username_and_email_are_changed_with_the_password() {
    const { page, token } = await newcomer("olga", "/settings/account"), name = formWith(page, "Username"), mail = page.locator("form").filter({ has: page.locator("input[type=email]") });
    await name.getByLabel("Username").fill("olga.two");
    await name.getByLabel("Current password").fill("wrong");
    await name.getByRole("button", { name: "Save" }).click();
    await name.getByText("Password does not match.", { exact: true }).waitFor();
    await name.getByLabel("Current password").fill(PASSWORD);
    await name.getByRole("button", { name: "Save" }).click();
    await name.getByText("Done").waitFor();
    await mail.getByLabel("Email").fill("olga@example.org");
    await mail.getByLabel("Current password").fill(PASSWORD);
    await mail.getByRole("button", { name: "Save" }).click();
    await mail.getByText("Done").waitFor();
    const me = await page.evaluate(async () => (await fetch("/api/v10/users/@me", { headers: { Authorization: sessionStorage.getItem("token") } })).json());
    assert.deepEqual([me.username, me.email], ["olga.two", "olga@example.org"]);
    assert.ok(token);
    await page.close();
  },

  async data_is_exported_and_the_account_is_deleted_and_restored() {
    const { page } = await newcomer("pavel", "/settings/account");
    await page.getByRole("button", { name: "Request my data" }).click();
    await page.getByText("The export is ready").waitFor();
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download" }).click()]);
    assert.equal(file.suggestedFilename(), "guildhall-data.tar");
    await page.getByRole("button", { name: "Delete account" }).click();
    const dialog = page.getByRole("dialog", { name: "Delete account" });
    await dialog.getByLabel("Current password").fill("wrong");
    await dialog.getByRole("button", { name: "Delete account" }).click();
    await dialog.getByText("Password does not match.", { exact: true }).waitFor();
    await dialog.getByLabel("Current password").fill(PASSWORD);
    await dialog.getByRole("button", { name: "Delete account" }).click();
    await page.getByRole("tab", { name: "Log in" }).waitFor();
    await page.getByLabel("Username or email").fill("pavel");
    await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
    await page.getByRole("button", { name: "Log in", exact: true }).click();
    await page.getByRole("dialog", { name: "Restore the account?" }).getByRole("button", { name: "Restore" }).click();
    await page.getByTitle("Status").waitFor();
    await page.close();
  },

  async theme_is_chosen_and_shortcuts_are_listed() {
    const page = await enter("ada", { colorScheme: "dark" }), ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    await page.open("/settings/appearance");
    await page.getByLabel("Light").waitFor();
    const dark = await ground();
    await page.getByLabel("Light").check();
    const light = await ground();
    assert.notEqual(light, dark);
    await page.reload();
    await page.getByLabel("Light").waitFor();
    assert.equal(await ground(), light);
    await page.getByLabel("Same as the system").check();
    assert.equal(await ground(), dark);
    await page.turn("/settings/keyboard");
    await page.getByText("Reply to the focused message").waitFor();
    await page.turn("/settings/notifications");
    await page.getByText("Desktop notifications").waitFor();
    await page.close();
  },

  async custom_status_is_stored_and_shown_to_others() {
    const bob = await enter("bob"), ada = await enter("ada");
    await ada.open(general());
    await bob.open(general());
    await bob.getByTitle("Status").click();
    await bob.getByRole("menuitem", { name: "Custom status" }).click();
    await bob.getByRole("dialog", { name: "Custom status" }).getByLabel("Status").fill("Sharpening the saw");
    await bob.getByRole("dialog", { name: "Custom status" }).getByRole("button", { name: "Save" }).click();
    await bob.locator(".self").getByText("Sharpening the saw").waitFor();
    await ada.locator(".members").getByText("Sharpening the saw").waitFor();
    await until("the server stores it", async () => (await call("bob", "GET", "/users/@me/settings")).custom_status?.text === "Sharpening the saw");
    await call("bob", "PATCH", "/users/@me/settings", { custom_status: null });
    await Promise.all([ada.close(), bob.close()]);
  },

  async a_group_is_named_extended_and_left() {
    const ids = {};
    for (const name of ["ada", "cleo", "dara", "emil"]) ids[name] = (await call(name, "GET", "/users/@me")).id;
    for (const name of ["cleo", "dara", "emil"]) {
      // Some of these users are already friends in the demo's data.
      await call("ada", "PUT", `/users/@me/relationships/${ids[name]}`, {}).catch(() => {});
      await call(name, "PUT", `/users/@me/relationships/${ids.ada}`, {}).catch(() => {});
    }
    const page = await enter("ada"), other = await enter("cleo"), choose = async (title, names, action) => {
      const dialog = page.getByRole("dialog", { name: title });
      for (const name of names) await dialog.getByLabel(name).check();
      await dialog.getByRole("button", { name: action }).click();
    };
    await page.open("/friends");
    await page.getByRole("button", { name: "New group" }).click();
    await page.getByRole("dialog", { name: "New group" }).getByRole("button", { name: "Start" }).click();
    await page.getByText("Choose at least one friend.").waitFor();
    await choose("New group", ["Cléo", "Dara"], "Start");
    await page.getByRole("button", { name: "Group settings" }).click();
    const settings = page.getByRole("dialog", { name: "Group settings" });
    await settings.getByLabel("Name").fill("The bench");
    await settings.getByLabel("Picture").setInputFiles({ name: "g.png", mimeType: "image/png", buffer: twoColours() });
    await page.getByRole("dialog", { name: "Edit picture" }).getByRole("button", { name: "Apply" }).click();
    await settings.getByRole("button", { name: "Save" }).click();
    await settings.getByText("Done").waitFor();
    const group = (await call("cleo", "GET", "/users/@me/channels")).find((c) => c.name === "The bench");
    assert.ok(group.icon);
    await settings.getByRole("button", { name: "Add people" }).click();
    await choose("Add people", ["Emil"], "Add");
    await other.open(`/channels/@me/${group.id}`);
    await other.getByText("added emil to the group").waitFor();
    await page.locator(".side").getByRole("link", { name: "The bench" }).click({ button: "right" });
    await page.getByRole("menuitem", { name: "Group settings" }).click();
    await settings.getByRole("listitem").filter({ hasText: "dara" }).getByRole("button", { name: "Remove" }).click();
    await settings.getByRole("listitem").filter({ hasText: "dara" }).waitFor({ state: "detached" });
    await settings.getByRole("button", { name: "Leave group" }).click();
    await page.getByRole("dialog", { name: "Leave group" }).getByRole("button", { name: "Leave" }).click();
    await page.locator(".side").getByRole("link", { name: "The bench" }).waitFor({ state: "detached" });
    assert.deepEqual((await call("cleo", "GET", `/channels/${group.id}`)).recipients.map((u) => u.username), ["emil"]);
    await Promise.all([page.close(), other.close()]);
  },

  async a_message_is_edited_and_lists_who_reacted() {
    const page = await enter("ada"), editor = page.getByLabel("Edit message");
    await page.open(general());
    await say(page, "Five planks");
    await seen(page, "Five planks");
    await field(page).fill("a draft");
    const item = page.locator("article").filter({ hasText: "Five planks" }).last();
    await item.hover();
    await item.getByRole("button", { name: "Edit" }).click();
    await editor.fill("Six planks");
    // A reaction draws the message again; the text that is not saved stays.
    const [{ id }] = await call("ada", "GET", `/channels/${server().channel}/messages?limit=1`);
    await call("bob", "PUT", `/channels/${server().channel}/messages/${id}/reactions/${encodeURIComponent("🪚")}/@me`);
    await page.getByRole("button", { name: "🪚, 1" }).waitFor();
    assert.equal(await editor.inputValue(), "Six planks");
    await editor.press("Escape");
    await page.getByText("Five planks").last().waitFor();
    assert.equal(await field(page).inputValue(), "a draft");
    await page.getByRole("button", { name: "🪚, 1" }).click({ button: "right" });
    await page.getByRole("dialog", { name: "Reactions" }).getByText("@bob").waitFor();
    await page.keyboard.press("Escape");
    await page.close();
  },

  async a_message_is_bookmarked_and_found_again() {
    const page = await enter("ada"), { id } = await call("ada", "POST", `/channels/${server().channel}/messages`, { content: "Remember the glue" });
    await page.open(general());
    await page.locator(`[data-id="${id}"] article`).click({ button: "right" });
    await page.getByRole("menuitem", { name: "Bookmark" }).click();
    await page.turn("/friends");
    await page.getByRole("button", { name: "Bookmarks" }).click();
    const dialog = page.getByRole("dialog", { name: "Bookmarks" });
    await dialog.getByText("Remember the glue").waitFor();
    await dialog.getByRole("button", { name: "Jump" }).click();
    await page.locator(`[data-id="${id}"].flash`).waitFor();
    await call("ada", "DELETE", `/channels/${server().channel}/messages/${id}`);
    await page.turn("/friends");
    await page.getByRole("button", { name: "Bookmarks" }).click();
    await dialog.getByText("The message was deleted, or you can no longer read it.").waitFor();
    await dialog.getByRole("button", { name: "Remove" }).click();
    await until("the bookmark is removed", async () => !(await call("ada", "GET", "/users/@me/saved-messages")).results.length);
    await dialog.getByText("The message was deleted").waitFor({ state: "detached" });
    await page.close();
  },

  async bookmarks_follow_the_person_to_other_windows() {
    const pages = [await enter("bob"), await enter("bob")], { id } = await call("ada", "POST", `/channels/${server().channel}/messages`, { content: "Where the key is" });
    const menu = async (page) => {
      await page.locator(`[data-id="${id}"] article`).click({ button: "right" });
      return page.getByRole("menu", { name: "Message" });
    };
    for (const page of pages) {
      await page.open(general());
      await seen(page, "Where the key is");
      await (await menu(page)).getByRole("menuitem", { name: "Bookmark", exact: true }).waitFor();
      await page.keyboard.press("Escape");
    }
    await (await menu(pages[0])).getByRole("menuitem", { name: "Bookmark", exact: true }).click();
    await until("the other window knows it", async () => {
      const box = await menu(pages[1]), found = (await box.waitFor(), await box.getByRole("menuitem", { name: "Remove bookmark" }).count());
      await pages[1].keyboard.press("Escape");
      await box.waitFor({ state: "detached" });
      return found;
    });
    await (await menu(pages[1])).getByRole("menuitem", { name: "Remove bookmark" }).click();
    await until("the bookmark is removed", async () => !(await call("bob", "GET", "/users/@me/saved-messages")).results.length);
    await Promise.all(pages.map((page) => page.close()));
  },

  async dropped_files_are_announced_and_text_files_are_shown() {
    const page = await enter("ada"), form = new FormData();
    form.append("payload_json", JSON.stringify({ content: "The list" }));
    form.append("files[0]", new Blob(["saw\nhammer"], { type: "text/plain" }), "tools.txt");
    await call("ada", "POST", `/channels/${server().channel}/messages`, form);
    await page.open(general());
    const item = page.locator("article").filter({ hasText: "The list" }).last();
    await item.getByText("Show the text").click();
    await item.getByText("hammer").waitFor();
    const data = await page.evaluateHandle(() => { const d = new DataTransfer(); d.items.add(new File(["x"], "x.txt")); return d; });
    // In one call, because the hint disappears soon after the last dragover event.
    const hint = await page.locator("main").evaluate((el, dataTransfer) => {
      el.dispatchEvent(new DragEvent("dragover", { bubbles: true, cancelable: true, dataTransfer }));
      return getComputedStyle(el, "::after").content;
    }, data);
    assert.match(hint, /Drop files here/);
    await page.dispatchEvent("main", "drop", { dataTransfer: data });
    await page.getByRole("group", { name: "Files" }).waitFor();
    await page.close();
  },

  async widget_is_enabled_and_errors_are_german() {
    const page = await enter("ada", { locale: "de-DE" }), path = `/guilds/${server().guild}/widget`;
    await page.open(`/channels/${server().guild}/settings/widget`);
    await page.getByLabel("Widget einschalten").check();
    await page.getByRole("button", { name: "Speichern" }).click();
    await until("the widget is enabled", async () => (await call("ada", "GET", path)).enabled);
    await page.turn(`/channels/${server().guild}/settings/overview`);
    await page.getByLabel("Name").first().fill("x");
    await page.getByRole("button", { name: "Speichern" }).first().click();
    await page.getByText("2 bis 100 Zeichen.", { exact: true }).waitFor();
    await page.close();
  },
};
