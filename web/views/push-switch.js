// push-switch.js - the switch for web push, which is only shown if the server and the browser support web push.
import { fill, h } from "../dom.js";
import { pushOn, pushState, pushSupported, turnOffPush, turnOnPush } from "../push.js";
import { t } from "../translate.js";

/** @param {any} app */
export function pushSwitch(app) {
  const body = h("div.stack", { hidden: true }),
    problem = h("p.field-error", { role: "alert", hidden: true });
  const toggle = async (e) => {
    e.target.disabled = true;
    problem.hidden = true;
    try {
      await (pushOn() ? turnOffPush(app) : turnOnPush(app));
    } catch (error) {
      problem.textContent = t("The setting was not saved: {reason}", { reason: error.words || error.message });
      problem.hidden = false;
    }
    draw();
    body.querySelector("button")?.focus();
  };
  const draw = () =>
    fill(
      body,
      h(
        "div.row",
        null,
        h("span.grow", { id: "push-label" }, t("Notifications while this page is closed")),
        h(
          "button.button.secondary",
          { type: "button", "aria-describedby": "push-label", onclick: toggle },
          pushOn() ? t("Turn off") : t("Turn on"),
        ),
      ),
      h(
        "p.faint",
        null,
        t("For direct messages and mentions. The push service of your browser delivers them; it cannot read them."),
      ),
      problem,
    );
  const show = ({ public_key }) => {
    if (!public_key) return;
    body.hidden = false;
    draw();
  };
  // The switch for web push is not shown if the server does not answer or the browser runs no service worker.
  if (pushSupported())
    Promise.all([pushState(app), navigator.serviceWorker.ready]).then(
      ([state]) => show(state),
      () => {},
    );
  return body;
}
