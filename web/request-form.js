// request-form.js - a form that edits a recorded request and sends it again.
import { field, h } from "./dom.js";
import { small } from "./forms.js";
import { consoleCall, laidOut } from "./operator.js";
import { t } from "./translate.js";

const MOST_SHOWN = 50000;

/** Sends the request that the user has typed. Returns status, duration and body of the response as text. */
export async function callAsWritten({ method, path, token, body }) {
  if (!/^\/(?!\/)/.test(path)) return t("This is not a path of this server.");
  const began = performance.now();
  const headers = {
    Accept: "application/json",
    ...(token ? { Authorization: token } : {}),
    ...(body ? { "Content-Type": "application/json" } : {}),
  };
  try {
    const got = await fetch(path, { method, headers, body: body || undefined });
    const text = laidOut(await got.text()).slice(0, MOST_SHOWN);
    return `${got.status} ${got.statusText} · ${(performance.now() - began).toFixed(1)} ms\n\n${text}`;
  } catch (e) {
    return String(e);
  }
}

/**
 * A form field for the token that sends a request: the user's own, that of a user of the test server, or a typed one.
 */
export function sender(app) {
  const token = h("input", {
    type: "password",
    autocomplete: "off",
    placeholder: t("Or enter a token: Bot …"),
    "aria-label": t("Token"),
  });
  const who = h(
    "select",
    { "aria-label": t("Send as") },
    h("option", { value: "" }, app.rest.token ? t("As you") : t("Without a token")),
  );
  consoleCall("GET", "/people?bots=true").then(
    (all) =>
      all.forEach((p) =>
        who.append(
          h(
            "option",
            { value: p.username },
            p.bot
              ? t("As the bot {name}", { name: p.username })
              : t("As {name}", { name: p.global_name || p.username }),
          ),
        ),
      ),
    () => {},
  );
  const known = async () => {
    const { token: text, bot } = await consoleCall("POST", "/people", { username: who.value });
    return bot ? `Bot ${text}` : text;
  };
  const chosen = async () => token.value.trim() || (who.value ? await known() : app.rest.token);
  return { el: h("div.inline-form", null, who, token), chosen };
}

/**
 * A form that sends a recorded request again.
 * @param {any} app
 * @param {{method: string, path: string, body?: string, cut?: boolean}} call
 */
export function again(app, call) {
  const method = h(
    "select",
    null,
    ["GET", "POST", "PUT", "PATCH", "DELETE"].map((m) => h("option", { value: m, selected: m === call.method }, m)),
  );
  const path = h("input", { autocomplete: "off" }),
    body = h("textarea.mono", { rows: 6 }),
    as = sender(app);
  path.value = call.path;
  body.value = laidOut(call.body || "");
  const answer = h("pre.json", { hidden: true, tabindex: 0, role: "status", "aria-label": t("Response") });
  const send = async () => {
    const words = await callAsWritten({
      method: method.value,
      path: path.value,
      token: await as.chosen(),
      body: method.value === "GET" ? "" : body.value.trim(),
    });
    answer.hidden = false;
    answer.textContent = words;
  };
  return h(
    "details.again",
    null,
    h("summary", null, t("Send again")),
    h(
      "div.stack",
      null,
      call.cut && h("p.bad", null, t("Only the beginning of the body was recorded. Complete it before you send it.")),
      field(t("Method"), method),
      field(t("Path"), path),
      field(t("Body"), body),
      as.el,
      h("div", null, small(t("Send"), send, "primary")),
      answer,
    ),
  );
}
