// claim.js - the page on which people claim their accounts of a copied guild: with the code of a direct message, or by
// logging in at the server from which the guild was copied.
import { fill, h } from "../dom.js";
import { t } from "../translate.js";
import { askPassword } from "./email-links.js";

/** The proof that this tab has started the log-in; the server accepts the state in the URL only together with it. */
const PROOF = "claim-proof";

/** Returns the parameters of the URL and removes them from it, because they contain secrets. */
function takeParameters() {
  const given = new URLSearchParams(location.search || location.hash.slice(1));
  history.replaceState(null, "", location.pathname);
  return given;
}

export async function mount(app, page) {
  const card = h("div.card", { role: "status" }, h("p.faint", null, "…")),
    given = takeParameters();
  fill(page, h("main.enter", null, card));
  document.title = "Guildhall";
  if (given.has("token")) askPasswordFor(app, card, t("Claim your account"), given.get("token"));
  else if (given.has("state")) await finish(app, card, given);
  else await offer(app, card);
}

const askPasswordFor = (app, card, title, code) => askPassword(app, card, title, "/auth/claim", { code });

/** Shows a title, a sentence, and the button that starts the log-in at the other server. */
function show(app, card, from, sentence) {
  const problem = h("p.field-error", { role: "alert", hidden: true });
  const start = async () => {
    try {
      const { url, proof } = await app.rest.anonymously("POST", "/auth/claim/identity");
      sessionStorage.setItem(PROOF, proof);
      location.assign(url);
    } catch (refusal) {
      problem.hidden = false;
      problem.textContent = refusal.words || refusal.message;
    }
  };
  fill(
    card,
    h("h1", null, t("Claim your account")),
    h("p", null, sentence),
    problem,
    from &&
      h("button.button.primary.wide", { type: "button", onclick: start }, t("Continue with {host}", { host: from })),
    h("a.button.secondary.wide", { href: "/" }, t("Go to the home page")),
  );
  card.querySelector("button, a").focus();
}

/** The name of the other server, or null if people cannot log in there. */
const otherServer = (app) =>
  app.rest
    .anonymously("GET", "/policies/instance/config")
    .then((rule) => rule?.claim_from)
    .catch(() => null);

async function offer(app, card) {
  const host = await otherServer(app);
  show(
    app,
    card,
    host,
    host
      ? t("Your community was copied from {host}. Log in there, and your account with its messages is yours.", { host })
      : t("Open the link in the direct message that you have received from the bot of your community."),
  );
}

/** The other server has sent the browser back. */
async function finish(app, card, given) {
  const proof = sessionStorage.getItem(PROOF) || "none";
  sessionStorage.removeItem(PROOF);
  try {
    if (!given.get("code")) throw new Error(t("You have not allowed the log-in. Nothing was changed."));
    const found = await app.rest.anonymously("POST", "/auth/claim/identity/callback", {
      state: given.get("state"),
      code: given.get("code"),
      proof,
    });
    askPasswordFor(app, card, t("Claim the account {name}", { name: found.username }), found.code);
  } catch (refusal) {
    // The words name the field of the request, which is of no use here.
    show(app, card, await otherServer(app), refusal.at?.("") || refusal.message);
  }
}
