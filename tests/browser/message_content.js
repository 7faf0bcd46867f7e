// message_content.js - tests all parts of a message, every kind of component and every kind of command.
import assert from "node:assert/strict";
import { call, enter, field, frames, general, worker, seen, server } from "./harness.js";
import { until } from "./demo_server.js";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const png = () => new Blob([Buffer.from(PNG, "base64")], { type: "image/png" });
/** Returns 0.1 s of silence as a WAV file. */
function wav() {
  const bytes = Buffer.alloc(844);
  bytes.write("RIFF", 0); bytes.writeUInt32LE(836, 4); bytes.write("WAVEfmt ", 8); bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20); bytes.writeUInt16LE(1, 22); bytes.writeUInt32LE(8000, 24); bytes.writeUInt32LE(8000, 28);
  bytes.writeUInt16LE(1, 32); bytes.writeUInt16LE(8, 34); bytes.write("data", 36); bytes.writeUInt32LE(800, 40);
  return new Blob([bytes.fill(128, 44)], { type: "audio/wav" });
}

function formOf(body, files) {
  const form = new FormData();
  form.append("payload_json", JSON.stringify({ ...body, attachments: files.map(([name], i) => ({ id: String(i), filename: name })) }));
  files.forEach(([name, blob], i) => form.append(`files[${i}]`, blob, name));
  return form;
}

const post = (who, body) => call(who, "POST", `/channels/${server().channel}/messages`, body);
const menu = (type, id, more) => ({ type: 1, components: [{ type, custom_id: id, ...more }] });

/** Records the app's interactions during `work`, by custom_id or name; `answer` handles them. */
async function withApp(answer, work) {
  const { helper } = worker();
  helper.on("interactionCreate", answer);
  try {
    await work();
  } finally {
    helper.off("interactionCreate", answer);
  }
}

