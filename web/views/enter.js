// enter.js - log in, register, or bring a token; in a demo, be one of its people.
import { field, fill, h } from "../dom.js";
import { consoleCall } from "../operator.js";
import { avatar } from "../pictures.js";
import { t } from "../words.js";

export function mount(app, page, [first]) {
  let tab = first || "login";
  const place = h("div"), people = h("div.demo-people");
  const tabs = [["login", "Log in"], ["register", "Register"], ["token", "Use a token"]];
  document.title = "Guildhall";

  function draw() {
    fill(place,
      h("div.tabs", { role: "tablist", "aria-label": t("Enter") }, tabs.map(([id, words]) => h("button", { type: "button", role: "tab", "aria-selected": String(id === tab), "aria-controls": "enter-form", onclick: () => { tab = id; draw(); place.querySelector("input")?.focus(); } }, t(words)))),
      h("div", { id: "enter-form", role: "tabpanel", "aria-label": t(tabs.find(([id]) => id === tab)[1]) }, FORMS[tab](app)));
  }

  fill(page, h("main.enter", null,
    h("div.card", null, h("div.brand", null, h("img", { src: new URL("../icon.svg", import.meta.url).pathname, alt: "", width: 40, height: 40 }), h("div", null, h("h1", null, "Guildhall"), h("p.faint", null, location.host))),
      people, place,
      h("p.enter-foot", null, h("a", { href: "/workbench" }, t("Workbench")), " · ", h("a", { href: "/openapi.json", "data-plain": true }, "openapi.json")))));
  draw();
  showPeople(app, people);
  place.querySelector("input")?.focus();
}

/** On a server for tests that only this machine can reach, its people can be had by a click. */
async function showPeople(app, place) {
  const people = await consoleCall("GET", "/people").catch(() => []);
  const enter = async (p) => {
    const made = await app.tryCall(consoleCall("POST", "/people", { username: p.username }));
    if (made) app.signIn(made.token);
  };
  if (!people.length) return;
  fill(place, h("h2", null, t("Be one of the demo’s people")), h("div.people-cards", null, people.slice(0, 6).map((p, i) =>
    h("button.person-card", { type: "button", onclick: () => enter(p) }, avatar({ id: String(i) }, p.global_name || p.username), h("span", null, p.global_name || p.username)))));
}

/** A form whose fields are marked with the server's own words about them. */
function form(fields, action, send) {
  const problem = h("p.field-error", { role: "alert", hidden: true });
  const submit = h("button.button.primary.wide", { type: "submit" }, action);
  return h("form.stack", { novalidate: true, onsubmit: async (e) => {
    e.preventDefault();
    submit.disabled = true;
    problem.hidden = true;
    Object.values(fields).forEach((f) => f.problem(""));
    try {
      await send(Object.fromEntries(Object.entries(fields).map(([name, f]) => [name, f.control.value])));
    } catch (refusal) {
      let marked = false;
      for (const [name, f] of Object.entries(fields)) {
        const words = refusal.at?.(name);
        if (!words) continue;
        f.problem(words);
        if (!marked) f.control.focus();
        marked = true;
      }
      problem.hidden = marked;
      problem.textContent = refusal.message;
    }
    submit.disabled = false;
  } }, Object.values(fields), problem, submit);
}

const input = (props) => h("input", { required: true, ...props });

const FORMS = {
  login: (app) => form({
    login: field(t("Username or email"), input({ autocomplete: "username" })),
    password: field(t("Password"), input({ type: "password", autocomplete: "current-password" })),
  }, t("Log in"), async (v) => app.signIn((await app.rest.post("/auth/login", v)).token)),
  register: (app) => form({
    username: field(t("Username"), input({ autocomplete: "username" })),
    global_name: field(t("Display name"), h("input", { autocomplete: "nickname" })),
    password: field(t("Password"), input({ type: "password", autocomplete: "new-password" })),
  }, t("Register"), async (v) => {
    const next = /^\/invite\/([^/]+)/.exec(sessionStorage.getItem("next") || "");
    app.signIn((await app.rest.post("/auth/register", { username: v.username, password: v.password, ...(v.global_name ? { global_name: v.global_name } : {}), ...(next ? { invite: next[1] } : {}) })).token);
  }),
  token: (app) => form({
    token: field(t("Token"), input({ type: "password", autocomplete: "off" }), "Of a person, as the demo prints it"),
  }, t("Enter"), async (v) => {
    app.rest.token = v.token.trim();
    try {
      await app.rest.get("/users/@me");
    } catch (refusal) {
      app.rest.token = undefined;
      throw refusal;
    }
    app.signIn(v.token.trim());
  }),
};
