// login.js - the login page: stored accounts, users of a demo, and the forms to log in or register.
import { storedAccounts } from "../accounts.js";
import { calmly, fill, h } from "../dom.js";
import { consoleCall } from "../operator.js";
import { avatar } from "../images.js";
import { t } from "../translate.js";
import { loginPanel } from "./login-forms.js";

export function mount(app, page) {
  const choice = { stay: true },
    panel = loginPanel(app, choice, location.pathname === "/register" ? "register" : "login"),
    people = h("div.demo-people");
  document.title = "Guildhall";
  // Store the path that the user requested. It is opened after the login.
  if (!/^\/(login|register)?$/.test(location.pathname))
    sessionStorage.setItem("next", location.pathname + location.search);
  fill(
    page,
    h(
      "main.enter",
      null,
      h(
        "div.card",
        null,
        h(
          "div.brand",
          null,
          h("img", { src: new URL("../icon.svg", import.meta.url).pathname, alt: "", width: 40, height: 40 }),
          h("div", null, h("h1", null, "Guildhall"), h("p.faint", null, location.host)),
        ),
        app.login?.reason && h("p.reason", { role: "alert" }, app.login.reason),
        storedPeople(app),
        people,
        panel,
        h(
          "p.enter-foot",
          null,
          h("a", { href: "/workbench" }, t("Workbench")),
          " · ",
          h("a", { href: "/docs/", "data-plain": true }, t("Documentation")),
          " · ",
          h("a", { href: "/openapi.json", "data-plain": true }, "openapi.json"),
        ),
      ),
    ),
  );
  showDemoPeople(app, people, choice);
  panel.querySelector("input")?.focus();
}

/** A card for a user. A click on it logs in as this user. */
const card = (user, enter) =>
  h(
    "button.person-card",
    { type: "button", onclick: enter },
    avatar(user, user.global_name || user.username),
    h("span", null, user.global_name || user.username),
  );

/** The accounts that this browser stores, except the current one. */
function storedPeople(app) {
  const named = storedAccounts().filter((a) => a.id);
  return (
    named.length > 0 &&
    h(
      "div.demo-people",
      null,
      h("h2", null, t("Continue as")),
      h(
        "div.people-cards",
        null,
        named.map((a) => card(a, () => app.signIn(a.token))),
      ),
    )
  );
}

/** If the server is a test server on a loopback address, shows some of its users. A click logs in as one of them. */
export async function showDemoPeople(app, panel, choice) {
  const people = await consoleCall("GET", "/people").catch(() => []);
  const enter = async (p) => {
    const made = await app.tryCall(consoleCall("POST", "/people", { username: p.username }));
    if (made) app.signIn(made.token, { stay: choice.stay });
  };
  if (!people.length) return;
  // The list of users moves other elements on the page, so calmly() draws it only while no mouse button is pressed.
  calmly(document.body, () =>
    fill(
      panel,
      h("h2", null, t("Log in as a demo user")),
      h(
        "div.people-cards",
        null,
        people.slice(0, 6).map((p, i) => card({ id: String(i), ...p }, () => enter(p))),
      ),
    ),
  );
}