export const TESTS = {
  async message_shows_all_its_parts() {
    const { guild } = server(), bob = await call("bob", "GET", "/users/@me"), roles = await call("ada", "GET", `/guilds/${guild}/roles`);
    const rules = (await call("ada", "GET", `/guilds/${guild}/channels`)).find((c) => c.name === "rules");
    const { roles: own } = await call("ada", "GET", `/guilds/${guild}/members/${bob.id}`), role = roles.filter((r) => own.includes(r.id)).sort((a, b) => b.position - a.position)[0];
    await call("ada", "PATCH", `/guilds/${guild}/roles/${role.id}`, { color: 0x1abc9c });
    const oak = await call("ada", "POST", `/guilds/${guild}/emojis`, { name: "oak", image: `data:image/png;base64,${PNG}` });
    const text = await post("bob", { content: `All of it: **bold** *slanted* __under__ ~~gone~~ \`code\` ||secret|| <t:1700000000:D> https://example.org/x <@${bob.id}> <#${rules.id}> <@&${role.id}> <:oak:${oak.id}>\n> quoted\n- item\n1. first\n# Title\n\`\`\`js\nlet x = 1;\n\`\`\`` });
    await post("bob", formOf({ content: "The files" }, [["plan.png", png()], ["sound.wav", wav()], ["film.mp4", new Blob(["x"], { type: "video/mp4" })], ["SPOILER_end.png", png()], ["notes.txt", new Blob(["oak"])]]));
    await server().call(server().token("helper"), "POST", `/channels/${server().channel}/messages`, { embeds: [{ title: "Titled", url: "https://example.org/t", description: "Some *text*", color: 0xff0000, timestamp: "2026-01-02T03:04:05Z",
      author: { name: "Author", url: "https://example.org/a" }, footer: { text: "Footer" }, fields: [{ name: "One", value: "**1**", inline: true }, { name: "Two", value: "2" }] }] });
    const sticker = new FormData();
    for (const [name, value] of Object.entries({ name: "Owl", description: "An owl", tags: "owl" })) sticker.append(name, value);
    sticker.append("file", png(), "owl.png");
    await post("ada", { sticker_ids: [(await call("ada", "POST", `/guilds/${guild}/stickers`, sticker)).id] });
    await post("ada", { content: "To that", message_reference: { message_id: text.id } });
    await call("ada", "POST", `/channels/${server().channel}/messages/${text.id}/threads`, { name: "About it" });
    await call("ada", "PUT", `/channels/${server().channel}/pins/${text.id}`);
    const page = await enter("ada");
    await page.open(general());
    const said = page.locator(`[data-id="${text.id}"] article`);
    for (const [part, words] of [["strong", "bold"], ["em", "slanted"], ["u", "under"], ["s", "gone"], [".text > code", "code"], ["pre code", "let x = 1;"], ["blockquote", "quoted"], ["ul li", "item"], ["ol li", "first"], [".md-h1", "Title"], [".spoiler", "secret"], [".timestamp", "November 1"],
      ["a[href='https://example.org/x']", "https://"], ["button.mention", "#rules"], [".mention", "@Bob"], [".mention", `@${role.name}`], [".thread-line", "About it"]]) await said.locator(part).filter({ hasText: words }).first().waitFor();
    await said.getByRole("img", { name: /oak/ }).waitFor();
    assert.match(await said.locator(".author").getAttribute("style"), /--role: ?#1abc9c/);
    await said.getByRole("button", { name: "Show spoiler" }).click();
    await said.locator(".spoiler.shown").waitFor();
    const files = page.locator("article").filter({ hasText: "The files" }).last();
    await until("the picture is there", () => files.locator(".attachment-picture img").first().evaluate((img) => img.complete && img.naturalWidth > 0));
    assert.deepEqual(await Promise.all(["audio", "video", "details.spoiler-file", "a[download='notes.txt']"].map((x) => files.locator(x).count())), [1, 1, 1, 1]);
    await until("the sticker is there", () => page.getByRole("img", { name: "Owl" }).evaluate((img) => img.complete && img.naturalWidth > 0));
    const embed = page.locator(".embed").filter({ hasText: "Titled" }).last();
    for (const [part, words] of [[".embed-author a", "Author"], [".embed-title a", "Titled"], [".embed-text em", "text"], [".embed-fields .inline strong", "1"], ["dt", "Two"], [".embed-foot", "Footer · "]]) await embed.locator(part).filter({ hasText: words }).waitFor();
    await page.locator("article").filter({ hasText: "To that" }).locator(".reply-line").getByText("All of it").waitFor();
    await page.locator(".message.system").filter({ hasText: "pinned a message" }).waitFor();
    await page.getByRole("button", { name: "Pinned messages" }).click();
    await page.getByRole("dialog", { name: "Pinned messages" }).getByText("All of it").waitFor();
    await page.keyboard.press("Escape");
    await page.close();
  },

  async categories_collapse_and_hidden_channels_are_absent() {
    const [ada, emil] = await Promise.all([enter("ada"), enter("emil")]);
    await Promise.all([ada.open(general()), emil.open(general())]);
    await ada.getByRole("link", { name: "keepers" }).waitFor();
    await emil.getByRole("link", { name: "rules" }).waitFor();
    assert.equal(await emil.getByRole("link", { name: "keepers" }).count(), 0);
    await ada.getByRole("button", { name: "Welcome", exact: true }).click();
    await ada.getByRole("link", { name: "rules" }).waitFor({ state: "detached" });
    await ada.getByRole("button", { name: "Welcome", exact: true }).click();
    await ada.getByRole("link", { name: "rules" }).waitFor();
    await ada.getByRole("link", { name: "projects" }).click();
    await ada.getByRole("button", { name: "New post" }).click();
    const dialog = ada.getByRole("dialog", { name: "New post" });
    await dialog.getByLabel("Title").fill("A stool");
    await dialog.getByLabel("Message").fill("With three legs");
    await dialog.getByRole("button", { name: "Post" }).click();
    await ada.getByRole("heading", { name: "A stool" }).first().waitFor();
    await seen(ada, "With three legs");
    await Promise.all([ada.close(), emil.close()]);
  },

  async created_objects_open_even_if_their_event_is_late() {
    const page = await enter("ada"), held = [];
    let hold = false, send = null;
    await page.routeWebSocket(/encoding=json/, (ws) => {
      const upstream = ws.connectToServer();
      send = (m) => ws.send(m);
      ws.onMessage((m) => upstream.send(m));
      upstream.onMessage((m) => (hold ? held.push(m) : ws.send(m)));
    });
    /** Delays the events of `work` until some frames after its reply. */
    async function late(path, work) {
      hold = true;
      const answered = page.waitForResponse((r) => r.request().method() === "POST" && r.url().endsWith(path));
      await work();
      await (await answered).finished();
      await page.evaluate(async () => { for (let i = 0; i < 20; i++) await new Promise(requestAnimationFrame); });
      hold = false;
      held.splice(0).forEach((m) => send(m));
    }
    await page.open(general());
    await page.getByRole("link", { name: "projects" }).click();
    await page.getByRole("button", { name: "New post" }).click();
    const dialog = page.getByRole("dialog", { name: "New post" });
    await dialog.getByLabel("Title").fill("A ladder");
    await dialog.getByLabel("Message").fill("With nine rungs");
    await late("/threads", () => dialog.getByRole("button", { name: "Post" }).click());
    await page.getByRole("heading", { name: "A ladder" }).first().waitFor();
    await seen(page, "With nine rungs");
    await page.getByRole("button", { name: "Add a server" }).click();
    await page.getByRole("dialog", { name: "Add a server" }).getByRole("button", { name: "Create a server" }).click();
    await page.getByRole("dialog", { name: "Create a server" }).getByLabel("Server name").fill("The Shed");
    await late("/guilds", () => page.getByRole("dialog", { name: "Create a server" }).getByRole("button", { name: "Create" }).click());
    await page.getByRole("button", { name: "The Shed" }).waitFor();
    await page.close();
  },

  async every_kind_of_component_is_shown_and_works() {
    const { helper } = worker(), token = server().token("helper"), received = new Map();
    const path = `/channels/${server().channel}/messages`, page = await enter("ada");
    await server().call(token, "POST", path, { content: "Choose", components: [menu(5, "who"), menu(6, "role"), menu(7, "either"), menu(8, "place"), menu(3, "two", { placeholder: "Two of three", min_values: 2, max_values: 2, options: ["A", "B", "C"].map((x) => ({ label: `Wood ${x}`, value: x })) })] });
    await server().call(token, "POST", path, formOf({ flags: 32768, components: [{ type: 17, accent_color: 0x3498db, components: [{ type: 10, content: "## In a box" },
      { type: 9, components: [{ type: 10, content: "A section" }], accessory: { type: 11, media: { url: "attachment://plan.png" }, description: "The plan" } }, { type: 14, divider: true, spacing: 2 },
      { type: 12, items: [{ media: { url: "attachment://plan.png" }, description: "One" }, { media: { url: "attachment://plan.png" }, description: "Two", spoiler: true }] }, { type: 13, file: { url: "attachment://notes.txt" } },
      { type: 1, components: [{ type: 2, style: 1, label: "Plain", custom_id: "plain" }, { type: 2, style: 3, label: "Good", custom_id: "good" }, { type: 2, style: 4, label: "Bad", custom_id: "bad", disabled: true }, { type: 2, style: 5, label: "Away", url: "https://example.org/" }] }] }] }, [["plan.png", png()], ["notes.txt", new Blob(["oak"])]]));
    await withApp(async (i) => {
      received.set(i.customId, i.values || true);
      if (i.customId === "plain") await i.update({ components: [{ type: 10, content: "It was pressed" }] });
      else if (i.customId !== "two") await i.deferUpdate(); // string menus are answered by the bot itself
    }, async () => {
      await page.open(general());
      const bob = await call("bob", "GET", "/users/@me");
      await page.getByRole("combobox", { name: "Choose a user", exact: true }).selectOption({ value: bob.id });
      await page.getByRole("combobox", { name: "Choose a role", exact: true }).selectOption({ label: "@Makers" });
      await page.getByRole("combobox", { name: "Choose a user or role" }).selectOption({ value: helper.user.id });
      await page.getByRole("combobox", { name: "Choose a channel" }).selectOption({ label: "#rules" });
      await page.getByRole("button", { name: "Two of three" }).click();
      const many = page.getByRole("dialog", { name: "Two of three" });
      await many.getByLabel("Wood A").check();
      assert.equal(await many.getByRole("button", { name: "Choose" }).isDisabled(), true);
      await many.getByLabel("Wood C").check();
      await many.getByRole("button", { name: "Choose" }).click();
      await seen(page, "Picked A"); // after which nothing moves
      await until("the app received all five", () => ["who", "role", "either", "place", "two"].every((id) => received.has(id)));
      assert.deepEqual([received.get("who"), received.get("either"), received.get("two")], [[bob.id], [helper.user.id], ["A", "C"]]);
      const box = page.locator(".container").last();
      for (const part of [".md-h2", ".section .thumbnail", "hr", ".gallery img", ".gallery details", ".file"]) await box.locator(part).first().waitFor({ state: "attached" });
      assert.equal(await box.getByRole("button", { name: "Bad" }).isDisabled(), true);
      assert.equal(await box.getByRole("link", { name: "Away" }).getAttribute("rel"), "noopener noreferrer nofollow");
      const plain = box.getByRole("button", { name: "Plain" });
      await plain.evaluate((el) => new MutationObserver(() => { window.wasBusy ||= el.getAttribute("aria-busy") === "true"; }).observe(el, { attributes: true }));
      await plain.click();
      await until("the button is busy until the app replies", () => page.evaluate(() => window.wasBusy));
      await seen(page, "It was pressed");
    });
    await page.close();
  },

  async button_click_works_while_a_message_arrives() {
    const page = await enter("ada"), received = [];
    page.on("websocket", (socket) => socket.on("framereceived", ({ payload }) => received.push(String(payload))));
    await post("bob", { poll: { question: { text: "Which wood?" }, answers: [{ poll_media: { text: "Beech" } }, { poll_media: { text: "Birch" } }], duration: 1 } });
    await page.open(general());
    await page.getByRole("button", { name: "Beech" }).hover();
    await page.mouse.down();
    await post("bob", { content: "All\nof\nthis\ncomes\nin between" });
    await until("the message arrived", () => received.some((x) => x.includes("in between")));
    await frames(page);
    await page.mouse.up();
    await page.getByRole("button", { name: "Beech 1" }).waitFor();
    await seen(page, "in between");
    await page.close();
  },

  async commands_of_every_kind_can_be_used() {
    const { guild } = server(), [ada, emil] = await Promise.all([enter("ada"), enter("emil")]), app = (await call("ada", "GET", "/applications")).find((a) => a.name === "Helper").id;
    await server().call(server().token("helper"), "POST", `/applications/${app}/guilds/${guild}/commands`, { name: "shelf", description: "Put it there", name_localizations: { de: "regal" }, options: [{ type: 4, name: "count", description: "How many", required: true, min_value: 1, max_value: 5 }, { type: 11, name: "plan", description: "A drawing", required: true }, { type: 5, name: "sure", description: "Really" }] });
    await server().call(server().token("helper"), "POST", `/applications/${app}/guilds/${guild}/commands`, { name: "silent", description: "Says nothing" });
    let release, received;
    const held = new Promise((go) => { release = go; });
    await call("ada", "PATCH", "/users/@me/settings", { locale: "de" });
    await withApp(async (i) => {
      if (i.commandName === "silent") return;
      if (i.commandName === "Say hello" || i.commandName === "Remember this") return;
      if (i.commandName === "shelf") {
        await i.deferReply();
        received = [i.options.getInteger("count"), i.options.getAttachment("plan").name, i.options.getBoolean("sure")];
        await held;
        await i.editReply("It is on the shelf");
      }
    }, async () => {
      await Promise.all([ada.open(general()), emil.open(general())]);
      // Each user sees the permitted commands, with localized names.
      await field(ada).fill("/");
      for (const name of [/^\/regal/, /\/tidy/, /\/tool borrow/]) await ada.getByRole("option", { name }).waitFor();
      await field(emil).fill("/");
      await emil.getByRole("option", { name: /^\/shelf/ }).waitFor();
      assert.equal(await emil.getByRole("option", { name: /\/tidy/ }).count(), 0);
      await ada.getByRole("option", { name: /^\/regal/ }).click();
      const form = ada.getByRole("form", { name: "/regal" });
      await form.getByLabel("count").fill("9");
      await form.getByRole("button", { name: "Send" }).click();
      await form.getByText("At most 5").waitFor();
      await form.getByText("Required").waitFor();
      await form.getByLabel("count").fill("2");
      await form.getByLabel("plan").setInputFiles({ name: "plan.png", mimeType: "image/png", buffer: Buffer.from(PNG, "base64") });
      await form.getByRole("button", { name: "+ sure" }).click();
      await form.getByLabel("sure").selectOption({ label: "True" });
      await form.getByRole("button", { name: "Send" }).click();
      await ada.getByText(/is thinking…/).waitFor();
      release();
      await seen(ada, "It is on the shelf");
      assert.deepEqual(received, [2, "plan.png", true]);
      // An app that does not reply: clients show an error under the command.
      await field(emil).fill("/silent");
      await emil.getByRole("option", { name: /\/silent/ }).click();
      await emil.locator(".notice").getByText(/did not answer within 3 seconds/).waitFor();
    });
    await Promise.all([ada.close(), emil.close()]);
  },

  async user_and_message_commands_are_in_the_context_menus() {
    const page = await enter("ada"), received = [];
    await post("bob", { content: "Worth keeping" });
    await withApp(async (i) => {
      if (!i.isContextMenuCommand()) return;
      received.push([i.commandName, i.targetMessage?.content ?? i.targetUser.username]);
    }, async () => {
      await page.open(general());
      const said = page.locator("article").filter({ hasText: "Worth keeping" }).last();
      await said.hover();
      await said.getByRole("button", { name: "More" }).click();
      await page.getByRole("menuitem", { name: "Remember this" }).click();
      await page.getByRole("button", { name: "Profile of Bob" }).last().click();
      await page.getByRole("dialog").getByRole("button", { name: "More" }).click();
      await page.getByRole("menuitem", { name: "Say hello" }).click();
      await until("the app received both", () => received.length === 2);
      assert.deepEqual(received.sort(), [["Remember this", "Worth keeping"], ["Say hello", "bob"]]);
    });
    await page.close();
  },
};
