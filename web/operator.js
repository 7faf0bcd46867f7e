// operator.js - client for the /console routes: requests, and the live stream of traffic records.
import { field, fill, h } from "./dom.js";
import { Refusal } from "./rest.js";
import { t } from "./translate.js";

const MAX_RECORDS = 4000;

export const clock = (at) => new Date(at).toISOString().slice(11, 23);

/** Returns a value as indented JSON. Secrets such as tokens are masked. */
export function pretty(value) {
  return JSON.stringify(
    value,
    (key, v) => (/^(token|password|secret)$/.test(key) && typeof v === "string" ? "•••" : v),
    2,
  );
}

/** Returns a recorded body as text; indents it if it is JSON. */
export function laidOut(text) {
  try {
    return pretty(JSON.parse(text));
  } catch {
    return text || "";
  }
}

/** Returns cause and fix of an error response, with a link to the list of errors. @param {any} record */
export function cause({ hint, docs }) {
  const code = /#(\d+)$/.exec(docs || "")?.[1];
  return (hint || code) && h("p.good", null, hint, " ", code && h("a", { href: `/workbench/errors#${code}` }, code));
}

const key = () => sessionStorage.getItem("console-key") || "";

async function ask(method, path, body) {
  const headers = { Accept: "application/json" };
  if (key()) headers.Authorization = `Bearer ${key()}`;
  if (body) headers["Content-Type"] = "application/json";
  const answer = await fetch(`/console${path}`, {
    method,
    headers,
    body: typeof body === "object" ? JSON.stringify(body) : body,
  });
  if (!answer.ok) throw new Refusal(answer.status, await answer.json().catch(() => null));
  if (method !== "GET") dispatchEvent(new Event("operated"));
  return answer;
}

/**
 * Sends a request of the console.
 * @param {string} method @param {string} path below /console @param {any} [body] an object, or JSON
 */
export async function consoleCall(method, path, body) {
  const text = await (await ask(method, path, body)).text();
  return text ? JSON.parse(text) : null;
}

/** Returns the response of a route below /console as text. @param {string} path */
export async function consoleText(path) {
  return (await ask("GET", path)).text();
}

/** Returns the response of a route below /console as a Blob. @param {string} path */
export async function consoleBlob(path) {
  return (await ask("GET", path)).blob();
}

/** Shows a view, or asks for the console key if the server requires it. */
export async function asOperator(app, body, show) {
  try {
    return await show();
  } catch (e) {
    if (e.status !== 401) {
      fill(
        body,
        h(
          "p.pad.field-error",
          { role: "alert" },
          e.status === 404 || e.status === 403
            ? t("This server does not offer this part of the workbench.")
            : e.message,
        ),
      );
      return undefined;
    }
    const input = field(
      t("Access key of the operator console"),
      h("input", { type: "password", autocomplete: "off" }),
      t("The command “guildhall console-key” prints the key."),
    );
    fill(
      body,
      h(
        "form.card",
        {
          onsubmit: (event) => {
            event.preventDefault();
            sessionStorage.setItem("console-key", input.control.value.trim());
            app.show();
          },
        },
        h("h2", null, t("Operator login")),
        input,
        h("button.button.primary", { type: "submit" }, t("Log in")),
      ),
    );
    if (key()) input.problem(t("This access key is wrong"));
    return undefined;
  }
}

/** Receives the live stream of traffic records and stores the newest records. Calls onChange after each batch. */
export class Feed {
  constructor(onChange) {
    this.records = [];
    this.onChange = onChange;
  }
  async begin() {
    const { newest } = await consoleCall("GET", "/traffic?limit=1");
    this.last = Math.max(0, newest - MAX_RECORDS);
    while (this.last < newest) {
      const page = await consoleCall("GET", `/traffic?limit=200&after=${this.last}`);
      this.add(page.records, page.last);
    }
    this.open();
  }
  add(records, last) {
    this.last = last;
    this.records.push(...records);
    if (this.records.length > MAX_RECORDS) this.records.splice(0, this.records.length - MAX_RECORDS);
    if (records.length && !this.due) {
      this.due = true;
      requestAnimationFrame(() => {
        this.due = false;
        this.onChange();
      });
    }
  }
  open() {
    this.socket = new WebSocket(
      `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/console/traffic/live`,
    );
    this.socket.onopen = () => this.socket.send(JSON.stringify({ ...(key() ? { key: key() } : {}), after: this.last }));
    this.socket.onmessage = (e) => {
      const m = JSON.parse(e.data);
      this.add(m.records, m.last);
    };
    this.socket.onclose = (e) => {
      if (!this.ended && e.code !== 4004) this.retry = setTimeout(() => this.open(), 1500);
    };
  }
  end() {
    this.ended = true;
    clearTimeout(this.retry);
    this.socket?.close();
  }
}
