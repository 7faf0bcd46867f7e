// workbench-why.js - explains a user's permissions and why a message was delivered or not; lists the error codes.
import { fill, h } from "../dom.js";
import { quickForm } from "../forms.js";
import { asOperator, consoleCall, consoleText } from "../operator.js";
import { PERMISSIONS } from "../permissions.js";
import { t } from "../translate.js";

const query = (values) =>
  Object.entries(values)
    .filter(([, value]) => value)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join("&");

/** Shows the steps of the server's explanation, then its result. */
function explanation(found, yes, words) {
  return [
    h(
      "div",
      { role: "list", "aria-label": t("Steps") },
      found.steps.map((s) =>
        h("div", { role: "listitem", class: s.has ? "good" : "bad" }, s.has ? "✓ " : "✗ ", s.text),
      ),
    ),
    h("p", { role: "status", class: yes ? "good" : "bad" }, yes ? words : t("No: {cause}", { cause: found.cause })),
  ];
}

/** A form for a question to the server; the server's response is shown below its fields. */
function question(title, rows, ask) {
  const answer = h("div");
  return h(
    "section.stack",
    null,
    h("h2", null, title),
    quickForm(rows, t("Explain"), async (values) => fill(answer, await ask(values))),
    answer,
  );
}

const permissionForm = () =>
  question(
    t("Why does a member have a permission, or not?"),
    [
      { name: "user", label: t("Name or id of the member"), required: true },
      { name: "permission", label: t("Permission"), options: Object.keys(PERMISSIONS).map((name) => [name, name]) },
      { name: "channel", label: t("Channel"), hint: t("Name, SERVER/CHANNEL or id; empty: the whole server.") },
    ],
    async (values) => {
      const found = await consoleCall("GET", `/permissions?${query(values)}`);
      return explanation(found, found.allowed, t("Yes"));
    },
  );

const deliveryForm = () =>
  question(
    t("Why did a bot not receive a message?"),
    [
      { name: "user", label: t("Name or id of the bot"), required: true },
      { name: "link", label: t("Link of the message"), required: true },
    ],
    async ({ user, link }) => {
      const [channel_id, message_id] = link.split("/").slice(-2);
      const found = await consoleCall("GET", `/delivery?${query({ user, channel_id, message_id })}`);
      return explanation(found, found.delivered && found.content, t("Yes, with its content"));
    },
  );

export function why(app, body) {
  return asOperator(app, body, async () => {
    await consoleCall("GET", "/traffic?limit=1"); // if the response is 401, asOperator asks for the console key
    fill(
      body,
      h(
        "div.bench-scroll.stack",
        { tabindex: 0, role: "region", "aria-label": t("Why?") },
        permissionForm(),
        deliveryForm(),
      ),
    );
  });
}

/**
 * Shows an error code with its meaning, its usual causes and how to fix it.
 * @param {string} text a section of docs/errors.md
 */
function errorSection(text) {
  const [code, ...lines] = text.split("\n").filter(Boolean);
  return h(
    "section",
    { id: code },
    h("h2", null, code),
    lines.map((line) => h("p", null, line.replace(/^- /, ""))),
  );
}

export function errors(app, body) {
  return asOperator(app, body, async () => {
    const text = await consoleText("/errors"),
      sections = text.split(/^### /m).slice(1);
    fill(
      body,
      h(
        "div.bench-scroll.stack",
        { tabindex: 0, role: "region", "aria-label": t("Errors") },
        sections.map((one) => errorSection(one.split(/^## /m)[0])),
      ),
    );
    if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
  });
}
