// mailed.js - where mailed links lead: an address is verified, a new password set.
import { field, fill, h } from "../dom.js";
import { form, input } from "../entry-form.js";
import { t } from "../words.js";

/** The token stands behind the #, so that neither logs nor other pages hear of it. */
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
  else askPassword(app, card, token);
}

async function verify(app, card, token) {
  try {
    await app.rest.post("/auth/verify", { token });
    fill(card, h("h1", null, t("Your address is verified")), h("a.button.primary.wide", { href: "/" }, t("Go on")));
  } catch (refusal) {
    fill(
      card,
      h("h1", null, t("This link is not good any more")),
      h("p.faint", null, refusal.words || refusal.message),
      h("a.button.secondary.wide", { href: "/" }, t("Go on")),
    );
  }
}

function askPassword(app, card, token) {
  fill(
    card,
    h("h1", null, t("A new password")),
    form(
      { password: field(t("Password"), input({ type: "password", autocomplete: "new-password" })) },
      t("Save"),
      async (v) => app.entered(await app.rest.post("/auth/reset", { token, password: v.password })),
    ),
  );
  card.querySelector("input").focus();
}
