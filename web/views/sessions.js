// sessions.js - the settings page with the login sessions of the account, which the user can end.
import { fill, h } from "../dom.js";
import { small, table } from "../forms.js";
import { relative } from "../markdown.js";
import { t } from "../translate.js";

const MOST_PER_REQUEST = 1000;

/** @type {[RegExp, string][]} */
const BROWSERS = [
  [/Edg\//, "Edge"],
  [/OPR\//, "Opera"],
  [/Firefox\//, "Firefox"],
  [/Chrom(e|ium)\//, "Chrome"],
  [/Safari\//, "Safari"],
];
/** @type {[RegExp, string][]} */
const SYSTEMS = [
  [/Windows/, "Windows"],
  [/Android/, "Android"],
  [/iPhone|iPad/, "iOS"],
  [/Mac OS/, "macOS"],
  [/Linux/, "Linux"],
];

/**
 * Returns the name of a client, such as "Firefox, Linux".
 * @param {string|null|undefined} agent its User-Agent header
 */
function clientName(agent) {
  const find = (list) => list.find(([pattern]) => pattern.test(agent))?.[1];
  return [find(BROWSERS), find(SYSTEMS)].filter(Boolean).join(", ") || agent || t("Unknown client");
}

export async function sessions(app, body, redraw) {
  const all = (await app.rest.get("/auth/sessions")).user_sessions;
  const isThis = (s) => s.id_hash === app.store.login;
  const others = all.filter((s) => !isThis(s));
  /** Ends the login sessions if the user confirms it; the server also asks for a proof of identity. */
  const confirmEnd = async (list, title, words, action) => {
    if (!(await app.confirm(title, words, action))) return false;
    const ids = list.map((s) => s.id_hash);
    const end = async () => {
      while (ids.length)
        await app.rest.post("/auth/sessions/logout", { session_id_hashes: ids.splice(0, MOST_PER_REQUEST) });
    };
    return app.tryCall(end());
  };
  const endOne = async (s) => {
    const words = t("The device of this session is logged out at once.");
    if (await confirmEnd([s], t("Log out of this session"), words, t("Log out"))) redraw();
  };
  const endOthers = async () => {
    const words = t("All other browsers and devices of your account are logged out at once. This one stays logged in.");
    if (await confirmEnd(others, t("Log out all other sessions"), words, t("Log out"))) redraw();
  };
  const endAll = async () => {
    const words = t("All browsers and devices of your account, this one included, are logged out at once.");
    if (await confirmEnd(others, t("Log out everywhere"), words, t("Log out everywhere"))) await app.logOut();
  };
  fill(
    body,
    h(
      "section",
      null,
      h("p.hint", null, t("These browsers and devices are logged in to your account. End those that you do not know.")),
      table(
        [t("Client"), t("Location"), t("Last used"), ""],
        all.map((s) => [
          [
            h("span", { title: s.client_info?.platform }, clientName(s.client_info?.platform)),
            " ",
            isThis(s) && h("span.chip", null, t("this session")),
          ],
          s.client_info?.location || "",
          relative(new Date(s.approx_last_used_time)),
          small(t("Log out"), () => (isThis(s) ? app.logOut() : endOne(s)), "danger"),
        ]),
      ),
      h(
        "div.actions",
        null,
        others.length > 0 && small(t("Log out all other sessions"), endOthers),
        small(t("Log out everywhere"), endAll, "danger"),
      ),
    ),
  );
}
