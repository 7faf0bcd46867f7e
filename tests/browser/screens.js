// screens.js - every screen: for people who do not see it, in small and large windows, light and dark, and how much of it is sent.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { browserSideOf, call, codeWords, enter, field, general, options, picture, roll, server } from "./stage.js";
import { Server, until } from "./world.js";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const MOST_BYTES = 200 * 1024, WIDTHS = [1440, 768, 360], HEIGHT = 740;

const SETTINGS = ["profile", "language", "privacy", "connections", "grants", "security", "sessions", "apps", "teams"];
const OF_GUILDS = ["overview", "roles", "members", "bans", "invites", "integrations", "commands", "webhooks", "emoji", "stickers", "sounds", "events", "automod", "welcome", "onboarding", "template", "log"];
const BENCH = ["traffic", "interactions", "events", "sessions", "trouble", "world", "health", "reference"];
const signOfBench = (tab) => ({ traffic: ".wire", events: ".wire", health: ".chart", reference: ".operation" })[tab] || ".bench-scroll";

/** Each path, and what is there when it is drawn. @returns {Promise<[string, string][]>} */
async function screens() {
  const guild = server().guild, channels = await call("ada", "GET", `/guilds/${guild}/channels`), [app] = await call("ada", "GET", "/applications");
  const kind = (type) => channels.find((c) => c.type === type)?.id;
  const direct = await call("ada", "POST", "/users/@me/channels", { recipient_id: (await call("bob", "GET", "/users/@me")).id });
  const invite = await call("ada", "POST", `/channels/${server().channel}/invites`, {});
  return [
    [general(), "article"], [`/channels/@me/${direct.id}`, ".composer"], ["/friends", ".person"],
    ...[[2, ".voice-controls"], [13, ".stage-topic"], [15, ".posts"]].filter(([type]) => kind(type)).map(([type, sign]) => [`/channels/${guild}/${kind(type)}`, sign]),
    ...SETTINGS.map((tab) => [`/settings/${tab}`, ".settings-body > div > *"]), [`/settings/apps/${app?.id}`, ".settings-body > div > *"],
    ...OF_GUILDS.map((tab) => [`/channels/${guild}/settings/${tab}`, ".settings-body > div > *"]), ...["overview", "permissions"].map((tab) => [`/channels/${guild}/${server().channel}/settings/${tab}`, ".settings-body .button"]), ...BENCH.map((tab) => [`/workbench/${tab}`, signOfBench(tab)]),
    [`/invite/${invite.code}`, "h1"], ["/invite/nonsense", "h1"], [`/oauth2/authorize?client_id=${app?.id}&scope=bot+applications.commands&permissions=2048`, ".scopes"],
  ];
}

/** Faults, as one line each. @param {string[]} [rules] all of them without it */
async function faultsOf(page, words, rules) {
  const { violations } = await page.evaluate((only) => window.axe.run(document, { resultTypes: ["violations"], preload: false, ...(only ? { runOnly: only } : {}) }), rules);
  return [...violations.map((v) => `${words}: ${v.id}: ${v.nodes[0].target} ${v.nodes[0].failureSummary?.split("\n")[1] || ""}`), ...(await codeWords(page)).map((x) => `${words}: the text ${x}`)];
}

/** Names that people and the server's tables gave: a channel may be called "Workbench". */
const NAMED_BY_OTHERS = ".channel-list, .bench table [data-key]";

/** Words of a page that are English where the table has others, with where they stand. */
const englishOf = (page) => page.evaluate(async (THEIRS) => {
  const at = performance.getEntriesByType("resource").find((e) => e.name.endsWith("/german.js")).name, { GERMAN } = await import(at);
  const german = new Set(Object.values(GERMAN)), left = new Set();
  const look = (text, el) => { const words = (text || "").trim(); if (GERMAN[words] && !german.has(words) && !el.closest(THEIRS)) left.add(`${words} (${el.tagName.toLowerCase()}.${el.className})`); };
  for (const el of document.body.querySelectorAll("*")) {
    for (const node of el.childNodes) if (node.nodeType === Node.TEXT_NODE) look(node.textContent, el);
    for (const name of ["aria-label", "title", "placeholder", "alt"]) look(el.getAttribute(name), el);
  }
  return [...left];
}, NAMED_BY_OTHERS);

/** Of the chat only the middle is drawn anew; everything else is another page. */
const drawn = (page, path, sign) => page.locator(/^\/friends|^\/channels\/(@me|\d+)\/\d+$/.test(path) ? sign : `.page:not([data-old]) ${sign}`).first().waitFor();
const nameOf = (path) => path.replace(/\?.*/, "").replace(/\d{15,}/g, "").split("/").filter(Boolean).join("-") || "start";

/** As of roll: the bot may be kept from the processor for longer than it has to answer. */
async function formComes(page) {
  await page.getByRole("button", { name: "Fill in" }).last().click();
  return page.getByRole("dialog", { name: "The form" }).waitFor({ timeout: 8000 }).then(() => true, () => false);
}

