// enter.js - log in, register, or bring a token; in a demo, be one of its people.
import { calmly, field, fill, h } from "../dom.js";
import { form, input } from "../entry-form.js";
import { consoleCall } from "../operator.js";
import { avatar } from "../pictures.js";
import { t } from "../words.js";

export function mount(app, page) {
  let tab = location.pathname === "/register" ? "register" : "login";
  const place = h("div"),
    people = h("div.demo-people");
  const tabs = [
    ["login", t("Log in")],
    ["register", t("Register")],
    ["token", t("Use a token")],
  ];
  document.title = "Guildhall";
  // Who wanted to see something else is led there afterwards.
  if (!/^\/(login|register)?$/.test(location.pathname))
    sessionStorage.setItem("next", location.pathname + location.search);

  function draw() {
    fill(
      place,
      h(
        "div.tabs",
        { role: "tablist", "aria-label": t("Enter") },
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
                place.querySelector("input")?.focus();
              },
            },
            words,
          ),
        ),
      ),
      h(
        "div",
        {
          id: "enter-form",
          role: "tabpanel",
          "aria-label": tabs.find(([id]) => id === tab)?.[1] || t("A new password"),
        },
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
                place.querySelector("input")?.focus();
              },
            },
            t("Forgot the password?"),
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
        place,
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
  // All that is below moves.
  calmly(document.body, () =>
    fill(
      place,
      h("h2", null, t("Be one of the demo’s people")),
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

/** Says whom this server lets register. Without an answer the server's own refusal says it. */
async function showRule(app, place, invite) {
  const rule = await app.rest.get("/policies/instance/config").catch(() => null);
  if (rule?.register_requireInvite)
    invite.querySelector(".hint").textContent = t(
      "This server asks for an invitation. The operator of the server makes the code.",
    );
  if (rule?.register_disabled)
    fill(
      place,
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
        t("Mail me a link"),
        async (v) => {
          await app.rest.post("/auth/forgot", v);
          done.textContent = t("If there is such an account, a link is on its way to its address.");
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
      h("span", null, t("Only if you were given one")),
    );
    const place = h(
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
          const code = v.invite.trim().split("/").pop(); // a whole link is as good as its code
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
    showRule(app, place, invite);
    return place;
  },
  token: (app) =>
    form(
      {
        token: field(
          t("Token"),
          input({ type: "password", autocomplete: "off" }),
          t("Of a person, as the demo prints it"),
        ),
      },
      t("Enter"),
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
