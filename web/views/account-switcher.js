// account-switcher.js - the dialog with the accounts that this browser stores: switch, add, remove.
import { currentToken, forgetToken, isTabLogin, revoke, storedAccounts } from "../accounts.js";
import { dialog, fill, h } from "../dom.js";
import { avatar } from "../images.js";
import { Rest } from "../rest.js";
import { t } from "../translate.js";
import { loginPanel } from "./login-forms.js";
import { showDemoPeople } from "./login.js";

const nameOf = (a) => a.global_name || a.username || t("Unknown account");

/** Opens the dialog. @param {any} app */
export function switchAccounts(app) {
  return dialog(t("Switch accounts"), () => {
    const body = h("div.stack");
    const draw = () =>
      fill(
        body,
        h(
          "p.hint",
          null,
          t("The account that you choose is used in all tabs of this browser, except tabs that have their own login."),
        ),
        isTabLogin() && h("p.hint", null, t("You are logged in only in this tab, until you close it.")),
        h(
          "ul.people",
          { "aria-label": t("Accounts") },
          rows().map((a) => row(app, a, draw)),
        ),
        h(
          "div.actions",
          null,
          h("button.button.primary", { type: "button", onclick: () => addAccount(app) }, t("Add an account")),
        ),
      );
    draw();
    return body;
  });

  /** Returns the stored accounts. An account whose login belongs only to this tab comes first. */
  function rows() {
    const me = app.store.me;
    const own = isTabLogin() && me ? [{ ...me, token: currentToken() }] : [];
    return [...own, ...storedAccounts().filter((a) => a.token !== own[0]?.token)];
  }
}

function row(app, a, draw) {
  const current = a.token === app.rest.token,
    problem = h("p.field-error", { role: "alert", hidden: true });
  const remove = async () => {
    const failure = await revoke(a.token).then(
      () => null,
      (e) => (e.status === 401 ? null : e),
    );
    if (failure) {
      problem.hidden = false;
      problem.textContent = t("The account could not be logged out, so it was not removed: {reason}", {
        reason: failure.message,
      });
      return;
    }
    forgetToken(a.token);
    draw();
  };
  return h(
    "li.person",
    null,
    h(
      "span.person-name",
      null,
      avatar(a, nameOf(a)),
      h(
        "span.clip",
        null,
        h("strong", null, nameOf(a)),
        h("small.faint", null, current ? t("current account") : a.username && `@${a.username}`),
      ),
    ),
    h(
      "div.person-actions",
      null,
      !current &&
        h(
          "button.button.secondary",
          {
            type: "button",
            "aria-label": t("Switch to {name}", { name: nameOf(a) }),
            onclick: () => app.login.switchTo(a.token),
          },
          t("Switch"),
        ),
      h(
        "button.button.danger",
        {
          type: "button",
          "aria-label": current ? t("Log out") : t("Remove {name}", { name: nameOf(a) }),
          onclick: () => (current ? app.logOut() : remove()),
        },
        current ? t("Log out") : t("Remove"),
      ),
    ),
    problem,
  );
}

/** Asks for the login of another account. Until that login succeeds, the current account remains logged in. */
function addAccount(app) {
  const choice = { stay: true },
    people = h("div.demo-people");
  const guest = {
    rest: new Rest(),
    signIn: (token, how) => app.signIn(token, how),
    entered: (answer, how) => app.entered(answer, how),
    tryCall: (promise, done) => app.tryCall(promise, done),
  };
  showDemoPeople(guest, people, choice);
  return dialog(t("Add an account"), () => h("div.stack", null, people, loginPanel(guest, choice)));
}
