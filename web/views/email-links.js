// email-links.js - the pages of links in mails: verify an address, set a new password.
import { field, fill, h } from "../dom.js";
import { t } from "../translate.js";
import { form, input } from "./login-forms.js";

/** Returns the token in the URL's fragment, which browsers send neither to the server nor in Referer headers. */
function takeToken() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token") || "";
  history.replaceState(null, "", location.pathname);
  return token;
}

export async function mount(app, page, [what]) {
  const card = h("div.card", { role: "status" }, h("p.faint", null, "…")),
    token = takeToken();
  fill(page, h("main.enter", null, card));
  document.title = "Guildhall";
  if (what === "verify") await verify(app, card, token);
  else askPassword(app, card, t("New password"), "/auth/reset", { token });
}

async function verify(app, card, token) {
  try {
    await app.rest.post("/auth/verify", { token });
    fill(
      card,
      h("h1", null, t("Your email address is verified")),
      h("a.button.primary.wide", { href: "/" }, t("Continue")),
    );
  } catch (refusal) {
    fill(
      card,
      h("h1", null, t("This link has expired or was already used")),
      h("p.faint", null, refusal.words || refusal.message),
      h("a.button.secondary.wide", { href: "/" }, t("Continue")),
    );
  }
}

/** Asks for a new password and sends it with a secret. */
export function askPassword(app, card, title, route, secret) {
  fill(
    card,
    h("h1", null, title),
    form(
      { password: field(t("Password"), input({ type: "password", autocomplete: "new-password" })) },
      t("Save"),
      async (v) => app.entered(await app.rest.post(route, { ...secret, password: v.password })),
    ),
  );
  card.querySelector("input").focus();
}
