// everyday.js - what people do all day: emoji, mentions by name, menus, deleting, replies, forwards, blocked people, drafts.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { call, enter, field, frames, general, say, seen, server } from "./harness.js";
import { until } from "./demo_server.js";

const path = () => `/channels/${server().channel}/messages`;
const post = (who, body) => call(who, "POST", path(), body);
const newest = async (channel = server().channel) => (await call("ada", "GET", `/channels/${channel}/messages?limit=1`))[0];
const article = (page, m) => page.locator(`[data-id="${m.id}"] article`);
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const PHONE = { width: 390, height: 800 };
const axe = readFileSync("node_modules/axe-core/axe.min.js", "utf8");

/**
 * Opens the overlays of a channel and looks for accessibility faults.
 * @param {{colorScheme: "dark"|"light", viewport?: {width: number, height: number}}} kind of the window @param {RegExp} [chosen] names of the screens to check; all are opened
 */
async function walkEverydayScreens(kind, chosen = /./) {
  const page = await enter("ada", kind), small = !!kind.viewport;
  await page.open(general());
  await field(page).waitFor();
  const check = async (name) => {
    if (!chosen.test(name)) return;
    await frames(page);
    await page.screenshot({ path: `artefacts/everyday-${kind.colorScheme}${small ? "-390" : ""}-${name}.png` });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${name} is ${wide} pixels too wide`);
    const session = await page.context().newCDPSession(page); // the page's own policy does not let scripts in
    await session.send("Runtime.evaluate", { expression: axe });
    const { result } = await session.send("Runtime.evaluate", { expression: "axe.run().then((r) => JSON.stringify(r.violations.map((v) => [v.id, v.nodes.map((n) => n.html.slice(0, 160))])))", awaitPromise: true, returnByValue: true });
    assert.equal(result.value, "[]", name);
    await session.detach();
  };
  await page.getByRole("button", { name: "Search", exact: true }).click();
  await check("search");
  const input = page.getByRole("combobox", { name: "Search messages" });
  await input.fill("the");
  await input.press("Enter");
  await page.getByText(/\d+ results?/).waitFor();
  await check("results");
  await page.getByRole("button", { name: "Close the search" }).click();
  await page.getByRole("button", { name: "Emoji", exact: true }).click();
  await page.getByRole("dialog", { name: "Emoji" }).getByRole("group", { name: "Groups" }).getByRole("button").nth(3).waitFor();
  const { y, height } = await page.getByRole("dialog", { name: "Emoji" }).boundingBox();
  assert.ok(y >= 0 && y + height <= 800, `the picker is at ${y}, ${height} high`);
  await check("emoji");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Notification settings" }).click();
  await check("notifications");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Threads" }).click();
  await check("threads");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Attach" }).click();
  await page.getByRole("menuitem", { name: "Create poll" }).click();
  await check("poll");
  await page.keyboard.press("Escape");
  await page.locator(".composer input[type=file]").setInputFiles({ name: "plan.png", mimeType: "image/png", buffer: Buffer.from(PNG, "base64") });
  await check("upload");
  await page.close();
}

export const TESTS = {
  async emoji_are_found_by_name_in_a_skin_tone_and_remembered() {
    const page = await enter("ada");
    await call("ada", "POST", `/guilds/${server().guild}/emojis`, { name: "chisel", image: `data:image/png;base64,${PNG}` });
    await page.open(general());
    const open = () => page.getByRole("button", { name: "Emoji", exact: true }).click(), box = page.getByRole("dialog", { name: "Emoji" });
    await open();
    await box.getByRole("button", { name: ":chisel:" }).waitFor();
    await box.getByLabel("Skin tone").selectOption({ label: "✋🏽" });
    await box.getByLabel("Search emoji").fill("thumbsup");
    await box.getByRole("button", { name: ":thumbsup:" }).click();
    assert.equal(await field(page).inputValue(), "👍🏽");
    await open();
    await box.getByRole("group", { name: "Recent" }).getByRole("button", { name: ":👍🏽:" }).waitFor();
    await box.getByRole("button", { name: "Food" }).click();
    const food = box.getByRole("group", { name: "Food" });
    await food.getByRole("button").first().focus();
    await page.keyboard.press("ArrowRight");
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), await food.getByRole("button").nth(1).getAttribute("aria-label"));
    await page.keyboard.press("Escape");
    await field(page).fill("");
    // Inserts an emoji by its name: chosen from the list, and written out.
    await field(page).pressSequentially(":pizz");
    await page.getByRole("option", { name: /:pizza:/ }).click();
    assert.equal(await field(page).inputValue(), "🍕 ");
    await field(page).fill("Lunch :pizza: `:pizza:` :chisel:");
    await field(page).press("Enter");
    await until("the names are emoji", async () => /^Lunch 🍕 `:pizza:` <:chisel:\d+>$/.test((await newest()).content));
    await page.close();
  },

  async mentions_stand_by_name_in_the_field_and_are_sent_by_id() {
    const page = await enter("ada"), bob = await call("bob", "GET", "/users/@me"), rules = (await call("ada", "GET", `/guilds/${server().guild}/channels`)).find((c) => c.name === "rules");
    const { nick } = await call("ada", "GET", `/guilds/${server().guild}/members/${bob.id}`), asked = `Ask @${nick || bob.global_name || bob.username} in #rules`;
    await page.open(general());
    await field(page).pressSequentially("Ask @bo");
    await page.getByRole("option", { name: /Bob/ }).first().click();
    await field(page).pressSequentially("in #rul");
    await page.getByRole("option", { name: /rules/ }).first().click();
    assert.equal(await field(page).inputValue(), `${asked} `);
    // The text survives a change of the channel and a reload as a draft.
    await page.getByRole("link", { name: "rules" }).click();
    await page.getByRole("heading", { name: "rules", exact: true }).waitFor();
    assert.equal(await field(page).inputValue(), "");
    await page.turn(general());
    await page.getByRole("heading", { name: "general" }).first().waitFor();
    assert.equal(await field(page).inputValue(), `${asked} `);
    await page.reload();
    await until("the draft is there", async () => (await field(page).inputValue()) === `${asked} `);
    await field(page).press("Enter");
    await until("it is sent by id", async () => (await newest()).content === `Ask <@${bob.id}> in <#${rules.id}>`);
    assert.equal(await field(page).inputValue(), "");
    await seen(page, "Ask ");
    await field(page).press("ArrowUp");
    const editor = page.getByLabel("Edit message");
    assert.equal(await editor.inputValue(), asked);
    await editor.fill(`${asked} now`);
    await editor.press("Enter");
    await until("it is edited by id", async () => (await newest()).content === `Ask <@${bob.id}> in <#${rules.id}> now`);
    const mark = page.locator("article").filter({ hasText: "now" }).last().locator("time.edited");
    await mark.waitFor();
    assert.ok(Date.parse(await mark.getAttribute("datetime")) > 0);
    await page.close();
  },

  async deleting_asks_first_and_shift_skips_the_question() {
    const page = await enter("ada"), first = await post("ada", { content: "Not that one" }), second = await post("ada", { content: "Gone at once" });
    await page.open(general());
    await article(page, first).click({ button: "right" });
    await page.getByRole("menuitem", { name: "Delete" }).click();
    const dialog = page.getByRole("dialog", { name: "Delete message" });
    await dialog.getByText("Not that one").waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "detached" });
    assert.equal((await call("ada", "GET", `${path()}/${first.id}`)).id, first.id);
    // The keyboard opens the menu of the focused message.
    await article(page, first).focus();
    await page.keyboard.press("Delete");
    await dialog.getByRole("button", { name: "Delete" }).click();
    await article(page, first).waitFor({ state: "detached" });
    await article(page, second).click({ button: "right" });
    await page.getByRole("menuitem", { name: "Delete" }).click({ modifiers: ["Shift"] });
    await article(page, second).waitFor({ state: "detached" });
    assert.equal(await dialog.count(), 0);
    await page.close();
  },

  async a_message_is_forwarded_and_leads_back() {
    const page = await enter("ada"), made = await call("ada", "POST", `/guilds/${server().guild}/channels`, { name: "forwards", type: 0 });
    const said = await post("bob", { content: "Worth telling elsewhere" });
    await page.open(general());
    await article(page, said).click({ button: "right" });
    await page.getByRole("menuitem", { name: "Forward" }).click();
    const dialog = page.getByRole("dialog", { name: "Forward" });
    await dialog.getByLabel("Forward to", { exact: true }).fill("forw");
    await dialog.getByRole("button", { name: "Send" }).click();
    await dialog.getByText("Choose a channel or a person from the list.").waitFor();
    await dialog.getByLabel("Forward to", { exact: true }).fill("forwards");
    await dialog.getByRole("option", { name: /#forwards/ }).click();
    await dialog.getByLabel("Message (optional)").fill("Look");
    await dialog.getByRole("button", { name: "Send" }).click();
    await until("both are there", async () => (await call("ada", "GET", `/channels/${made.id}/messages`)).length === 2);
    await page.getByRole("link", { name: "forwards" }).click();
    const copy = page.locator("blockquote.forwarded");
    await copy.getByText("Worth telling elsewhere").waitFor();
    await copy.getByRole("button", { name: /#general/ }).click();
    await page.locator(`.flash[data-id="${said.id}"]`).waitFor();
    await page.close();
  },

  async a_reply_leads_to_its_message_and_blocked_people_are_folded() {
    const page = await enter("cleo"), ada = await call("ada", "GET", "/users/@me");
    const first = await post("ada", { content: "The beginning of it" });
    const answer = await post("bob", { content: "To the beginning", message_reference: { message_id: first.id } });
    await page.open(general());
    await article(page, answer).getByRole("button", { name: /The beginning of it/ }).click();
    await page.locator(`.flash[data-id="${first.id}"]`).waitFor();
    await call("cleo", "PUT", `/users/@me/relationships/${ada.id}`, { type: 2 });
    const folded = page.locator(`[data-id="${first.id}"] details`);
    await folded.getByText("Blocked message").waitFor();
    assert.equal(await folded.getByText("The beginning of it").isVisible(), false);
    await folded.getByText("Blocked message").click();
    await folded.getByText("The beginning of it").waitFor();
    await call("cleo", "DELETE", `/users/@me/relationships/${ada.id}`);
    await folded.waitFor({ state: "detached" });
    await page.close();
  },

  async edited_message_is_saved_once_and_another_editor_stays_open() {
    const page = await enter("ada"), editor = page.getByLabel("Edit message"), one = await post("ada", { content: "Oak board" }), two = await post("ada", { content: "Ash board" });
    const edit = async (m) => {
      await article(page, m).click({ button: "right" });
      await page.getByRole("menuitem", { name: "Edit" }).click();
    };
    let release, asked = 0;
    const held = new Promise((go) => { release = go; });
    await page.route(`**/messages/${one.id}`, async (route) => {
      asked++;
      await held;
      await route.continue();
    });
    await page.open(general());
    await seen(page, "Ash board");
    await edit(one);
    await editor.fill("Oak plank");
    await editor.evaluate((input) => { // twice in one task, before the request is sent
      for (let i = 0; i < 2; i++) input.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
    });
    await until("the request is sent", () => asked > 0);
    await edit(two);
    await editor.fill("Ash plank");
    release();
    await seen(page, "Oak plank");
    assert.deepEqual([asked, await editor.count(), await editor.inputValue()], [1, 1, "Ash plank"]);
    await editor.press("Enter");
    await seen(page, "Ash plank");
    await page.close();
  },

  async code_blocks_have_colours_for_known_languages() {
    const page = await enter("ada"), code = (m) => article(page, m).locator("pre code");
    const known = await post("ada", { content: '```js\n// a "note"\nconst n = 0x1f + call("x // y", `z`);\n/* open```' }), query = await post("ada", { content: "```sql\nSELECT name FROM doors -- all\nWHERE id = 'a';\n```" });
    const script = await post("ada", { content: "```python\ndef f():\n    return '#x' # 2\n```" }), diff = await post("ada", { content: "```diff\n- old\n+ new\n same\n```" }), unknown = await post("ada", { content: "```nolang\nconst n = 1;\n```" });
    await page.open(general());
    await code(unknown).waitFor();
    const parts = (m) => code(m).locator("span").evaluateAll((all) => all.map((el) => [el.className.slice(5), el.textContent]));
    assert.deepEqual(await parts(known), [["comment", '// a "note"'], ["keyword", "const"], ["number", "0x1f"], ["string", '"x // y"'], ["string", "`z`"], ["comment", "/* open"]]);
    assert.equal(await code(known).textContent(), '// a "note"\nconst n = 0x1f + call("x // y", `z`);\n/* open');
    assert.deepEqual(await parts(query), [["keyword", "SELECT"], ["keyword", "FROM"], ["comment", "-- all"], ["keyword", "WHERE"], ["string", "'a'"]]);
    assert.deepEqual(await parts(script), [["keyword", "def"], ["keyword", "return"], ["string", "'#x'"], ["comment", "# 2"]]);
    assert.deepEqual(await parts(diff), [["removed", "- old\n"], ["string", "+ new\n"]]);
    assert.deepEqual(await parts(unknown), []);
    await page.close();
  },

  async everyday_screens_fit_a_phone_and_have_no_fault_for_screen_readers() {
    await walkEverydayScreens({ colorScheme: "light", viewport: PHONE }, /results|emoji/);
  },
};

/** Checks of every overlay in both themes; run by the nightly step "screens". */
export const NIGHTLY_EVERYDAY = {
  async all_everyday_screens_are_accessible_in_both_themes() {
    for (const kind of [{ colorScheme: "dark" }, { colorScheme: "light" }, { colorScheme: "dark", viewport: PHONE }]) await walkEverydayScreens(/** @type {any} */ (kind));
  },
};