/** What opens above a page. @type {[string, (page: any) => Promise<unknown>, (page: any) => Promise<unknown>][]} */
const OPENED = [
  ["jump", (page) => page.keyboard.press("Control+k"), (page) => page.locator(".suggestion").first().waitFor()],
  ["emoji", (page) => page.getByRole("button", { name: "Emoji", exact: true }).click(), (page) => page.getByRole("dialog", { name: "Emoji" }).waitFor()],
  ["gifs", (page) => page.getByRole("button", { name: "GIFs", exact: true }).click(), (page) => page.getByRole("dialog", { name: "GIFs" }).waitFor()],
  ["commands", (page) => field(page).fill("/"), (page) => page.locator(".suggestion").first().waitFor()],
  ["profile", (page) => page.getByRole("button", { name: /^Profile of/ }).last().click(), (page) => page.getByRole("dialog").waitFor()],
  ["modal", (page) => until("the bot has shown its form", () => formComes(page)), (page) => page.getByRole("dialog", { name: "The form" }).waitFor()],
];

/** Of another width, drawn so. */
async function resize(page, width) {
  const browserSide = await browserSideOf(page);
  await browserSide.send("Emulation.setDeviceMetricsOverride", { width, height: HEIGHT, deviceScaleFactor: 1, mobile: false });
  await page.evaluate((wanted) => new Promise((done) => {
    const look = () => (innerWidth === wanted ? done(undefined) : requestAnimationFrame(look));
    look();
  }), width);
}

/** What is wrong with these screens: for people who do not see them, and where they are too narrow. */
async function faultsOfAll(page, all) {
  const faults = [];
  for (const [path, sign] of all) {
    await page.turn(path);
    await drawn(page, path, sign);
    faults.push(...(await faultsOf(page, path)));
    for (const width of WIDTHS) {
      if (width !== WIDTHS[0]) await resize(page, width);
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (over > 0) faults.push(`${path} is ${over} pixels too wide for ${width}`);
    }
    await picture(page, `screen-${nameOf(path)}-360`);
    await resize(page, WIDTHS[0]);
  }
  return faults;
}

async function enterForAxe() {
  const page = await enter("ada", { viewport: { width: WIDTHS[0], height: HEIGHT } });
  await page.addInitScript(axe);
  await page.open(general());
  await field(page).waitFor();
  await roll(page);
  return page;
}

const ofTheBench = ([path]) => /^\/workbench|\/settings\/(?!apps)/.test(path) && !path.startsWith("/settings");

/** Walks through every screen, in two lanes: run by `make nightly` alone, because each takes a minute. */
export const CHAT_WALKS = {
  async every_screen_of_the_chat_is_for_everybody_and_fits() {
    const page = await enterForAxe(), faults = await faultsOfAll(page, (await screens()).filter((x) => !ofTheBench(x)));
    await page.turn(general());
    await page.locator("article").first().waitFor();
    for (const [name, open, there] of OPENED) {
      await open(page);
      await there(page);
      faults.push(...(await faultsOf(page, name)));
      await page.keyboard.press("Escape");
      if (name === "commands") await field(page).fill("");
    }
    assert.deepEqual(faults, []);
    await resize(page, 360);
    await page.getByRole("button", { name: "Channels" }).click();
    await page.getByRole("link", { name: "rules" }).click();
    await page.getByText("Be kind. Clean up").waitFor();
    await page.close();
  },
};

export const BENCH_WALKS = {
  async every_screen_of_the_bench_and_of_guilds_is_for_everybody_and_fits() {
    const page = await enterForAxe();
    assert.deepEqual(await faultsOfAll(page, (await screens()).filter(ofTheBench)), []);
    await page.close();
  },

  async german_has_no_english_in_it() {
    const left = [], page = await enter("ada", { locale: "de-DE" }), guest = await enter(null, { locale: "de-DE" });
    await page.open(general());
    await page.locator(".composer").first().waitFor();
    for (const [path, sign] of await screens()) {
      await page.turn(path);
      await drawn(page, path, sign);
      left.push(...(await englishOf(page)).map((x) => `${path}: ${x}`));
    }
    for (const path of ["/login", "/register", "/verify", "/nowhere"]) {
      await guest.open(path);
      await guest.locator("h1").first().waitFor();
      left.push(...(await englishOf(guest)).map((x) => `${path}: ${x}`));
      // Its words are the longer ones: they fit a phone, too.
      await resize(guest, 360);
      const over = await guest.evaluate(() => Math.max(...[...document.querySelectorAll("html, .enter, .tabs")].map((el) => el.scrollWidth - el.clientWidth)));
      if (over > 0) left.push(`${path} is ${over} pixels too wide`);
      await resize(guest, 1280);
    }
    assert.deepEqual(left, []);
    await Promise.all([page.close(), guest.close()]);
  },
};

