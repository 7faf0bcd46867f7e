// stage.js - what every test of the pages stands on: a lane with a server of its own, people in windows of their own.
//
// Lanes run side by side in one browser; the tests of a lane run one after the other.
import { AsyncLocalStorage } from "node:async_hooks";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Server, bot } from "./world.js";

const PATIENCE_MS = Number(process.env.BROWSER_PATIENCE_MS) || 60000; // of one step, on a machine that is busy elsewhere
const lanes = new AsyncLocalStorage();
export const options = { executable: "", pictures: "", artefacts: "", browser: null };

/** The lane that this test runs in. */
export const lane = () => lanes.getStore();
export const server = () => lane().server;

export class Lane {
  constructor(name) {
    Object.assign(this, { name, problems: [], contexts: new Set(), server: new Server(options.executable) });
  }
  run(work) { return lanes.run(this, work); }
  async begin() {
    await this.server.begin();
    this.helper = await bot(this.server);
  }
  async end() {
    await this.closeAll();
    await this.helper?.destroy();
    await this.server.end();
  }
  async closeAll() {
    await Promise.all([...this.contexts].map((c) => c.close().catch(() => {})));
    this.contexts.clear();
  }
  /** Where every open window stood. */
  async picturesOfFailure(test) {
    const said = [];
    for (const [i, page] of [...this.contexts].flatMap((c) => c.pages()).entries()) {
      const path = join(options.artefacts, `failed-${test}-${i}.png`);
      await page.screenshot({ path, timeout: 5000 }).then(() => said.push(`see ${path}`), () => {});
    }
    await this.closeAll();
    return said.join("\n");
  }
}

/** A window of somebody, who is in already; of nobody without a name. */
export async function enter(name, more = {}) {
  const own = lane(), context = await options.browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: "dark", ...more });
  own.contexts.add(context);
  context.on("close", () => own.contexts.delete(context));
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  page.on("pageerror", (e) => own.problems.push(String(e.stack || e)));
  page.on("dialog", (d) => { own.problems.push(`a dialog: ${d.message()}`); d.dismiss(); });
  page.on("console", (m) => m.type() === "error" && /Content Security Policy|TrustedScript|Refused/.test(m.text()) && own.problems.push(m.text()));
  page.on("request", (r) => /^https?:/.test(r.url()) && new URL(r.url()).origin !== own.server.url && !more.elsewhere && own.problems.push(`${r.url()} is elsewhere`));
  if (name) await page.addInitScript((token) => { if (location.protocol === "http:" && !sessionStorage.getItem("token")) sessionStorage.setItem("token", token); }, own.server.token(name));
  page.open = (path) => page.goto(own.server.url + path);
  /** Within the application, as a link does it: nothing is loaded anew. */
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
export const call = (who, ...args) => server().call(server().token(who), ...args);
export const roll = async (page) => {
  await field(page).fill("/roll");
  await page.getByRole("option", { name: /\/roll/ }).click();
  await page.getByRole("button", { name: "+ sides" }).click();
  await page.getByLabel("sides").selectOption({ label: "Twenty" });
  await page.getByRole("form", { name: "/roll" }).getByRole("button", { name: "Send" }).click();
  await page.getByText("You rolled").last().waitFor();
};

/** What the browser itself can be asked about a window. */
export const browserSideOf = async (page) => (page.browserSide ??= await page.context().newCDPSession(page));

/** For the README, when the run is told where they go; else beside the other artefacts. */
export async function picture(page, name) {
  const browserSide = await browserSideOf(page);
  const { data } = await browserSide.send("Page.captureScreenshot", { format: "webp", quality: 82, optimizeForSpeed: !options.pictures });
  writeFileSync(join(options.pictures || options.artefacts, `${name}.webp`), Buffer.from(data, "base64"));
}
