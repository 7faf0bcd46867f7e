// login.js - stay logged in, several tabs, several accounts, log out everywhere.
import assert from "node:assert/strict";
import { enter, field, frames, general, newWindow, server, worker } from "./harness.js";
import { until } from "./demo_server.js";

const PASSWORD = "correct horse";
const register = (username) => server().call(null, "POST", "/auth/register", { username, password: PASSWORD });
const stored = (page) => page.evaluate(() => JSON.parse(localStorage.getItem("login") || "{}"));
const home = (page) => page.getByRole("heading", { name: "Friends" }).waitFor();
const isMe = (page, name) => page.locator(".self").getByText(`@${name}`).waitFor();
const whoami = (token) => server().call(token, "GET", "/users/@me");

/** Logs in by the form of the open page. */
async function logIn(page, name, { stay = true } = {}) {
  await page.getByLabel("Username or email").fill(name);
  await page.getByLabel("Password").fill(PASSWORD);
  if (!stay) await page.getByLabel("Stay logged in").uncheck();
  await page.getByRole("tabpanel").getByRole("button", { name: "Log in" }).click();
}

/** Another tab of the same browser: it shares localStorage and has its own sessionStorage. */
async function tabOf(page, path = "/") {
  const tab = await newWindow(page.context()), own = worker();
  own.pages.add(tab);
  tab.on("pageerror", (e) => own.problems.push(String(e.stack || e)));
  tab.on("close", () => own.pages.delete(tab));
  await tab.goto(server().url + path);
  return tab;
}

/** The first tab of a browser with nothing stored. */
async function firstTab(path = "/") {
  const page = await enter(null, { fresh: true });
  await page.open(path);
  return page;
}

async function menu(page, item) {
  await page.getByTitle("Status").click();
  await page.getByRole("menuitem", { name: item }).click();
}

async function finish(page) {
  await page.context().close();
}