export const TESTS = {
  async a_server_for_its_operator_alone_shows_and_links_nothing_else() {
    const only = new Server(options.executable), page = await enter(null, { elsewhere: true }), faults = [], linked = new Set();
    const look = async (tab) => {
      await page.locator(`.page:not([data-old]) ${signOfBench(tab)}`).first().waitFor();
      faults.push(...(await faultsOf(page, `${tab} of the operator`)));
      for (const to of await page.locator("a[href^='/']").evaluateAll((all) => all.map((a) => a.getAttribute("href")))) linked.add(to);
    };
    try {
      await only.begin("--web", "operator");
      await only.call(only.token("ada"), "GET", "/users/@me"); // something to look at
      await page.addInitScript(axe);
      await page.goto(only.url);
      await look("traffic");
      assert.equal(new URL(page.url()).pathname, "/workbench");
      await page.evaluate((token) => sessionStorage.setItem("token", token), only.token("ada")); // of a server that had a chat, too
      await page.reload();
      for (const tab of BENCH.filter((x) => x !== "events")) {
        await page.turn(`/workbench/${tab}`);
        await look(tab);
      }
      for (const to of linked) assert.equal((await fetch(only.url + to, { headers: { Accept: "text/html" } })).status, 200, to);
      assert.ok(linked.size >= BENCH.length - 1, [...linked].join());
      await page.turn("/channels/@me");
      await look("traffic");
      await page.goto(`${only.url}/login`);
      await page.getByRole("link", { name: "Go to the home page" }).click();
      await look("traffic");
      // Where it is no server for tests, it asks for the key.
      await only.kill();
      await only.restart("--web", "operator", "--traffic", "1");
      await page.reload();
      await page.getByLabel("Console key").fill("nonsense");
      await page.getByRole("button", { name: "Log in" }).click();
      await page.getByText("This key is wrong").waitFor();
      faults.push(...(await faultsOf(page, "the key of the operator")));
      await page.getByLabel("Console key").fill(execFileSync(options.executable, ["console-key", "--data", only.data], { encoding: "utf8" }).trim());
      await page.getByRole("button", { name: "Log in" }).click();
      await only.call(only.token("ada"), "GET", "/users/@me");
      await look("traffic");
      assert.deepEqual(faults, []);
    } finally {
      await only.end();
      await page.close();
    }
  },

  async a_chosen_language_replaces_that_of_the_browser() {
    const page = await enter("ada", { locale: "de-DE" });
    await page.open(general());
    await page.locator(".composer").first().waitFor();
    assert.equal(await page.evaluate(() => document.documentElement.lang), "de");
    await page.turn("/settings/language");
    await page.getByLabel("Sprache des Webclients").selectOption({ label: "English" });
    await page.getByLabel("Language of the web client").waitFor();
    assert.equal(await page.evaluate(() => document.documentElement.lang), "en");
    await page.close();
  },

  async light_is_as_good_as_dark() {
    const faults = [], page = await enter("ada", { colorScheme: "light" }), guest = await enter(null, { colorScheme: "light" });
    await page.addInitScript(axe);
    await guest.addInitScript(axe);
    await page.open(general());
    // Light differs in its colours alone: the screens that have all of them are enough.
    for (const [path, sign] of (await screens()).filter(([x]) => /^.channels.\d+.\d+$|friends|security|roles|traffic|interactions|health|reference|authorize/.test(x))) {
      await page.turn(path);
      await drawn(page, path, sign);
      faults.push(...(await faultsOf(page, `light ${path}`, ["color-contrast"])));
    }
    for (const path of ["/login", "/register", "/verify", "/nowhere"]) {
      await guest.open(path);
      await guest.locator("h1").first().waitFor();
      for (const colorScheme of ["light", "dark"]) {
        await guest.emulateMedia({ colorScheme });
        faults.push(...(await faultsOf(guest, `${colorScheme} ${path}`)));
      }
    }
    assert.deepEqual(faults, []);
    await Promise.all([page.close(), guest.close()]);
  },

  async all_files_together_are_small() {
    const page = await (await fetch(`${server().url}/`, { headers: { Accept: "text/html" } })).text(), base = /\/web\/\w+\//.exec(page)[0];
    const seen = new Map(), waiting = ["main.js", "style.css", "icon.svg"];
    for (let name = waiting.shift(); name; name = waiting.shift()) {
      if (seen.has(name)) continue;
      const url = new URL(name, `${server().url}${base}`), [text, sent] = await Promise.all([fetch(url).then((a) => a.text()), fetch(url, { method: "HEAD", headers: { "Accept-Encoding": "gzip" } })]);
      assert.ok(sent.ok, name);
      seen.set(name, Number(sent.headers.get("content-length")));
      for (const [, other] of text.matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g)) waiting.push(new URL(other, url).pathname.slice(base.length));
    }
    const bytes = [...seen.values()].reduce((a, b) => a + b, 0);
    console.log(`${seen.size} files, ${bytes} bytes with gzip`);
    assert.ok(seen.size > 40 && bytes <= MOST_BYTES, `${seen.size} files of ${bytes} bytes`);
  },
};
