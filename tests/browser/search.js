// search.js - messages are found by words and filters; jumps to old messages load what is around them.
import assert from "node:assert/strict";
import { call, enter, field, frames, general, say, seen, server } from "./harness.js";
import { until } from "./demo_server.js";

const post = (who, channel, body) => call(who, "POST", `/channels/${channel}/messages`, body);
const panel = (page) => page.getByRole("complementary", { name: "Search" });
const query = async (page, text) => {
  const input = panel(page).getByRole("combobox", { name: "Search messages" });
  await input.fill(text);
  await input.press("Enter");
};
const results = (page) => panel(page).locator(".messages article");
/** A channel with many messages: the texts 0 … n-1. */
async function longChannel(name, n) {
  const channel = await call("ada", "POST", `/guilds/${server().guild}/channels`, { name, type: 0 }), made = [];
  for (let i = 0; i < n; i += 20) made.push(...(await Promise.all(Array.from({ length: Math.min(20, n - i) }, (_, k) => post("bob", channel.id, { content: `Plank ${i + k}` })))));
  made.sort((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
  return { channel, made };
}

export const TESTS = {
  async messages_are_found_by_words_and_filters() {
    const page = await enter("ada"), bob = await call("bob", "GET", "/users/@me");
    const made = await call("ada", "POST", `/guilds/${server().guild}/channels`, { name: "sawmill", type: 0 });
    await post("bob", server().channel, { content: "The zebrawood arrived" });
    await post("ada", server().channel, { content: `The zebrawood is for <@${bob.id}> https://example.org/z` });
    await post("bob", made.id, { content: "No zebrawood is left" });
    await page.open(general());
    await page.getByRole("button", { name: "Search", exact: true }).click();
    await query(page, "zebrawood");
    await panel(page).getByText("3 results").waitFor();
    assert.equal(await results(page).count(), 3);
    for (const [words, n] of [["zebrawood from:bob", 2], ["zebrawood in:sawmill", 1], ["zebrawood has:link", 1], ["zebrawood mentions:bob", 1], ["zebrawood during:today", 3], ["zebrawood before:2020-01-31", 0], ["zebrawood after:2020-01-31 from:me", 1]]) {
      await query(page, words);
      await panel(page).getByText(n === 1 ? "1 result" : `${n} results`, { exact: true }).waitFor();
      assert.equal(await results(page).count(), n, words);
    }
    await panel(page).getByText("No message matches").waitFor({ state: "detached" });
    // A wrong filter is reported at the field.
    for (const [words, said] of [["from:nobody-at-all", "Nobody here is called"], ["before:soon", "is not a date"], ["has:legs", "does not know"], ["in:nowhere", "There is no channel"]]) {
      await query(page, words);
      await panel(page).getByRole("alert").getByText(said).waitFor();
    }
    // Filters are completed.
    const input = panel(page).getByRole("combobox", { name: "Search messages" });
    await input.fill("");
    await input.pressSequentially("fro");
    await panel(page).getByRole("option", { name: /from:/ }).click();
    await input.pressSequentially("bo");
    await panel(page).getByRole("option", { name: /bob/ }).first().click();
    assert.equal(await input.inputValue(), "from:bob ");
    await query(page, "zebrawood in:sawmill");
    await results(page).getByText("No zebrawood is left").waitFor();
    await panel(page).getByRole("button", { name: "Jump" }).click();
    await page.getByRole("heading", { name: "sawmill", exact: true }).waitFor();
    await page.locator(".log .flash").getByText("No zebrawood is left").waitFor();
    await panel(page).waitFor(); // the panel stays open in the same server
    await page.keyboard.press("Control+f");
    await input.press("Escape");
    await page.keyboard.press("Escape");
    await panel(page).waitFor({ state: "detached" });
    await page.close();
  },

  async a_jump_to_an_old_message_loads_what_is_around_it() {
    const page = await enter("ada"), { channel, made } = await longChannel("planks", 240), asked = [];
    page.on("request", (r) => /\/messages\?/.test(r.url()) && asked.push(r.url()));
    await page.open(`/channels/${server().guild}/${channel.id}`);
    await seen(page, "Plank 2");
    const target = made[40];
    asked.length = 0;
    await page.turn(`/channels/${server().guild}/${channel.id}/${target.id}`);
    await page.locator(`.flash[data-id="${target.id}"]`).waitFor();
    assert.ok(asked.some((u) => u.includes(`around=${target.id}`)), asked.join());
    assert.ok(asked.filter((u) => u.includes("before=")).length <= 1, "it does not page back");
    // A message that arrives meanwhile is not shown after the old messages.
    await post("bob", channel.id, { content: "At present" });
    await frames(page);
    assert.equal(await page.getByText("At present").count(), 0);
    // Scrolling down loads newer messages.
    const list = page.getByRole("region", { name: /Messages in planks/ });
    await until("the next page is there", async () => {
      await list.evaluate((el) => { el.scrollTop = el.scrollHeight; });
      return asked.some((u) => u.includes("after="));
    });
    await page.getByRole("button", { name: /Jump to present/ }).click();
    await seen(page, "At present");
    await until("it is at its end", () => list.evaluate((el) => el.scrollHeight - el.scrollTop - el.clientHeight < 40));
    assert.equal(await page.getByRole("button", { name: /Jump to present/ }).count(), 0);
    // Sending a message also shows the newest messages.
    await page.turn(`/channels/${server().guild}/${channel.id}/${made[3].id}`);
    await page.locator(`.flash[data-id="${made[3].id}"]`).waitFor();
    await say(page, "Written from the past");
    await page.locator(".log").getByText("Written from the past").waitFor();
    await page.close();
  },

  async a_link_to_a_message_is_copied_and_opens_it() {
    const page = await enter("ada", { permissions: ["clipboard-read", "clipboard-write"] }), { channel, made } = await longChannel("rafters", 120);
    await page.open(`/channels/${server().guild}/${channel.id}/${made[10].id}`);
    const old = page.locator(`[data-id="${made[10].id}"] article`);
    await page.locator(`.flash[data-id="${made[10].id}"]`).waitFor();
    await old.click({ button: "right" });
    await page.getByRole("menuitem", { name: "Copy message link" }).click();
    const link = await until("the link is copied", () => page.evaluate(() => navigator.clipboard.readText()));
    assert.equal(link, `${server().url}/channels/${server().guild}/${channel.id}/${made[10].id}`);
    await page.turn(general());
    await say(page, `See ${link}`);
    await page.locator("article").filter({ hasText: "See " }).last().getByRole("link").click();
    await page.locator(`.flash[data-id="${made[10].id}"]`).waitFor();
    // A deleted message is reported, and the channel is shown.
    await page.turn(`/channels/${server().guild}/${server().channel}/1572381641102327808`);
    await page.getByRole("alert").getByText("The message was not found").waitFor();
    await field(page).waitFor();
    await seen(page, "See ");
    await page.close();
  },
};
