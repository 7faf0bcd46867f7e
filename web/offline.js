// offline.js - translates the page that is shown while the server is unreachable, and reloads when the server answers.
import { fill, h } from "./dom.js";
import { t } from "./translate.js";

const RETRY_MS = 5000;
const reload = () => location.reload();

/** Reloads the page as soon as the server answers. */
async function retry() {
  const answer = await fetch("/favicon.ico", { method: "HEAD", cache: "no-store" }).catch(() => null);
  if (answer?.ok) reload();
}

document.title = `${t("You are offline")} · Guildhall`;
fill(
  document.querySelector("main"),
  h("h1", null, t("You are offline")),
  h("p", null, t("The server cannot be reached. Check your internet connection; if it works, the server is down.")),
  h("p", { role: "status" }, t("This page tries again by itself.")),
  h("p", null, h("button.button.primary", { type: "button", onclick: reload }, t("Try again"))),
);
addEventListener("online", reload);
setInterval(retry, RETRY_MS);
