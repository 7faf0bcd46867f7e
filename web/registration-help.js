// registration-help.js - tells the operator of a server how people can register.
import { fill, h } from "./dom.js";
import { t } from "./translate.js";

const COMMANDS = { closed: "sudo guildhall user add NAME", invite: "sudo guildhall invite create 5" };

/**
 * A collapsed explanation for the operator of how people can register.
 * @param {"closed"|"invite"} [rule] current registration option
 */
export function registrationHelp(rule = "invite") {
  const link = `${location.origin}/invite/reg-…`;
  return h(
    "details.operator-help",
    null,
    h("summary", null, t("Do you run this server?")),
    rule === "closed"
      ? h(
          "p",
          null,
          t("The option registration is set to closed. Set it to invite and restart the server, or add an account:"),
        )
      : h("p", null, t("Run this command on the machine of the server. It creates a code for five new accounts:")),
    h("pre", { tabindex: 0 }, COMMANDS[rule]),
    rule !== "closed" && h("p", null, t("Send the code, or the link {link} with the code at its end.", { link })),
  );
}

/** A hint for people whose community was copied from another server, because they already have an account here. */
export const claimHint = (host) =>
  h(
    "p.hint",
    null,
    t("Was your community copied from {host}? Then you already have an account.", { host }),
    " ",
    h("a", { href: "/claim" }, t("Claim your account")),
  );

/** A hint below an invite link: whether people without an account can register with the link. @param {any} app */
export function inviteRule(app) {
  const el = h("div.hint", { role: "status" });
  app.rest
    .get("/policies/instance/config")
    .then((rule) => {
      if (rule?.register_disabled)
        fill(
          el,
          t("Only people with an account can use this invite link, because registration is closed on this server."),
          registrationHelp("closed"),
        );
      else if (rule?.register_requireInvite)
        fill(
          el,
          t("People without an account also need a registration code from the operator of this server."),
          registrationHelp(),
        );
    })
    .catch(() => {}); // without the hint, the invite link still works
  return el;
}
