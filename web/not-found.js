// not-found.js - translates the "page not found" page.
import { fill, h } from "./dom.js";
import { t } from "./translate.js";

document.title = `${t("Page not found")} · Guildhall`;
fill(
  document.querySelector("main"),
  h("h1", null, t("Page not found")),
  h("p", null, t("This server has no page at this address. The API is at /api/v10.")),
  h("p", null, h("a.button.primary", { href: "/" }, t("Go to the home page"))),
);
