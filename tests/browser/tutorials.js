// tutorials.js - does what the tutorials of docs/ say in a browser, and takes their pictures.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Server, until } from "./demo_server.js";
import { call, enter, field, options, picture, seen, server } from "./harness.js";

const VIEWPORT = { viewport: { width: 1100, height: 640 } };
const TOKEN = "greeter-token-for-tests";

/** Returns the files of a tutorial by name. @returns {Record<string, string>} */
const filesOf = (page) => Object.fromEntries([...readFileSync(join(options.source, "docs", page), "utf8").matchAll(/^```\w+ (\S+)\n(.*?)^```$/gms)].map(([, name, text]) => [name, text]));

/** Runs a server with a world file, as the first tutorial does. */
class WorldServer extends Server {
  async begin(world) {
    writeFileSync(join(this.data, "world.json"), world);
    execFileSync(this.executable, ["import", join(this.data, "world.json"), "--data", this.data]);
    this.start("serve", "127.0.0.1:0", "--workbench", "on");
    this.url = (await until("the server is there", () => /listening on (http:\S+)/.exec(this.output)))[1];
  }
}

/** Opens a window on a server that is not that of the group. */
async function visit(url) {
  const page = await enter(null, { elsewhere: true, fresh: true, ...VIEWPORT });
  await page.goto(url);
  return page;
}

export const TESTS = {
  async tutorial_of_the_first_bot_works_in_the_browser() {
    const files = filesOf("tutorial-first-bot.md"), own = new WorldServer(options.executable), script = "tutorial_bot.cjs";
    let bot = null;
    try {
      await own.begin(files["world.json"]);
      writeFileSync(script, files["bot.js"]); // next to the installed libraries
      bot = spawn("node", [script], { env: { ...process.env, API: `${own.url}/api`, TOKEN }, stdio: ["ignore", "pipe", "inherit"] });
      await new Promise((go) => bot.stdout.once("data", go));
      const page = await visit(own.url);
      await page.getByRole("button", { name: "ada" }).click();
      await page.getByRole("link", { name: /My first guild/ }).click();
      await field(page).fill("/greet");
      await page.getByRole("option", { name: /\/greet/ }).click();
      await page.getByLabel("name").fill("Bob");
      await page.getByRole("form", { name: "/greet" }).getByRole("button", { name: "Send" }).click();
      await seen(page, "Hello, Bob!");
      await picture(page, "tutorial-first-bot");
      await page.goto(`${own.url}/workbench/interactions`);
      await page.getByText(/answered after/).first().waitFor();
      await picture(page, "tutorial-first-bot-workbench");
      await page.context().close();
    } finally {
      bot?.kill();
      await own.end();
    }
  },

  async tutorial_of_the_first_community_works_in_the_browser() {
    const own = new WorldServer(options.executable);
    try {
      await own.begin('{"users": [{"username": "ada"}]}');
      const page = await visit(own.url);
      await page.getByRole("button", { name: "ada" }).click();
      await page.getByRole("button", { name: "Create a server" }).click();
      const dialog = page.getByRole("dialog", { name: "Create a server" });
      await dialog.getByLabel("Server name").fill("The Tea Table");
      await picture(page, "tutorial-community-create");
      await dialog.getByRole("button", { name: "Create" }).click();
      await page.getByRole("button", { name: "Invite people" }).click();
      assert.match(await page.getByRole("dialog", { name: "Invite people" }).getByLabel("Link").inputValue(), /\/invite\//);
      await picture(page, "tutorial-community-invite");
      const guild = /channels\/(\d+)/.exec(page.url())[1];
      await page.goto(`${own.url}/channels/${guild}/settings/roles`);
      await page.getByRole("row", { name: /everyone/ }).waitFor();
      await picture(page, "tutorial-community-roles");
      await page.context().close();
    } finally {
      await own.end();
    }
  },

  async tutorial_of_moderation_works_in_the_browser() {
    const page = await enter("ada", VIEWPORT), settings = `/channels/${server().guild}/settings`;
    await page.open(`${settings}/automod`);
    await page.getByRole("button", { name: "New rule" }).click();
    await page.getByRole("menuitem", { name: "Block words in messages" }).click();
    const rule = page.getByRole("dialog");
    await rule.getByLabel("Blocked words", { exact: true }).fill("cheap gold, free gold*");
    await rule.getByRole("button", { name: "Create" }).click();
    await page.getByRole("article").getByText("free gold*").waitFor();
    await picture(page, "tutorial-moderate-automod");
    await assert.rejects(call("bob", "POST", `/channels/${server().channel}/messages`, { content: "cheap gold" }));
    await page.open(`${settings}/members`);
    await page.getByLabel("Search members").fill("bo");
    await page.getByRole("button", { name: "More about bob" }).click();
    await page.getByRole("menuitem", { name: "Time out" }).click();
    const asked = page.getByRole("dialog", { name: "Time out" });
    await asked.getByLabel("Duration").selectOption({ label: "1 hour" });
    await picture(page, "tutorial-moderate-timeout");
    await asked.getByRole("button", { name: "Time out" }).click();
    await page.getByRole("row", { name: /timed out until/ }).waitFor();
    await page.open(`${settings}/log`);
    await page.getByText("changed the member bob").first().waitFor();
    await picture(page, "tutorial-moderate-log");
    await page.close();
  },
};
