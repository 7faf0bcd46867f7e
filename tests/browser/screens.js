// screens.js - tests the accessibility, layout, translation and size of every screen.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import typescript from "typescript";
import { browserSideOf, call, codeWords, enter, field, general, options, picture, roll, server } from "./harness.js";
import { Server, until } from "./demo_server.js";

export const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** The names of emoji, which are loaded on first use, are 25 KiB of these bytes. */
const MOST_BYTES = 300_000, MOST_LINES = 300, WIDTHS = [1440, 768, 360], HEIGHT = 740;

const SETTINGS = ["account", "profile", "appearance", "notifications", "keyboard", "voice", "privacy", "connections", "grants", "security", "sessions", "apps", "teams"];
const OF_GUILDS = ["overview", "roles", "members", "bans", "invites", "integrations", "commands", "webhooks", "emoji", "stickers", "sounds", "events", "automod", "welcome", "onboarding", "widget", "template", "insights", "log"];
const BENCH = ["traffic", "interactions", "events", "why", "errors", "sessions", "trouble", "moderation", "world", "health", "reference"];
const signOfBench = (tab) => ({ traffic: ".wire", events: ".wire", health: ".chart", reference: ".operation" })[tab] || ".bench-scroll";

/** Returns each path with a selector that shows that it is drawn. @returns {Promise<[string, string][]>} */
export async function allScreens() {
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

/** Returns accessibility faults, one line each. @param {string[]} [rules] all rules if missing */
export async function faultsOf(page, words, rules) {
  const { violations } = await page.evaluate((only) => window.axe.run(document, { resultTypes: ["violations"], preload: false, ...(only ? { runOnly: only } : {}) }), rules);
  return [...violations.map((v) => `${words}: ${v.id}: ${v.nodes[0].target} ${v.nodes[0].failureSummary?.split("\n")[1] || ""}`), ...(await codeWords(page)).map((x) => `${words}: the text ${x}`)];
}

/** Elements with names given by users or the server: a channel may be called "Workbench". */
const NAMED_BY_OTHERS = ".channel-list, .components, .bench table [data-key]";

/** Returns English words of a page for which a translation exists, with their elements. */
const englishOf = (page) => page.evaluate(async (THEIRS) => {
  const at = performance.getEntriesByType("resource").find((e) => e.name.endsWith("/german.js")).name, { GERMAN } = await import(at);
  const german = new Set(Object.values(GERMAN)), left = new Set();
  const inspect = (text, el) => { const words = (text || "").trim(); if (GERMAN[words] && !german.has(words) && !el.closest(THEIRS)) left.add(`${words} (${el.tagName.toLowerCase()}.${el.className})`); };
  for (const el of document.body.querySelectorAll("*")) {
    for (const node of el.childNodes) if (node.nodeType === Node.TEXT_NODE) inspect(node.textContent, el);
    for (const name of ["aria-label", "title", "placeholder", "alt"]) inspect(el.getAttribute(name), el);
  }
  return [...left];
}, NAMED_BY_OTHERS);

/** Waits until the page is drawn; in the chat only the middle is redrawn. */
export const drawn = (page, path, sign) => page.locator(/^\/friends|^\/channels\/(@me|\d+)\/\d+$/.test(path) ? sign : `.page:not([data-old]) ${sign}`).first().waitFor();
export const nameOf = (path) => path.replace(/\?.*/, "").replace(/\d{15,}/g, "").split("/").filter(Boolean).join("-") || "start";

/** Returns whether the form opened; a busy machine may delay the bot beyond its time limit. */
async function formComes(page) {
  const form = page.getByRole("dialog", { name: "The form" }), late = page.locator("article").filter({ has: page.getByRole("button", { name: "Fill in" }) }).last().getByRole("alert");
  await page.getByRole("button", { name: "Fill in" }).last().click();
  await until("the form opens, or the bot is too late", async () => (await form.count()) > 0 || (await late.count()) > 0);
  return (await form.count()) > 0;
}

/** Overlays of a page. @type {[string, (page: any) => Promise<unknown>, (page: any) => Promise<unknown>][]} */
const OPENED = [
  ["jump", (page) => page.keyboard.press("Control+k"), (page) => page.locator(".suggestion").first().waitFor()],
  ["emoji", (page) => page.getByRole("button", { name: "Emoji", exact: true }).click(), (page) => page.getByRole("dialog", { name: "Emoji" }).waitFor()],
  ["gifs", (page) => page.getByRole("button", { name: "GIFs", exact: true }).click(), (page) => page.getByRole("dialog", { name: "GIFs" }).waitFor()],
  ["commands", (page) => field(page).fill("/"), (page) => page.locator(".suggestion").first().waitFor()],
  ["profile", (page) => page.getByRole("button", { name: /^Profile of/ }).last().click(), (page) => page.getByRole("dialog").waitFor()],
  ["modal", (page) => until("the bot has shown its form", () => formComes(page)), (page) => page.getByRole("dialog", { name: "The form" }).waitFor()],
];

/** Resizes the window and waits until it is redrawn. */
async function resize(page, width) {
  const browserSide = await browserSideOf(page);
  await browserSide.send("Emulation.setDeviceMetricsOverride", { width, height: HEIGHT, deviceScaleFactor: 1, mobile: false });
  await page.evaluate((wanted) => new Promise((done) => {
    const inspect = () => (innerWidth === wanted ? done(undefined) : requestAnimationFrame(inspect));
    inspect();
  }), width);
}

/** Returns the accessibility faults of these screens, and the screens that are too wide. */
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

/** Walks through every screen, in two groups: run only by `make nightly`, because each takes a minute. */
export const CHAT_WALKS = {
  async every_chat_screen_is_accessible_and_fits() {
    const page = await enterForAxe(), faults = await faultsOfAll(page, (await allScreens()).filter((x) => !ofTheBench(x)));
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

/** Looks for accessibility faults of the light theme. It differs only in colours, so these are checked. @param {RegExp} chosen paths of screens @param {string[]} guestPaths */
async function walkLightTheme(chosen, guestPaths) {
  const faults = [], page = await enter("ada", { colorScheme: "light" }), guest = await enter(null, { colorScheme: "light" });
  await page.addInitScript(axe);
  await guest.addInitScript(axe);
  await page.open(general());
  for (const [path, sign] of (await allScreens()).filter(([x]) => chosen.test(x))) {
    await page.turn(path);
    await drawn(page, path, sign);
    faults.push(...(await faultsOf(page, `light ${path}`, ["color-contrast"])));
  }
  for (const path of guestPaths) {
    await guest.open(path);
    await guest.locator("h1").first().waitFor();
    for (const colorScheme of ["light", "dark"]) {
      await guest.emulateMedia({ colorScheme });
      faults.push(...(await faultsOf(guest, `${colorScheme} ${path}`)));
    }
  }
  assert.deepEqual(faults, []);
  await Promise.all([page.close(), guest.close()]);
}

export const BENCH_WALKS = {
  async screens_with_all_colours_are_accessible_in_the_light_theme() {
    await walkLightTheme(/^.channels.\d+.\d+$|friends|security|roles|traffic|interactions|health|reference|authorize/, ["/login", "/register", "/verify", "/nowhere"]);
  },

  async every_workbench_and_guild_screen_is_accessible_and_fits() {
    const page = await enterForAxe();
    assert.deepEqual(await faultsOfAll(page, (await allScreens()).filter(ofTheBench)), []);
    await page.close();
  },

  async german_pages_contain_no_english_text() {
    const left = [], page = await enter("ada", { locale: "de-DE" }), guest = await enter(null, { locale: "de-DE" });
    await page.open(general());
    await page.locator(".composer").first().waitFor();
    for (const [path, sign] of await allScreens()) {
      await page.turn(path);
      await drawn(page, path, sign);
      left.push(...(await englishOf(page)).map((x) => `${path}: ${x}`));
    }
    for (const path of ["/login", "/register", "/verify", "/nowhere"]) {
      await guest.open(path);
      await guest.locator("h1").first().waitFor();
      left.push(...(await englishOf(guest)).map((x) => `${path}: ${x}`));
      // German words are longer: they must fit a phone too.
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
  /* The nightly walks look for accessibility faults in the same tabs; here only in those that this server shows differently. */
  async console_only_server_shows_only_the_console() {
    const only = new Server(options.executable), page = await enter(null, { elsewhere: true }), faults = Object.assign([], { checked: false }), linked = new Set();
    const inspect = async (tab) => {
      await page.locator(`.page:not([data-old]) ${signOfBench(tab)}`).first().waitFor();
      if (tab === "traffic" && !faults.checked) faults.push(...(await faultsOf(page, `${tab} of the operator`)));
      faults.checked = true;
      for (const to of await page.locator("a[href^='/']").evaluateAll((all) => all.map((a) => a.getAttribute("href")))) linked.add(to);
    };
    try {
      await only.begin("--web", "operator");
      await only.call(only.token("ada"), "GET", "/users/@me"); // creates some traffic
      await page.addInitScript(axe);
      await page.goto(only.url);
      await inspect("traffic");
      assert.equal(new URL(page.url()).pathname, "/workbench");
      await page.evaluate((token) => sessionStorage.setItem("token", token), only.token("ada")); // simulates a token of an earlier server with chat
      await page.reload();
      for (const tab of BENCH.filter((x) => x !== "events")) {
        await page.turn(`/workbench/${tab}`);
        await inspect(tab);
      }
      for (const to of linked) assert.equal((await fetch(only.url + to, { headers: { Accept: "text/html" } })).status, 200, to);
      assert.ok(linked.size >= BENCH.length - 1, [...linked].join());
      await page.turn("/channels/@me");
      await inspect("traffic");
      await page.goto(`${only.url}/login`);
      await page.getByRole("link", { name: "Go to the home page" }).click();
      await inspect("traffic");
      // A server without the workbench option asks for the console key.
      await only.kill();
      await only.restart("--web", "operator", "--traffic", "1");
      await page.reload();
      await page.getByLabel("Access key of the operator console").fill("nonsense");
      await page.getByRole("button", { name: "Log in" }).click();
      await page.getByText("This access key is wrong").waitFor();
      faults.push(...(await faultsOf(page, "the key of the operator")));
      await page.getByLabel("Access key of the operator console").fill(execFileSync(options.executable, ["console-key", "--data", only.data], { encoding: "utf8" }).trim());
      await page.getByRole("button", { name: "Log in" }).click();
      await only.call(only.token("ada"), "GET", "/users/@me");
      await inspect("traffic");
      assert.deepEqual([...faults], []);
    } finally {
      await only.end();
      await page.close();
    }
  },

  async chosen_language_overrides_the_browser_language() {
    const page = await enter("ada", { locale: "de-DE" });
    await page.open(general());
    await page.locator(".composer").first().waitFor();
    assert.equal(await page.evaluate(() => document.documentElement.lang), "de");
    await page.turn("/settings/appearance");
    await page.getByLabel("Sprache des Webclients").selectOption({ label: "English" });
    await page.getByLabel("Language of the web client").waitFor();
    assert.equal(await page.evaluate(() => document.documentElement.lang), "en");
    await page.close();
  },

  async light_theme_is_accessible() {
    await walkLightTheme(/^.channels.\d+.\d+$|security/, ["/login"]);
  },

  async total_size_of_the_pages_is_limited() {
    const page = await (await fetch(`${server().url}/`, { headers: { Accept: "text/html" } })).text(), base = /\/web\/\w+\//.exec(page)[0];
    const seen = new Map(), waiting = ["main.js", "style.css", "icon.svg", "offline.js", "service-worker.js", "manifest.json"];
    for (let name = waiting.shift(); name; name = waiting.shift()) {
      if (seen.has(name)) continue;
      const url = new URL(name, `${server().url}${base}`), [text, sent] = await Promise.all([fetch(url).then((a) => a.text()), fetch(url, { method: "HEAD", headers: { "Accept-Encoding": "gzip" } })]);
      assert.ok(sent.ok, name);
      seen.set(name, Number(sent.headers.get("content-length")));
      for (const [, other] of text.matchAll(/(?:from|import\(?|new URL\()\s*"(\.[^"]+)"/g)) waiting.push(new URL(other, url).pathname.slice(base.length));
    }
    const bytes = [...seen.values()].reduce((a, b) => a + b, 0);
    console.log(`${seen.size} files, ${bytes} bytes with gzip`);
    assert.ok(seen.size > 40 && bytes <= MOST_BYTES, `${seen.size} files of ${bytes} bytes`);
  },

  async no_file_of_the_pages_is_too_long() {
    const folder = join(options.source, "web"), names = readdirSync(folder, { recursive: true }).map(String).filter((name) => /\.(js|css|html)$/.test(name) && name !== "german.js");
    assert.ok(names.length > 150);
    assert.deepEqual(names.map((name) => [name, readFileSync(join(folder, name), "utf8").split("\n").length - 1]).filter(([, lines]) => lines > MOST_LINES), []);
  },

  async scripts_have_the_tokens_of_their_sources() {
    const page = await (await fetch(`${server().url}/`, { headers: { Accept: "text/html" } })).text(), base = /\/web\/\w+\//.exec(page)[0];
    const folder = join(options.source, "web"), names = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".js"));
    assert.ok(names.length > 100);
    for (const name of names) {
      const sent = await (await fetch(`${server().url}${base}${name}`)).text(), source = readFileSync(join(folder, name), "utf8");
      assert.deepEqual(tokensOf(sent), tokensOf(source), name);
    }
  },
};

/** The tokens of a script without comments and white space, as TypeScript's parser finds them. */
function tokensOf(text) {
  const tree = typescript.createSourceFile("x.js", text, typescript.ScriptTarget.Latest), found = [];
  const walk = (node) => {
    const children = node.getChildren(tree).filter((child) => !typescript.isJSDoc(child));
    if (!children.length) found.push(node.getText(tree));
    for (const child of children) walk(child);
  };
  walk(tree);
  return found.filter(Boolean);
}
