// harness.js - the base of all page tests: groups with their own server, and users in their own
// windows.
//
// Groups run in parallel in one browser; the tests of a group run one after the other.
import { AsyncLocalStorage } from "node:async_hooks";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PATIENCE_MS, Server, bot, until } from "./demo_server.js";

const MOST_TRIES = 3;
const workers = new AsyncLocalStorage();
export const options = { source: "", executable: "", pictures: "", artefacts: "", storeLayout: false, browser: null, control: null };

/** The group in which this test runs. */
export const worker = () => workers.getStore();
export const server = () => worker().server;

export class Worker {
  constructor(name) {
    Object.assign(this, { name, problems: [], contexts: new Map(), pages: new Set(), server: new Server(options.executable) });
  }
  run(work) { return workers.run(this, work); }
  async begin() {
    await this.server.begin();
    this.helper = await bot(this.server);
  }
  async end() {
    await Promise.all([...this.contexts.values()].map(async (c) => (await c).close()));
    await this.helper?.destroy();
    await this.server.end();
  }
  /**
   * Windows of one kind share caches; each has its own storage and user. One unused
   * window stays open to keep the renderer process alive.
   */
  contextFor(kind, key = JSON.stringify(kind)) {
    const make = async () => {
      const context = await options.browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: "dark", serviceWorkers: "block", ...kind });
      context.setDefaultTimeout(PATIENCE_MS);
      context.on("close", () => this.contexts.delete(key));
      await (await context.newPage()).goto(`${this.server.url}/favicon.ico`);
      return context;
    };
    if (!this.contexts.has(key)) this.contexts.set(key, make());
    return this.contexts.get(key);
  }
  /** Saves a screenshot of every open window. */
  async picturesOfFailure(test) {
    const said = [];
    for (const [i, page] of [...this.pages].entries()) {
      const path = join(options.artefacts, `failed-${test}-${i}.png`);
      await page.screenshot({ path, timeout: 5000 }).then(() => said.push(`see ${path}`), () => {});
    }
    await Promise.all([...this.pages].map((page) => page.close().catch(() => {})));
    return said.join("\n");
  }
}

/** Opens a page in a window of its own. Chromium draws a page in a background tab only once per second, and each click waits for two frames. */
export function newWindow(context) {
  const open = async () => {
    const { targetInfo } = await (await browserSideOf(context.pages()[0])).send("Target.getTargetInfo");
    const control = await (options.control ??= options.browser.newBrowserCDPSession());
    const [page] = await Promise.all([context.waitForEvent("page"), control.send("Target.createTarget", { url: "about:blank", browserContextId: targetInfo.browserContextId, newWindow: true })]);
    return page;
  };
  return (context.opening = Promise.resolve(context.opening).catch(() => {}).then(open)); // one after the other: the event does not say who opened the page
}

/**
 * Opens a window of a logged-in user, or of a guest without a name.
 * @param {string|null} name @param {{elsewhere?: boolean, fresh?: boolean}} [more] whether it may contact other servers, whether its caches are empty; and options of playwright
 */
export async function enter(name, { elsewhere, fresh, ...kind } = {}) {
  const own = worker(), context = await own.contextFor(kind, fresh ? `fresh ${own.contexts.size}` : undefined), page = await newWindow(context);
  own.pages.add(page);
  page.on("close", () => own.pages.delete(page));
  page.on("pageerror", (e) => own.problems.push(String(e.stack || e)));
  page.on("dialog", (d) => { own.problems.push(`a dialog: ${d.message()}`); d.dismiss(); });
  page.on("console", (m) => m.type() === "error" && /Content Security Policy|TrustedScript|Refused/.test(m.text()) && own.problems.push(m.text()));
  page.on("request", (r) => /^https?:/.test(r.url()) && new URL(r.url()).origin !== own.server.url && !elsewhere && own.problems.push(`${r.url()} is elsewhere`));
  await page.addInitScript((token) => {
    if (location.protocol !== "http:" || sessionStorage.getItem("entered")) return;
    localStorage.clear(); // of earlier windows
    sessionStorage.setItem("entered", "yes");
    if (token) sessionStorage.setItem("token", token);
  }, name && own.server.token(name));
  page.open = (path) => page.goto(own.server.url + path);
  /** Navigates within the application, like a link, without reloading. */
  page.turn = async (path) => {
    await page.locator(".page").waitFor({ state: "attached" });
    await page.evaluate((to) => {
      document.querySelector(".page").dataset.old = "";
      history.pushState(null, "", to);
      dispatchEvent(new PopStateEvent("popstate"));
    }, path);
  };
  return page;
}

export const general = () => `/channels/${server().guild}/${server().channel}`;
export const field = (page) => page.getByRole("textbox", { name: /^Message / });
export const say = async (page, text) => { await field(page).fill(text); await field(page).press("Enter"); };
export const seen = (page, text) => page.getByText(text).last().waitFor();
/** Waits until pending drawing is done. */
export const frames = (page) => page.evaluate(async () => { for (let i = 0; i < 10; i++) await new Promise(requestAnimationFrame); });
export const call = (who, ...args) => server().call(server().token(who), ...args);
const newest = async () => (await call("ada", "GET", `/channels/${server().channel}/messages?limit=1`))[0].id;

/** Invokes /roll; repeats it if a busy machine delayed the bot beyond its three seconds. */
export const roll = async (page) => {
  const before = await newest(), late = page.locator(".notice.bad"), answered = async () => (await newest()) !== before;
  for (let tries = 0; tries < MOST_TRIES && !(await answered()); tries++) {
    while (await late.count()) await late.first().getByRole("button", { name: "Dismiss" }).click();
    await field(page).fill("/roll");
    await page.getByRole("option", { name: /\/roll/ }).click();
    await page.getByRole("button", { name: "+ sides" }).click();
    await page.getByLabel("sides").selectOption({ label: "Twenty" });
    await page.getByRole("form", { name: "/roll" }).getByRole("button", { name: "Send" }).click();
    await until("the bot answers, or is too late", async () => (await answered()) || (await late.count()) > 0);
  }
  await page.locator(`[data-id="${await newest()}"]`).getByText("You rolled").first().waitFor();
};

/** Returns texts that only a script fault writes: null, undefined, NaN, [object …]. Code that is shown on purpose may contain them. */
export const codeWords = (page) => page.evaluate(() => {
  const found = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const text = walk.currentNode.textContent, el = walk.currentNode.parentElement;
    if (/\b(null|undefined|NaN)\b|\[object/.test(text) && !el.closest("pre, code, .wire, .operation, script, style, textarea")) found.push(`${text.trim().slice(0, 80)} (${el.tagName.toLowerCase()}.${el.className})`);
  }
  return found;
});

/** Returns a DevTools session of a window. */
export const browserSideOf = async (page) => (page.browserSide ??= await page.context().newCDPSession(page));

/** Saves a screenshot for the README if a folder was given, otherwise with the other artefacts. */
export async function picture(page, name) {
  const browserSide = await browserSideOf(page);
  const { data } = await browserSide.send("Page.captureScreenshot", { format: "webp", quality: 82, optimizeForSpeed: !options.pictures });
  writeFileSync(join(options.pictures || options.artefacts, `${name}.webp`), Buffer.from(data, "base64"));
}
