// not-found.js - the page of an address that leads nowhere, in the person's language.
import { fill, h } from "./dom.js";
import { t } from "./words.js";

document.title = `${t("Not here")} · Guildhall`;
fill(
  document.querySelector("main"),
  h("h1", null, t("There is nothing here")),
  h("p", null, t("This server has no page at this address. Programs find its interface under /api/v10.")),
  h("p", null, h("a.button.primary", { href: "/" }, t("Go to the start"))),
);
