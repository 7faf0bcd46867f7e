// history.js - tests the history of a channel: its beginning, threads, ephemeral replies, and load
// errors.
import assert from "node:assert/strict";
import { call, codeWords, enter, field, general, say, seen, server } from "./harness.js";
import { until } from "./demo_server.js";

const guildPath = (rest) => `/guilds/${server().guild}${rest}`;

export const TESTS = {
  async ephemeral_reply_contains_only_its_text() {
    const page = await enter("ada");
    await page.open(general());
    await field(page).fill("/ask");
    await page.getByRole("option", { name: /\/ask/ }).click();
    await page.getByRole("combobox", { name: /question/ }).or(page.getByLabel("question")).first().fill("open");
    await page.getByRole("form", { name: "/ask" }).getByRole("button", { name: "Send" }).click();
    await page.getByText("Only you can see this").waitFor();
    assert.deepEqual(await codeWords(page), []);
    await page.close();
  },

  async thread_begins_with_its_starter_message() {
    const page = await enter("ada"), path = `/channels/${server().channel}/messages`;
    const first = await call("bob", "POST", path, { content: "Who brings the **clamps**?" });
    const thread = await call("ada", "POST", `${path}/${first.id}/threads`, { name: "Clamps" });
    await page.open(`/channels/${server().guild}/${thread.id}`);
    await page.locator(".messages article").filter({ hasText: "Who brings the clamps?" }).filter({ hasText: "Bob" }).waitFor();
    await call("bob", "DELETE", `${path}/${first.id}`);
    await page.reload();
    await page.getByText("The message that started this thread was deleted.").waitFor();
    await page.close();
  },

  async failed_history_load_shows_an_error_and_can_be_retried() {
    const page = await enter("ada"), bare = /\/messages\?limit=50$/;
    await call("bob", "POST", `/channels/${server().channel}/messages`, { content: "Before the trouble" });
    await page.route(bare, (route) => route.fulfill({ status: 500, contentType: "application/json", body: '{"message": "Internal Server Error", "code": 0}' }));
    await page.open(general());
    await page.getByRole("alert").getByText("The messages could not be loaded: Internal Server Error").waitFor();
    await call("bob", "POST", `/channels/${server().channel}/messages`, { content: "During the trouble" });
    await seen(page, "During the trouble");
    assert.equal(await page.getByRole("alert").getByText("could not be loaded").count(), 1); // a new message does not hide the error
    await page.unroute(bare);
    await page.getByRole("button", { name: "Try again" }).click();
    await seen(page, "Before the trouble");
    assert.equal(await page.getByRole("button", { name: "Try again" }).count(), 0);
    await page.close();
  },

  async arrow_up_edits_the_last_reply() {
    const page = await enter("ada");
    const asked = await call("bob", "POST", `/channels/${server().channel}/messages`, { content: "Oak?" });
    await call("ada", "POST", `/channels/${server().channel}/messages`, { content: "Larch", message_reference: { message_id: asked.id } });
    await page.open(general());
    await seen(page, "Larch");
    await field(page).press("ArrowUp");
    assert.equal(await page.getByLabel("Edit message").inputValue(), "Larch");
    await page.close();
  },

  async first_message_is_directly_below_the_channel_header() {
    const page = await enter("ada"), made = await call("ada", "POST", guildPath("/channels"), { name: "fresh", type: 0 });
    await page.open(`/channels/${server().guild}/${made.id}`);
    await page.getByText("This is the beginning of the conversation.").waitFor();
    await say(page, "The first one");
    await seen(page, "The first one");
    const gap = await page.evaluate(() => document.querySelector(".log .messages").getBoundingClientRect().top - document.querySelector(".beginning").getBoundingClientRect().bottom);
    assert.ok(gap < 40, `the gap has ${gap} pixels`);
    await page.close();
  },

  async emoji_are_drawn_in_colour() {
    const page = await enter("ada");
    await page.open(general());
    await say(page, "😀🎉❤️");
    await seen(page, "😀");
    const colours = await page.evaluate(async () => {
      const canvas = document.createElement("canvas").getContext("2d"), font = getComputedStyle(document.body).fontFamily;
      await document.fonts.load(`24px ${font}`, "😀");
      canvas.font = `24px ${font}`;
      canvas.fillText("😀", 0, 30);
      const { data } = canvas.getImageData(0, 0, 40, 40), seen = new Set();
      for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 200) seen.add(`${data[i] >> 5},${data[i + 1] >> 5},${data[i + 2] >> 5}`);
      return seen.size;
    });
    assert.ok(colours > 3, `the emoji has ${colours} colours`);
    await page.close();
  },

  async saved_avatar_is_shown_immediately() {
    const page = await enter("bob"), picture = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
    await page.open("/settings/profile");
    await page.getByLabel("Picture").setInputFiles({ name: "me.png", mimeType: "image/png", buffer: picture });
    await page.getByRole("dialog", { name: "Edit picture" }).getByRole("button", { name: "Apply" }).click();
    await page.getByRole("button", { name: "Save" }).first().click();
    await page.locator(".settings-body img.large-avatar").waitFor();
    await page.close();
  },

  async toast_is_above_an_open_dialog() {
    const page = await enter("ada"), role = await call("ada", "POST", guildPath("/roles"), { name: "Painter", color: 0x3498db });
    await page.open(`/channels/${server().guild}/settings/roles`);
    await page.getByRole("row", { name: /Painter/ }).getByRole("button", { name: "Edit" }).click();
    const box = await page.getByRole("dialog").getByLabel("Colour").boundingBox();
    assert.ok(box.height >= 30 && box.width >= 40, "the colour field of a role is too small");
    await page.evaluate(async () => (await import(performance.getEntriesByType("resource").find((e) => e.name.endsWith("/dom.js")).name)).toast("Above all", "bad"));
    const above = await page.evaluate(() => {
      const toast = [...document.querySelectorAll(".toast")].at(-1), at = toast.getBoundingClientRect();
      return toast.contains(document.elementFromPoint(at.left + at.width / 2, at.top + at.height / 2));
    });
    assert.ok(above, "the toast is covered");
    await call("ada", "DELETE", guildPath(`/roles/${role.id}`));
    await page.close();
  },

  async message_count_of_one_is_singular() {
    const page = await enter("ada"), forum = await call("ada", "POST", guildPath("/channels"), { name: "counted", type: 15 });
    await call("ada", "POST", `/channels/${forum.id}/threads`, { name: "Glue", message: { content: "Which?" } });
    const [post] = (await call("ada", "GET", guildPath("/threads/active"))).threads.filter((x) => x.parent_id === forum.id);
    await call("bob", "POST", `/channels/${post.id}/messages`, { content: "White" });
    await page.open(`/channels/${server().guild}/${forum.id}`);
    await until("the post's message is counted", async () => /1 message(?!s)/.test(await page.locator(".posts").innerText()));
    await page.close();
  },
};
