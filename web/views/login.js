// login.js - the login page: log in, register, use a token, or choose a demo user.
import { calmly, field, fill, h } from "../dom.js";
import { form, input } from "../login-form.js";
import { consoleCall } from "../operator.js";
import { avatar } from "../images.js";
import { t } from "../translate.js";

export function mount(app, page) {
  let tab = location.pathname === "/register" ? "register" : "login";
  const panel = h("div"),
    people = h("div.demo-people");
  const tabs = [
    ["login", t("Log in")],
    ["register", t("Register")],
    ["token", t("Use a token")],
  ];
  document.title = "Guildhall";
  // After the login, go to the page that was requested first.
  if (!/^\/(login|register)?$/.test(location.pathname))
    sessionStorage.setItem("next", location.pathname + location.search);

  function draw() {
    fill(
      panel,
      h(
        "div.tabs",
        { role: "tablist", "aria-label": t("Log in with this token") },
        tabs.map(([id, words]) =>
          h(
            "button",
            {
              type: "button",
              role: "tab",
              "aria-selected": String(id === tab),
              "aria-controls": "enter-form",
              onclick: () => {
                tab = id;
                draw();
                panel.querySelector("input")?.focus();
              },
            },
            words,
          ),
        ),
      ),
      h(
        "div",
        { id: "enter-form", role: "tabpanel", "aria-label": tabs.find(([id]) => id === tab)?.[1] || t("New password") },
        FORMS[tab](app),
      ),
      tab === "login" &&
        h(
          "p",
          null,
          h(
            "button.link",
            {
              type: "button",
              onclick: () => {
                tab = "forgot";
                draw();
                panel.querySelector("input")?.focus();
              },
            },
            t("Forgot your password?"),
          ),
        ),
    );
  }

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
        people,
        panel,
        h(
          "p.enter-foot",
          null,
          h("a", { href: "/workbench" }, t("Workbench")),
          " · ",
          h("a", { href: "/openapi.json", "data-plain": true }, "openapi.json"),
        ),
      ),
    ),
  );
  draw();
  showPeople(app, people);
  panel.querySelector("input")?.focus();
}

/** On a loopback test server, offers a login as any of its users by a click. */
async function showPeople(app, panel) {
  const people = await consoleCall("GET", "/people").catch(() => []);
  const enter = async (p) => {
    const made = await app.tryCall(consoleCall("POST", "/people", { username: p.username }));
    if (made) app.signIn(made.token);
  };
  if (!people.length) return;
  // The layout below moves when the list appears.
  calmly(document.body, () =>
    fill(
      panel,
      h("h2", null, t("Log in as a demo user")),
      h(
        "div.people-cards",
        null,
        people
          .slice(0, 6)
          .map((p, i) =>
            h(
              "button.person-card",
              { type: "button", onclick: () => enter(p) },
              avatar({ id: String(i) }, p.global_name || p.username),
              h("span", null, p.global_name || p.username),
            ),
          ),
      ),
    ),
  );
}

/** Shows who may register. If the request fails, the refusal of the registration shows it. */
async function showRule(app, panel, invite) {
  const rule = await app.rest.get("/policies/instance/config").catch(() => null);
  if (rule?.register_requireInvite)
    invite.querySelector(".hint").textContent = t(
      "This server requires an invitation code. Ask the operator of the server for one.",
    );
  if (rule?.register_disabled)
    fill(
      panel,
      h("p", { role: "status" }, t("Registration is closed on this server. Ask its operator for an account.")),
    );
}

const FORMS = {
  login: (app) =>
    form(
      {
        login: field(t("Username or email"), input({ autocomplete: "username" })),
        password: field(t("Password"), input({ type: "password", autocomplete: "current-password" })),
      },
      t("Log in"),
      async (v) => app.entered(await app.rest.post("/auth/login", v)),
    ),
  forgot: (app) => {
    const done = h("p", { role: "status" });
    return h(
      "div.stack",
      null,
      form(
        { login: field(t("Username or email"), input({ autocomplete: "username" })) },
        t("Send reset link"),
        async (v) => {
          await app.rest.post("/auth/forgot", v);
          done.textContent = t("If an account with this address exists, a link has been sent to it.");
        },
      ),
      done,
    );
  },
  register: (app) => {
    const linked =
      new URLSearchParams(location.search).get("invite") ||
      /^\/invite\/([^/]+)/.exec(sessionStorage.getItem("next") || "")?.[1] ||
      "";
    const invite = field(
      t("Invitation code"),
      h("input", { value: linked, autocomplete: "off", spellcheck: "false" }),
      h("span", null, t("Optional: only if you received one")),
    );
    const panel = h(
      "div",
      null,
      form(
        {
          username: field(t("Username"), input({ autocomplete: "username" })),
          global_name: field(t("Display name"), h("input", { autocomplete: "nickname" })),
          email: field(t("Email"), h("input", { type: "email", autocomplete: "email" })),
          password: field(t("Password"), input({ type: "password", autocomplete: "new-password" })),
          invite,
        },
        t("Register"),
        async (v) => {
          const code = v.invite.trim().split("/").pop(); // accept a whole link, too
          app.signIn(
            (
              await app.rest.post("/auth/register", {
                username: v.username,
                password: v.password,
                ...(v.global_name ? { global_name: v.global_name } : {}),
                ...(v.email ? { email: v.email } : {}),
                ...(code ? { invite: code } : {}),
              })
            ).token,
          );
        },
      ),
    );
    showRule(app, panel, invite);
    return panel;
  },
  token: (app) =>
    form(
      {
        token: field(
          t("Token"),
          input({ type: "password", autocomplete: "off" }),
          t("A user token, for example one that the demo prints"),
        ),
      },
      t("Log in with this token"),
      async (v) => {
        app.rest.token = v.token.trim();
        try {
          await app.rest.get("/users/@me");
        } catch (refusal) {
          app.rest.token = undefined;
          throw refusal;
        }
        app.signIn(v.token.trim());
      },
    ),
};