export const TESTS = {
  async login_once_serves_every_tab_and_the_next_start() {
    await register("lea");
    const page = await firstTab();
    assert.equal(await page.getByLabel("Stay logged in").isChecked(), true);
    await logIn(page, "lea");
    await home(page);
    const second = await tabOf(page, "/settings/profile");
    await second.getByLabel("Display name").waitFor();
    assert.equal(await second.evaluate(() => sessionStorage.getItem("token")), null);
    await page.close();
    await second.close(); // the last tab: a new one is a new start of the browser
    const next = await tabOf({ context: () => second.context() });
    await isMe(next, "lea");
    await finish(next);
  },

  async login_of_one_tab_alone_is_not_stored() {
    await register("liv");
    const page = await firstTab();
    await logIn(page, "liv", { stay: false });
    await home(page);
    assert.deepEqual(await stored(page), {});
    await page.reload();
    await isMe(page, "liv");
    const second = await tabOf(page);
    await second.getByLabel("Username or email").waitFor();
    await finish(page);
  },

  async registration_can_be_for_this_tab_alone() {
    const page = await firstTab("/register");
    await page.getByLabel("Username").fill("lotte");
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByLabel("Stay logged in").uncheck();
    await page.getByRole("button", { name: "Register" }).click();
    await home(page);
    assert.deepEqual(await stored(page), {});
    await finish(page);
  },

  async logout_in_one_tab_ends_the_others() {
    await register("leo");
    const page = await firstTab();
    await logIn(page, "leo");
    await home(page);
    const second = await tabOf(page, "/friends");
    await home(second);
    const { current } = await stored(page);
    await second.route("**/*", (route) => route.abort()); // the server cannot reach it: the other tab tells it
    await menu(page, "Log out");
    await page.getByLabel("Username or email").waitFor();
    await second.getByText("You have been logged out in another tab.").waitFor();
    await assert.rejects(whoami(current), /401/);
    assert.deepEqual((await stored(page)).accounts, []);
    await second.unroute("**/*");
    await logIn(page, "leo");
    await home(page);
    await isMe(second, "leo"); // and a login in one tab is one in the others
    await finish(page);
  },

  async an_expired_stored_login_leads_to_the_login_page_and_back() {
    const { token } = await register("lou");
    const page = await firstTab();
    await page.evaluate((text) => localStorage.setItem("login", JSON.stringify({ current: text, accounts: [{ token: text }] })), token);
    await server().call(token, "POST", "/auth/logout", {});
    await page.open("/settings/privacy");
    await page.getByRole("alert").filter({ hasText: "Your session has ended. Log in again." }).waitFor();
    assert.equal(await page.getByText("Your session has ended").count(), 1); // said once
    assert.deepEqual((await stored(page)).accounts, []);
    await logIn(page, "lou");
    await page.getByLabel("Everyone").waitFor();
    assert.equal(new URL(page.url()).pathname, "/settings/privacy");
    await finish(page);
  },

  async a_session_that_is_ended_elsewhere_ends_in_every_tab() {
    await register("lia");
    const page = await firstTab();
    await logIn(page, "lia");
    await home(page);
    const second = await tabOf(page, "/friends");
    await home(second);
    await server().call((await stored(page)).current, "POST", "/auth/logout", {});
    for (const tab of [page, second]) await tab.getByText(/Your session has ended|logged out in another tab/).waitFor();
    await finish(page);
  },

  async accounts_are_added_switched_and_removed() {
    await register("mia");
    await register("mio");
    const page = await firstTab();
    await logIn(page, "mia");
    await home(page);
    const second = await tabOf(page, "/friends");
    await home(second);
    await menu(page, "Switch accounts");
    await page.getByRole("button", { name: "Add an account" }).click();
    const add = page.getByRole("dialog", { name: "Add an account" });
    await add.getByLabel("Username or email").fill("mio");
    await add.getByLabel("Password").fill("wrong");
    await add.getByRole("tabpanel").getByRole("button", { name: "Log in" }).click();
    await add.locator(".field-error:visible").first().waitFor();
    await add.getByLabel("Password").fill(PASSWORD);
    await add.getByRole("tabpanel").getByRole("button", { name: "Log in" }).click();
    await isMe(page, "mio");
    await isMe(second, "mio"); // all tabs are one person
    await until("both are stored", async () => (await stored(page)).accounts.filter((a) => a.id).length === 2);
    const [mia] = (await stored(page)).accounts;
    await menu(page, "Switch accounts");
    await page.getByRole("button", { name: "Switch to mia" }).click();
    await isMe(page, "mia");
    await isMe(second, "mia");
    assert.equal(await page.getByText("@mio").count(), 0);
    await menu(page, "Switch accounts");
    await page.getByRole("button", { name: "Remove mio" }).click();
    await page.getByRole("button", { name: "Remove mio" }).waitFor({ state: "detached" });
    assert.deepEqual((await stored(page)).accounts.map((a) => a.token), [mia.token]);
    assert.equal((await whoami(mia.token)).username, "mia");
    await finish(page);
  },

  async a_stored_account_is_offered_at_the_login_page() {
    await register("noa");
    const { token } = await register("nils");
    const page = await firstTab();
    await logIn(page, "noa");
    await home(page);
    await until("it is named", async () => (await stored(page)).accounts[0].id);
    await page.evaluate((text) => {
      const login = JSON.parse(localStorage.getItem("login"));
      localStorage.setItem("login", JSON.stringify({ ...login, accounts: [...login.accounts, { token: text, id: "1", username: "nils" }] }));
    }, token);
    await menu(page, "Log out");
    await page.getByRole("button", { name: "nils" }).click();
    await isMe(page, "nils");
    await finish(page);
  },

  async a_new_password_keeps_all_tabs_logged_in() {
    await register("pia");
    const page = await firstTab();
    await logIn(page, "pia");
    await home(page);
    const second = await tabOf(page, "/friends");
    await home(second);
    const before = (await stored(page)).current;
    await page.open("/settings/account");
    const change = page.locator("form").filter({ hasText: "New password" });
    await change.getByLabel("Current password").fill(PASSWORD);
    await change.getByLabel("New password").fill("another horse");
    await change.getByRole("button", { name: "Save" }).click();
    await until("the token is replaced", async () => (await stored(page)).current !== before);
    await assert.rejects(whoami(before), /401/);
    await isMe(second, "pia");
    await second.reload();
    await isMe(second, "pia");
    assert.equal((await stored(page)).accounts.length, 1);
    await finish(page);
  },

  async log_out_everywhere_ends_every_session() {
    const { token: first } = await register("quin");
    const other = await server().call(null, "POST", "/auth/login", { login: "quin", password: PASSWORD });
    const page = await firstTab();
    await logIn(page, "quin");
    await home(page);
    const { current } = await stored(page);
    await page.turn("/settings/sessions");
    await page.getByRole("button", { name: "Log out everywhere" }).click();
    await page.getByRole("dialog", { name: "Log out everywhere" }).getByRole("button", { name: "Log out everywhere" }).click();
    const everywhere = page.getByRole("dialog", { name: "Password" });
    const confirm = everywhere.getByRole("button", { name: "Confirm" });
    await confirm.click();
    await everywhere.getByText("Please fill this in").waitFor();
    await everywhere.getByLabel("Password").fill("wrong horse");
    await confirm.click();
    await everywhere.getByText("Password does not match.", { exact: true }).waitFor();
    assert.equal((await whoami(first)).username, "quin");
    await everywhere.getByLabel("Password").fill(PASSWORD);
    await confirm.click();
    await page.getByLabel("Username or email").waitFor();
    for (const token of [first, other.token, current]) await assert.rejects(whoami(token), /401/);
    await finish(page);
  },

  async two_tabs_can_be_two_people() {
    await register("rosa");
    await register("rolf");
    const page = await firstTab();
    await logIn(page, "rosa");
    await home(page);
    const second = await tabOf(page, "/friends");
    await isMe(second, "rosa");
    await menu(second, "Switch accounts");
    await second.getByRole("button", { name: "Add an account" }).click();
    const add = second.getByRole("dialog", { name: "Add an account" });
    await add.getByLabel("Username or email").fill("rolf");
    await add.getByLabel("Password").fill(PASSWORD);
    await add.getByLabel("Stay logged in").uncheck();
    await add.getByRole("tabpanel").getByRole("button", { name: "Log in" }).click();
    await isMe(second, "rolf");
    await page.reload();
    await isMe(page, "rosa");
    await finish(page);
  },

  async the_policy_of_the_pages_protects_the_stored_token() {
    const page = await enter("ada", { fresh: true });
    await page.open(general());
    await field(page).waitFor();
    const done = await page.evaluate(async (rules) => {
      const refused = [], tried = {};
      document.addEventListener("securitypolicyviolation", (e) => refused.push(e.effectiveDirective));
      const attempt = async (name, work) => { try { tried[name] = await work(); } catch (e) { tried[name] = e.name; } };
      await attempt("inline script", () => { const s = document.createElement("script"); s.append("window.ran = 1"); document.body.append(s); return window.ran ?? "nothing"; });
      await attempt("handler", () => { const b = document.createElement("button"); b.setAttribute("onclick", "window.ran = 2"); b.click(); return window.ran ?? "nothing"; });
      await attempt("markup", () => { const d = document.createElement("div"); d.innerHTML = "<img src=x>"; return d.children.length; });
      // In a task of its own: the browser's remote control may evaluate texts, and so may what it calls directly.
      await attempt("eval", () => new Promise((go, fail) => { setTimeout(() => { try { go((0, eval)("1+1")); } catch (e) { fail(e); } }, 50); }));
      await attempt("own types", () => trustedTypes.createPolicy("mine", { createHTML: (x) => x }).name);
      await attempt("send", () => fetch("http://127.0.0.1:9/", { method: "POST", body: "token" }).then(() => "sent"));
      await attempt("beacon", () => new Promise((go) => { const i = new Image(); i.onload = () => go("sent"); i.onerror = () => go("nothing"); i.src = "http://127.0.0.1:9/?token"; }));
      await attempt("foreign script", () => import("http://127.0.0.1:9/x.js").then(() => "ran"));
      await attempt("form", () => { const f = document.createElement("form"); f.action = "http://127.0.0.1:9/"; document.body.append(f); f.submit(); return "asked"; });
      const missing = () => rules.filter((rule) => !refused.includes(rule));
      for (let tries = 0; missing().length && tries < 600; tries++) await new Promise((go) => setTimeout(go, 100));
      return { missing: missing(), tried, ran: window.ran ?? null };
    }, ["script-src-elem", "require-trusted-types-for", "trusted-types", "connect-src", "img-src", "form-action"]);
    worker().problems.length = 0; // the browser's own words about what it refused
    assert.deepEqual([done.ran, done.missing], [null, []]);
    assert.deepEqual([done.tried.handler, done.tried.markup, done.tried["own types"], done.tried.send, done.tried.beacon, done.tried["foreign script"]], ["TypeError", "TypeError", "TypeError", "TypeError", "nothing", "TypeError"]);
    assert.match(String(done.tried.eval), /EvalError|TypeError/);
    await frames(page);
    assert.equal(new URL(page.url()).origin, server().url);
    await finish(page);
  },
};
