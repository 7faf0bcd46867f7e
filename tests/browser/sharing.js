// sharing.js - threads, forums, polls, stickers, files, pictures and voice messages.
import assert from "node:assert/strict";
import { call, enter, field, general, seen, server } from "./harness.js";
import { until } from "./demo_server.js";

const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
const newest = async (channel = server().channel) => (await call("ada", "GET", `/channels/${channel}/messages?limit=1`))[0];
const picked = (page) => page.locator(".composer input[type=file]");

export const TESTS = {
  async a_thread_is_followed_locked_archived_and_found_again() {
    const page = await enter("bob"), thread = await call("ada", "POST", `/channels/${server().channel}/threads`, { name: "Rebate plane", type: 11 });
    const own = await call("bob", "POST", `/channels/${server().channel}/threads`, { name: "Spokeshave", type: 11 });
    await page.open(`/channels/${server().guild}/${thread.id}`);
    await page.getByRole("button", { name: "Follow", exact: true }).click();
    await page.getByRole("button", { name: "Unfollow" }).waitFor();
    const bob = await call("bob", "GET", "/users/@me");
    await until("the server knows it", async () => (await call("ada", "GET", `/channels/${thread.id}/thread-members`)).some((m) => m.user_id === bob.id));
    await page.getByRole("button", { name: "Notification settings" }).click();
    await page.getByRole("dialog").getByLabel("Nothing").check();
    await until("nothing is chosen", () => page.getByRole("dialog").getByLabel("Nothing").isChecked());
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Unfollow" }).click();
    await page.getByRole("button", { name: "Follow", exact: true }).waitFor();
    await page.turn(`/channels/${server().guild}/${own.id}`);
    await page.getByRole("heading", { name: "Spokeshave" }).first().waitFor();
    await page.getByRole("button", { name: "Archive the thread", exact: true }).click();
    await page.getByRole("button", { name: "Unarchive the thread" }).waitFor();
    await page.turn(general());
    await page.getByRole("button", { name: "Threads" }).click();
    const dialog = page.getByRole("dialog", { name: "Threads" });
    await dialog.getByRole("list", { name: "Active threads" }).getByText("Rebate plane").waitFor();
    await dialog.getByRole("list", { name: "Archived threads" }).getByRole("button", { name: /Spokeshave/ }).click();
    await page.getByRole("heading", { name: "Spokeshave" }).first().waitFor();
    await page.close();
  },

  async a_forum_is_sorted_filtered_and_posted_to() {
    const page = await enter("ada");
    const forum = await call("ada", "POST", `/guilds/${server().guild}/channels`, { name: "plans", type: 15, available_tags: [{ name: "Oak" }, { name: "Pine" }] }), [oak] = forum.available_tags;
    const first = await call("ada", "POST", `/channels/${forum.id}/threads`, { name: "A bench", message: { content: "With a back rest" }, applied_tags: [oak.id] });
    await call("ada", "POST", `/channels/${forum.id}/threads`, { name: "A shelf", message: { content: "Five boards" } });
    await call("bob", "POST", `/channels/${first.id}/messages`, { content: "Nice" });
    await page.open(`/channels/${server().guild}/${forum.id}`);
    const posts = page.getByRole("list", { name: "Posts" }), names = () => posts.locator("strong").allTextContents();
    await posts.getByText("With a back rest").waitFor();
    assert.deepEqual(await names(), ["A bench", "A shelf"]); // the last answer first
    await page.getByLabel("Sort by").selectOption({ label: "Date posted" });
    await until("it is sorted by date", async () => (await names()).join() === "A shelf,A bench");
    await page.getByRole("button", { name: "Oak" }).click();
    await until("only oak is left", async () => (await names()).join() === "A bench");
    await page.getByRole("button", { name: "Oak" }).click();
    await page.getByLabel("Search posts").fill("shelf");
    await until("only the shelf is left", async () => (await names()).join() === "A shelf");
    await page.getByRole("button", { name: "New post" }).click();
    const dialog = page.getByRole("dialog", { name: "New post" });
    await dialog.getByRole("button", { name: "Post" }).click();
    await dialog.getByText("Write a title.").waitFor();
    await dialog.getByLabel("Title").fill("A ladder");
    await dialog.getByLabel("Message").fill("Nine rungs");
    await dialog.getByLabel("Pine").check();
    await dialog.locator("input[type=file]").setInputFiles({ name: "ladder.png", mimeType: "image/png", buffer: PNG });
    await dialog.getByRole("button", { name: "Post" }).click();
    await page.getByRole("heading", { name: "A ladder" }).first().waitFor();
    await seen(page, "Nine rungs");
    await page.locator(".attachment-picture img").waitFor();
    await page.close();
  },

  async a_poll_is_made_and_answered() {
    const [ada, bob] = await Promise.all([enter("ada"), enter("bob")]);
    await Promise.all([ada.open(general()), bob.open(general())]);
    await ada.getByRole("button", { name: "Attach" }).click();
    await ada.getByRole("menuitem", { name: "Create poll" }).click();
    const dialog = ada.getByRole("dialog", { name: "Create poll" });
    await dialog.getByRole("button", { name: "Post" }).click();
    await dialog.getByText("Write a question.").waitFor();
    await dialog.getByLabel("Question").fill("Which glue?");
    await dialog.getByLabel("Answer 1", { exact: true }).fill("Bone");
    await dialog.getByLabel("Answer 2", { exact: true }).fill("White");
    await dialog.getByLabel("Duration").selectOption({ label: "1 hour" });
    await dialog.getByRole("button", { name: "Post" }).click();
    const poll = (page) => page.getByRole("group", { name: "Which glue?" });
    await poll(bob).getByRole("button", { name: /White/ }).click();
    await poll(ada).getByText("1 · 100 %").waitFor();
    await poll(ada).getByText("1 vote").waitFor();
    await poll(ada).getByRole("button", { name: "End poll" }).click();
    await ada.getByRole("dialog", { name: "End poll" }).getByRole("button", { name: "End poll" }).click();
    await poll(bob).getByText("The poll is over").waitFor();
    await Promise.all([ada.close(), bob.close()]);
  },

  async a_sticker_is_chosen_and_sent() {
    const page = await enter("ada"), form = new FormData();
    for (const [name, value] of Object.entries({ name: "Heron", description: "A heron", tags: "bird" })) form.append(name, value);
    form.append("file", new Blob([PNG], { type: "image/png" }), "heron.png");
    await call("ada", "POST", `/guilds/${server().guild}/stickers`, form);
    await page.open(general());
    await page.getByRole("button", { name: "Stickers" }).click();
    const box = page.getByRole("dialog", { name: "Stickers" });
    await box.getByLabel("Search stickers").fill("bird");
    await box.getByRole("button", { name: "Heron" }).click();
    await until("it is sent", async () => (await newest()).sticker_items?.[0]?.name === "Heron");
    await page.getByRole("img", { name: "Heron" }).last().waitFor();
    await page.close();
  },

  async files_are_previewed_uploaded_with_progress_and_cancelled() {
    const page = await enter("ada"), before = (await newest()).id;
    let hold = true, let_go;
    const held = new Promise((go) => { let_go = go; });
    await page.open(general());
    await page.route(/\/messages$/, async (route) => { if (hold) await held; await route.continue().catch(() => {}); });
    await picked(page).setInputFiles([{ name: "one.png", mimeType: "image/png", buffer: PNG }, { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("oak") }]);
    await page.locator(".upload-card img").waitFor();
    await page.getByRole("button", { name: "Remove notes.txt" }).click();
    await page.getByLabel("Description of one.png").fill("A single dot");
    await page.getByLabel("Spoiler").check();
    await field(page).fill("With a file");
    await field(page).press("Enter");
    await page.getByRole("progressbar", { name: "one.png" }).waitFor();
    await page.getByRole("button", { name: "Cancel the upload" }).click();
    await page.locator(".upload-card").waitFor(); // the file is put back into the field
    await until("the text is put back", async () => (await field(page).inputValue()) === "With a file");
    assert.equal((await newest()).id, before);
    hold = false;
    let_go();
    await field(page).press("Enter");
    await until("it is there", async () => (await newest()).content === "With a file");
    const [file] = (await newest()).attachments;
    assert.deepEqual([file.filename, file.description], ["SPOILER_one.png", "A single dot"]);
    // Too large: an error above the field, and the file stays there.
    await picked(page).setInputFiles({ name: "large.bin", mimeType: "application/octet-stream", buffer: Buffer.alloc(26 * 1024 * 1024) });
    await field(page).press("Enter");
    await page.locator(".composer").getByRole("alert").getByText(/The files were not sent/).waitFor();
    await page.getByRole("button", { name: "Remove large.bin" }).waitFor();
    await page.close();
  },

  async pictures_are_viewed_by_keyboard() {
    const page = await enter("ada");
    await page.open(general());
    await picked(page).setInputFiles(["first.png", "second.png"].map((name) => ({ name, mimeType: "image/png", buffer: PNG })));
    await field(page).press("Enter");
    const last = page.locator("article").filter({ has: page.locator("img[alt='second.png']") }).last();
    await last.locator("a.attachment-picture").first().focus();
    await page.keyboard.press("Enter");
    const viewer = page.getByRole("dialog", { name: "Picture" });
    await viewer.getByRole("img", { name: "first.png" }).waitFor();
    await page.keyboard.press("ArrowRight");
    await viewer.getByRole("img", { name: "second.png" }).waitFor();
    await page.keyboard.press("ArrowLeft");
    await viewer.getByRole("img", { name: "first.png" }).waitFor();
    await page.keyboard.press("Escape");
    await viewer.waitFor({ state: "detached" });
    await page.close();
  },

  async a_voice_message_is_recorded_sent_and_played() {
    const page = await enter("ada");
    await page.addInitScript(() => {
      navigator.mediaDevices.getUserMedia = async () => {
        const audio = new AudioContext(), tone = new OscillatorNode(audio), out = audio.createMediaStreamDestination();
        tone.connect(out);
        tone.start();
        window.recorded = out.stream;
        return out.stream;
      };
    });
    await page.open(general());
    await page.getByRole("button", { name: "Attach" }).click();
    await page.getByRole("menuitem", { name: "Record voice message" }).click();
    const line = page.getByRole("group", { name: "Voice message", exact: true });
    await line.getByText("0:01").waitFor();
    await line.getByRole("button", { name: "Send" }).click();
    await until("it is there", async () => ((await newest()).flags & 8192) !== 0);
    const { attachments: [file] } = await newest();
    assert.ok(file.duration_secs >= 1 && file.waveform.length > 0 && file.content_type.startsWith("audio/"));
    const player = page.getByRole("group", { name: /^Voice message, 0:0/ }).last();
    await player.getByRole("button", { name: "Play" }).click();
    await until("it plays", () => player.locator("audio").evaluate((a) => a.currentTime > 0 || a.played.length > 0));
    await page.getByRole("button", { name: "Attach" }).click();
    await page.getByRole("menuitem", { name: "Record voice message" }).click();
    await line.getByText("0:00").waitFor();
    await page.evaluate(() => history.pushState(null, "", "/friends") ?? dispatchEvent(new PopStateEvent("popstate")));
    await until("the microphone is released", () => page.evaluate(() => window.recorded.getTracks().every((track) => track.readyState === "ended")));
    await page.close();
  },
};
