// welcome.js - the first steps of a new person and of an operator; empty places; avatars without a picture.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { call, enter, field, general, options, say, seen, server, worker } from "./harness.js";
import { Server, until } from "./demo_server.js";

const PASSWORD = "correct horse";

/** A new person, registered by the form. */
async function newcomer(name, path = "/register") {
  const page = await enter(null, { fresh: true });
  await page.open(path);
  await page.getByLabel("Username").fill(name);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Register" }).click();
  return page;
}

/** The contrast of two colours as WCAG defines it. */
function contrast(page, one, other) {
  return page.evaluate(([a, b]) => {
    const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const light = (color) => {
      context.fillStyle = color;
      context.fillRect(0, 0, 1, 1);
      const [r, g, bl] = [...context.getImageData(0, 0, 1, 1).data].map((x) => (x / 255 <= 0.03928 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * bl;
    };
    const [x, y] = [light(a), light(b)].sort((m, n) => n - m);
    return (x + 0.05) / (y + 0.05);
  }, [one, other]);
}

export const TESTS = {
  async a_new_person_creates_a_server() {
    const page = await newcomer("tess");
    await page.getByRole("heading", { name: "Welcome, tess" }).waitFor();
    await page.getByText("No friends yet").waitFor();
    await page.getByRole("button", { name: "Create a server" }).click();
    const dialog = page.getByRole("dialog", { name: "Create a server" });
    assert.equal(await dialog.getByLabel("Server name").inputValue(), "tess’s server");
    await dialog.getByLabel("Server name").fill("x");
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.locator("[aria-invalid=true]").waitFor(); // the server refuses one letter; its words stand at the field
    await dialog.getByLabel("Server name").fill("The Attic");
    await dialog.getByRole("button", { name: "Create" }).click();
    await page.getByText("Nobody has written here yet. Write the first message below.").waitFor();
    await page.getByRole("button", { name: "Invite people" }).click();
    await page.getByRole("dialog", { name: "Invite people" }).getByLabel("Link").waitFor();
    await page.keyboard.press("Escape");
    await say(page, "First");
    await seen(page, "First");
    await page.getByText("Nobody has written here yet").waitFor({ state: "detached" });
    await page.open("/friends");
    await page.getByRole("heading", { name: "Friends" }).waitFor();
    assert.equal(await page.getByRole("heading", { name: /Welcome/ }).count(), 0); // for those without a server alone
    await page.context().close();
  },

  async a_new_person_joins_a_server_by_its_link() {
    const { code } = await call("ada", "POST", `/channels/${server().channel}/invites`, {});
    const page = await newcomer("toni");
    await page.getByRole("button", { name: "Join a server" }).click();
    const dialog = page.getByRole("dialog", { name: "Join a server" });
    await dialog.getByLabel("Invite link").fill(`${server().url}/invite/nonsense`);
    await dialog.getByRole("button", { name: "Continue" }).click();
    await dialog.getByText("This invite does not exist or has expired. Ask for a new one.").waitFor();
    await dialog.getByLabel("Invite link").fill(`${server().url}/invite/${code}?from=mail`);
    await dialog.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("button", { name: "Accept invite" }).click();
    await field(page).waitFor();
    await page.context().close();
  },

  async an_invite_that_led_to_registration_is_opened_after_it() {
    const { code } = await call("ada", "POST", `/channels/${server().channel}/invites`, {});
    const page = await enter(null, { fresh: true });
    await page.open(`/invite/${code}`);
    await page.getByRole("button", { name: "Accept invite" }).click();
    await page.getByRole("tab", { name: "Register" }).click();
    await page.getByLabel("Username").fill("tara");
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Register" }).click();
    await Promise.race([page.getByRole("button", { name: "Accept invite" }).waitFor(), field(page).waitFor()]);
    await page.context().close();
  },

  async a_server_without_channels_says_what_to_do() {
    const guild = await call("ada", "POST", "/guilds", { name: "Bare" });
    for (const c of await call("ada", "GET", `/guilds/${guild.id}/channels`)) await call("ada", "DELETE", `/channels/${c.id}`);
    const page = await enter("ada");
    await page.open(`/channels/${guild.id}`);
    await page.getByText("No text channel yet").waitFor();
    await page.getByText("There are no channels that you can see.").waitFor();
    await page.locator("main").getByRole("button", { name: "New channel" }).click();
    await page.getByRole("dialog", { name: "New channel" }).waitFor();
    await page.close();
    await call("ada", "DELETE", `/guilds/${guild.id}`);
  },

  async an_operator_finds_out_how_people_register() {
    const asking = new Server(options.executable), page = await enter(null, { elsewhere: true, fresh: true });
    try {
      await asking.begin("--registration", "invite");
      await page.goto(`${asking.url}/register`);
      await page.getByText("Do you run this server?").click();
      await page.getByText("sudo guildhall invite create 5").waitFor();
      const { code } = JSON.parse(execFileSync(options.executable, ["invite", "create", "5", "--json", "--data", asking.data], { encoding: "utf8" }));
      await page.goto(`${asking.url}/invite/${code}`); // the link that the help describes
      await page.getByLabel("Username").fill("tom");
      await page.getByLabel("Password").fill(PASSWORD);
      await page.getByRole("button", { name: "Register" }).click();
      await page.getByRole("button", { name: "Create a server" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Create" }).click();
      await page.getByRole("button", { name: "Invite people" }).click();
      await page.getByText("People without an account also need a registration code").waitFor();
    } finally {
      await asking.end();
      await page.context().close();
    }
  },

  async avatars_without_a_picture_follow_from_the_id() {
    const page = await enter("ada");
    await page.open(general());
    await field(page).waitFor();
    const mine = page.locator(".self svg.pattern path");
    const outline = await mine.getAttribute("d");
    await page.reload();
    await mine.waitFor();
    assert.equal(await mine.getAttribute("d"), outline);
    const script = await page.evaluate(() => [...document.querySelectorAll("link[rel=modulepreload], script[src]")].map((x) => x.href || x.src).find((x) => x.endsWith("/main.js")));
    const all = await page.evaluate(async (main) => {
      const { patternOf } = await import(main.replace("main.js", "images.js"));
      return Array.from({ length: 2000 }, (_, i) => patternOf(String(1572381641102327808n + BigInt(i) * 4194304n)));
    }, script);
    const distinct = new Set(all.map((x) => JSON.stringify(x)));
    assert.ok(distinct.size > 1900, `${distinct.size} of 2000 are distinct`);
    for (const pair of new Set(all.map((x) => `${x.background}|${x.foreground}`))) {
      const found = await contrast(page, ...pair.split("|"));
      assert.ok(found >= 4.5, `${pair}: ${found}`);
    }
    await until("there is no avatar of letters among members", async () => (await page.locator(".member [data-letters]").count()) === 0);
    await page.close();
  },

  async page_can_be_installed_and_says_when_the_server_is_away() {
    const page = await enter("ada", { serviceWorkers: "allow", fresh: true });
    await page.open(general());
    const manifest = await page.evaluate(async () => (await fetch(document.querySelector("link[rel=manifest]").href)).json());
    assert.deepEqual([manifest.start_url, manifest.display, manifest.icons.length], ["/", "standalone", 2]);
    const errors = await (await page.context().newCDPSession(page)).send("Page.getInstallabilityErrors");
    assert.deepEqual(errors.installabilityErrors.map((e) => e.errorId).filter((e) => e !== "in-incognito"), []);
    await page.evaluate(async () => { await navigator.serviceWorker.ready; });
    await until("the worker is active", () => page.evaluate(async () => (await navigator.serviceWorker.ready).active?.state === "activated"));
    await page.context().setOffline(true);
    await page.reload();
    await page.getByRole("heading", { name: "You are offline" }).waitFor();
    await page.context().setOffline(false);
    await field(page).waitFor();
    worker().problems.length = 0; // the browser's own words about the lost connection
    await page.context().close();
  },
};
