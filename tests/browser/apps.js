// apps.js - tests the use of an unchanged discord.js bot: by mouse, by keyboard alone, and with
// every field of a modal.
import assert from "node:assert/strict";
import { call, enter, field, frames, general, worker, picture, roll, seen, server } from "./harness.js";
import { until } from "./demo_server.js";

/** Presses a key until the control with these words has the focus. */
async function tabTo(page, words, key = "Tab") {
  for (let i = 0; i < 80; i++) {
    const at = await page.evaluate(() => document.activeElement?.getAttribute("aria-label") || document.activeElement?.textContent);
    if (at === words) return;
    await page.keyboard.press(key);
  }
  throw new Error(`the control ${words} cannot be reached by keyboard`);
}

/** A promise that the test resolves. */
function held() {
  let release = () => {};
  const released = new Promise((resolve) => { release = () => resolve(null); });
  return { released, release: () => release() };
}

export const TESTS = {
  async app_response_is_shown_and_its_components_work() {
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

  async app_commands_work_by_keyboard_alone() {
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

  async quickly_typed_command_is_not_sent_as_a_message() {
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

  async text_with_a_slash_that_is_no_command_can_be_sent() {
    const page = await enter("ada");
    await page.open(general());
    await field(page).focus();
    await page.keyboard.type("/shrug, said the cat");
    await page.keyboard.press("Enter");
    await seen(page, "/shrug, said the cat");
    await page.close();
  },

  async suggestions_stay_open_if_focus_returns_immediately() {
    const page = await enter("ada");
    await page.open(general());
    await field(page).fill("/roll");
    await page.getByRole("option", { name: /\/roll/ }).waitFor();
    await field(page).evaluate((input) => {
      input.blur();
      input.focus();
      return new Promise((later) => setTimeout(later, 400)); // longer than the list stays open without focus in its field
    });
    assert.equal(await page.getByRole("option", { name: /\/roll/ }).isVisible(), true);
    // The focus stays on a suggestion when the suggestions are found again.
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

  async messages_can_be_focused_and_replied_to_by_keyboard() {
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
    assert.equal(await page.evaluate(() => document.activeElement !== document.body), true, "the focus left the message");
    await tabTo(page, "Reply");
    await page.keyboard.press("Enter");
    await page.keyboard.type("To the second");
    await page.keyboard.press("Enter");
    await seen(page, "To the second");
    const [last] = await call("ada", "GET", `/channels/${server().channel}/messages?limit=1`);
    assert.equal(last.referenced_message.content, "Second");
    await page.close();
  },

  async menu_above_a_dialog_can_be_used() {
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

  async modal_accepts_files_checkboxes_and_radio_buttons() {
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
    const sent = await until("the app received the form", () => worker().helper.lastForm);
    const [file, one, some, sure] = sent.data.components.map((c) => c.component);
    assert.equal(sent.data.resolved.attachments[file.values[0]].filename, "plan.txt");
    assert.deepEqual([one.value, some.values, sure.value], ["larch", ["glue", "nails"], true]);
    await seen(page, "It is filled in");
    await page.close();
  },
};
