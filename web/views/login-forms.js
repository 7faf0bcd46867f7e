// login-forms.js - the forms of the login page: log in, register, use a token, forgotten password.
import { dialog, field, fill, h } from "../dom.js";
import { Rest } from "../rest.js";
import { t } from "../translate.js";

/**
 * A form that shows each error message of the server at the field that it is about. The element `extra` is above the
 * button.
 */
export function form(fields, action, send, extra) {
  const problem = h("p.field-error", { role: "alert", hidden: true });
  const submit = h("button.button.primary.wide", { type: "submit" }, action);
  return h(
    "form.stack",
    {
      novalidate: true,
      onsubmit: async (e) => {
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
          problem.textContent = refusal.words || refusal.message;
        }
        submit.disabled = false;
      },
    },
    Object.values(fields),
    extra,
    problem,
    submit,
  );
}

export const input = (props) => h("input", { required: true, ...props });

/** The check box "Stay logged in". Stores its state in choice.stay. */
function stayChoice(choice) {
  const box = h("input", { type: "checkbox", checked: choice.stay, onchange: () => (choice.stay = box.checked) });
  return h(
    "div.stay",
    null,
    h("label.choice", null, box, t("Stay logged in")),
    h("p.hint", null, t("If this is off, you are logged in only in this tab, until you close it.")),
  );
}

/**
 * The tabs of the login page with their forms.
 * @param {any} app @param {{stay: boolean}} choice state of "Stay logged in", shared by all forms
 * @param {string} [tab] the first tab
 */
export function loginPanel(app, choice, tab = "login") {
  const panel = h("div");
  const tabs = [
    ["login", t("Log in")],
    ["register", t("Register")],
    ["token", t("Use a token")],
  ];
  const open = (id) => {
    tab = id;
    draw();
    panel.querySelector("input")?.focus();
  };
  function draw() {
    fill(
      panel,
      h(
        "div.tabs",
        { role: "tablist", "aria-label": t("Log in or register") },
        tabs.map(([id, words]) =>
          h(
            "button",
            {
              type: "button",
              role: "tab",
              "aria-selected": String(id === tab),
              "aria-controls": "enter-form",
              onclick: () => open(id),
            },
            words,
          ),
        ),
      ),
      h(
        "div",
        { id: "enter-form", role: "tabpanel", "aria-label": tabs.find(([id]) => id === tab)?.[1] || t("New password") },
        FORMS[tab](app, choice),
      ),
      tab === "login" &&
        h("p", null, h("button.link", { type: "button", onclick: () => open("forgot") }, t("Forgot your password?"))),
    );
  }
  draw();
  return panel;
}

/**
 * Shows whether registration is closed or needs a code, and that people of a copied community have an account already.
 * If the server does not answer, shows nothing.
 */
async function showRule(app, panel, invite) {
  const rule = await app.rest.anonymously("GET", "/policies/instance/config").catch(() => null);
  if (!rule?.register_requireInvite && !rule?.register_disabled && !rule?.claim_from) return;
  // Imported here, because it is not needed for the first paint.
  const { claimHint, registrationHelp } = await import("../registration-help.js");
  if (rule.register_requireInvite)
    fill(
      invite.querySelector(".hint"),
      t("This server requires an invitation code. Ask the operator of the server for one."),
      registrationHelp(),
    );
  if (rule.register_disabled)
    fill(
      panel,
      h("p", { role: "status" }, t("Registration is closed on this server. Ask its operator for an account.")),
      registrationHelp("closed"),
    );
  if (rule.claim_from) panel.prepend(claimHint(rule.claim_from));
}

const DELETING = 20011,
  DISABLED = 20013; // error codes

/** Sends the login. If the account is disabled or scheduled for deletion, asks the user whether to restore it. */
async function logIn(app, values) {
  try {
    return await app.rest.anonymously("POST", "/auth/login", values);
  } catch (e) {
    if (e.code !== DELETING && e.code !== DISABLED) throw e;
    const restore = await dialog(t("Restore the account?"), (close) =>
      h(
        "div.stack",
        null,
        h(
          "p",
          null,
          e.code === DELETING
            ? t("This account is scheduled for deletion. If you restore it, it is kept.")
            : t("This account is disabled. You can restore it if you disabled it yourself."),
        ),
        h(
          "div.actions",
          null,
          h("button.button.primary", { type: "button", onclick: () => close(true) }, t("Restore")),
        ),
      ),
    );
    if (!restore) throw e;
    return app.rest.anonymously("POST", "/auth/login", { ...values, undelete: true });
  }
}

const FORMS = {
  login: (app, choice) =>
    form(
      {
        login: field(t("Username or email"), input({ autocomplete: "username" })),
        password: field(t("Password"), input({ type: "password", autocomplete: "current-password" })),
      },
      t("Log in"),
      async (v) => app.entered(await logIn(app, v), { stay: choice.stay }),
      stayChoice(choice),
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
          await app.rest.anonymously("POST", "/auth/forgot", v);
          done.textContent = t(
            "If an account with this email address exists, the server has sent a link to the address.",
          );
        },
      ),
      done,
    );
  },
  register: (app, choice) => {
    const linked =
      new URLSearchParams(location.search).get("invite") ||
      /^\/invite\/([^/]+)/.exec(sessionStorage.getItem("next") || "")?.[1] ||
      "";
    const invite = field(
      t("Invitation code"),
      h("input", { value: linked, autocomplete: "off", spellcheck: "false" }),
      h("span", null, t("Optional: enter it only if you received one")),
    );
    const panel = h(
      "div",
      null,
      form(
        {
          username: field(
            t("Username"),
            input({ autocomplete: "username" }),
            t("2 to 32 characters: small letters, digits, underscores and single dots."),
          ),
          global_name: field(t("Display name"), h("input", { autocomplete: "nickname" }), t("Optional")),
          email: field(t("Email"), h("input", { type: "email", autocomplete: "email" }), t("Optional")),
          password: field(
            t("Password"),
            input({ type: "password", autocomplete: "new-password" }),
            t("At least eight characters"),
          ),
          invite,
        },
        t("Register"),
        async (v) => {
          // The user may enter the code, or the whole link that ends with the code.
          const code = v.invite.trim().split("/").pop();
          app.signIn(
            (
              await app.rest.anonymously("POST", "/auth/register", {
                username: v.username,
                password: v.password,
                ...(v.global_name ? { global_name: v.global_name } : {}),
                ...(v.email ? { email: v.email } : {}),
                ...(code ? { invite: code } : {}),
              })
            ).token,
            { stay: choice.stay },
          );
        },
        stayChoice(choice),
      ),
    );
    showRule(app, panel, invite);
    return panel;
  },
  token: (app, choice) =>
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
        await new Rest(v.token.trim()).get("/users/@me");
        app.signIn(v.token.trim(), { stay: choice.stay, typed: true });
      },
      stayChoice(choice),
    ),
};
