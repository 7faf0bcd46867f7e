// apps.js - an unchanged discord.js bot is used: by mouse, by keyboard alone, with every field that a modal can have.
import assert from "node:assert/strict";
import { call, enter, field, frames, general, lane, picture, roll, seen, server } from "./stage.js";
import { until } from "./world.js";

/** Presses a key until the control with these words has the focus. */
async function tabTo(page, words, key = "Tab") {
  for (let i = 0; i < 80; i++) {
    const at = await page.evaluate(() => document.activeElement?.getAttribute("aria-label") || document.activeElement?.textContent);
    if (at === words) return;
    await page.keyboard.press(key);
  }
  throw new Error(`the keyboard does not lead to ${words}`);
}

/** Something that comes when it is released. */
function held() {
  let release = () => {};
  const released = new Promise((resolve) => { release = () => resolve(null); });
  return { released, release: () => release() };
}

export const TESTS = {
  async an_apps_answer_is_seen_and_used() {
    const page = await enter("ada");
    await page.open(general());
    await roll(page);
    assert.equal(await page.locator(".embed-fields dd").last().textContent(), "20");
    assert.equal(await page.getByRole("button", { name: "Off", exact: true }).isDisabled(), true);
    await picture(page, "console-chat");
    await page.getByRole("button", { name: "Again" }).click();
    await seen(page, "Rolled again");
    await page.getByRole("combobox", { name: "Pick a die" }).selectOption("6");
    await seen(page, "Picked 6");
    await page.getByRole("button", { name: "Name it" }).click();
    const modal = page.getByRole("dialog", { name: "Name the die" });
    await modal.getByLabel("Its name").fill("x");
    await modal.getByRole("button", { name: "Submit" }).click();
    await modal.getByText("At least 2 characters").waitFor();
    await modal.getByLabel("Its name").fill("Daisy");
    await modal.getByRole("button", { name: "Submit" }).click();
    await seen(page, "It is called Daisy");
    await page.close();
  },

  async the_keyboard_alone_is_enough() {
    const page = await enter("bob");
    await page.open(general());
    await field(page).waitFor();
    await page.keyboard.type("/ask");
    await page.getByRole("option", { name: /\/ask/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("form", { name: "/ask" }).waitFor();
    await page.keyboard.type("cl");
    await page.getByRole("option", { name: "Where are the clamps?" }).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    await seen(page, "You asked: clamps");
    await page.getByText("Only you can see this").waitFor();
    await tabTo(page, "Dismiss", "Shift+Tab");
    await page.keyboard.press("Enter");
    await page.getByText("Only you can see this").waitFor({ state: "detached" });
    await field(page).focus();
    await page.keyboard.type("/roll");
    await page.getByRole("option", { name: /\/roll/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("form", { name: "/roll" }).waitFor();
    await tabTo(page, "Send");
    await page.keyboard.press("Enter");
    await page.getByText("You rolled").last().waitFor();
    await page.keyboard.press("Shift+Tab");
    await tabTo(page, "Name it", "Shift+Tab");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Name the die" }).waitFor();
    await page.keyboard.type("Dora");
    await page.keyboard.press("Enter");
    await seen(page, "It is called Dora");
    await tabTo(page, "Again", "Shift+Tab");
    await page.keyboard.press("Enter");
    await seen(page, "Rolled again");
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog", { name: "Jump to…" }).waitFor();
    await page.keyboard.type("rules");
    await page.getByRole("option", { name: /#rules/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "rules", exact: true }).first().waitFor();
    await page.getByText("Be kind. Clean up after yourself. That is all.").waitFor();
    await page.close();
  },

  async a_command_typed_quickly_is_not_said_aloud() {
    const page = await enter("ada");
    const index = held();
    await page.route(/application-command-index/, async (route) => { await index.released; await route.continue(); });
    await page.open(general());
    await field(page).focus();
    await page.keyboard.type("/roll");
    await page.keyboard.press("Enter");
    index.release();
    await page.getByRole("form", { name: "/roll" }).waitFor();
    await page.keyboard.press("Escape");
    await page.close();
  },

  async what_looks_like_a_command_and_is_none_can_be_said() {
    const page = await enter("ada");
    await page.open(general());
    await field(page).focus();
    await page.keyboard.type("/shrug, said the cat");
    await page.keyboard.press("Enter");
    await seen(page, "/shrug, said the cat");
    await page.close();
  },

  async suggestions_stay_with_who_comes_back_at_once() {
    const page = await enter("ada");
    await page.open(general());
    await field(page).fill("/roll");
    await page.getByRole("option", { name: /\/roll/ }).waitFor();
    await field(page).evaluate((input) => {
      input.blur();
      input.focus();
      return new Promise((later) => setTimeout(later, 400)); // longer than a list stays without its field
    });
    assert.equal(await page.getByRole("option", { name: /\/roll/ }).isVisible(), true);
    // And who has gone to one of them stays there when they are found again.
    await field(page).fill("/");
    await page.getByRole("option", { name: /\/ask/ }).waitFor();
    await frames(page);
    await field(page).press("ArrowDown");
    const marked = page.locator("[role=option][aria-selected=true]"), before = await marked.textContent();
    await field(page).dispatchEvent("input");
    await frames(page);
    assert.equal(await marked.textContent(), before);
    await page.close();
  },

  async messages_are_reached_and_answered_by_keyboard() {
    const page = await enter("bob");
    for (const content of ["First", "Second", "Third"]) await call("ada", "POST", `/channels/${server().channel}/messages`, { content });
    await page.open(general());
    await seen(page, "Third");
    await tabTo(page, "Messages in general", "Shift+Tab");
    for (const key of ["ArrowUp", "ArrowUp"]) await page.keyboard.press(key);
    assert.match(await page.evaluate(() => document.activeElement.textContent), /Second/);
    await tabTo(page, "React with 👍");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "👍, 1" }).waitFor();
    assert.equal(await page.evaluate(() => document.activeElement !== document.body), true, "who stands on a message stays there");
    await tabTo(page, "Reply");
    await page.keyboard.press("Enter");
    await page.keyboard.type("To the second");
    await page.keyboard.press("Enter");
    await seen(page, "To the second");
    const [last] = await call("ada", "GET", `/channels/${server().channel}/messages?limit=1`);
    assert.equal(last.referenced_message.content, "Second");
    await page.close();
  },

  async a_menu_above_a_dialog_can_be_used() {
    const page = await enter("ada");
    await call("bob", "POST", `/channels/${server().channel}/messages`, { content: "Who am I?" });
    await page.open(general());
    await page.getByRole("button", { name: "Profile of Bob" }).last().click();
    await page.getByRole("dialog").getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Nickname in this server" }).click();
    await page.getByRole("dialog", { name: "Nickname" }).getByRole("textbox").fill("Bobby");
    await page.keyboard.press("Enter");
    await page.getByText("Bobby").first().waitFor();
    await page.close();
  },

  async a_modal_takes_files_boxes_and_circles() {
    const page = await enter("ada");
    await page.open(general());
    await roll(page);
    await page.getByRole("button", { name: "Fill in" }).last().click();
    const modal = page.getByRole("dialog", { name: "The form" });
    await modal.getByRole("button", { name: "Submit" }).click();
    await modal.getByText("Please choose").first().waitFor();
    assert.equal(await modal.getByText("Please choose").count(), 3);
    await modal.getByLabel("A file").setInputFiles({ name: "plan.txt", mimeType: "text/plain", buffer: Buffer.from("oak") });
    await modal.getByRole("group", { name: "One" }).getByLabel("Larch").check();
    await modal.getByRole("group", { name: "Some" }).getByLabel("Glue").check();
    await modal.getByRole("group", { name: "Some" }).getByLabel("Nails").check();
    await modal.getByLabel("Sure").check();
    await modal.getByRole("button", { name: "Submit" }).click();
    const sent = await until("the app was told", () => lane().helper.lastForm);
    const [file, one, some, sure] = sent.data.components.map((c) => c.component);
    assert.equal(sent.data.resolved.attachments[file.values[0]].filename, "plan.txt");
    assert.deepEqual([one.value, some.values, sure.value], ["larch", ["glue", "nails"], true]);
    await seen(page, "It is filled in");
    await page.close();
  },
};
