// workbench-operator.js - controls gateway sessions, the server's clock, and simulated errors.
import { dialog, fill, h, refill } from "../dom.js";
import { quickForm, small, table } from "../forms.js";
import { asOperator, consoleCall, pretty } from "../operator.js";
import { fileSize } from "../images.js";
import { t } from "../translate.js";

const EVERY_MS = 2000;

/** Draws a view periodically. Shows the error if a refresh fails. */
function refreshed(app, body, container, draw) {
  return asOperator(app, body, async () => {
    await draw();
    fill(body, container);
    const timer = setInterval(() => document.querySelector("dialog") || draw().catch(() => {}), EVERY_MS);
    return () => clearInterval(timer);
  });
}

const INTENTS = [
  "GUILDS",
  "GUILD_MEMBERS",
  "GUILD_MODERATION",
  "GUILD_EXPRESSIONS",
  "GUILD_INTEGRATIONS",
  "GUILD_WEBHOOKS",
  "GUILD_INVITES",
  "GUILD_VOICE_STATES",
  "GUILD_PRESENCES",
  "GUILD_MESSAGES",
  "GUILD_MESSAGE_REACTIONS",
  "GUILD_MESSAGE_TYPING",
  "DIRECT_MESSAGES",
  "DIRECT_MESSAGE_REACTIONS",
  "DIRECT_MESSAGE_TYPING",
  "MESSAGE_CONTENT",
  "GUILD_SCHEDULED_EVENTS",
  "",
  "",
  "",
  "AUTO_MODERATION_CONFIGURATION",
  "AUTO_MODERATION_EXECUTION",
  "",
  "",
  "GUILD_MESSAGE_POLLS",
  "DIRECT_MESSAGE_POLLS",
];

/** Returns the intents of a bot's gateway session. Returns "all" for a user account, which receives all events. */
function intentsOf(s) {
  if (!s.bot) return t("all");
  return (
    Array.from({ length: 32 }, (_, i) => i)
      .filter((i) => (s.intents >>> i) & 1)
      .map((i) => (INTENTS[i] || `bit ${i}`).toLowerCase())
      .join(", ") || t("none")
  );
}

/** Returns the encoding of a session. The transport is a text such as "json, zlib": encoding and compression. */
const encodingOf = (s) => (s.connected ? s.transport.split(", ")[0] : t("idle"));
const compressionOf = (s) => (s.connected ? s.transport.split(", ")[1] || t("none") : "");

const ACTIONS = [
  ["reconnect", t("Reconnect (op 7)")],
  ["resumable", t("Invalid, may resume (op 9)")],
  ["invalidate", t("Invalid (op 9)")],
];

export function sessions(app, body) {
  const container = h("div.bench-scroll", { tabindex: 0, role: "region", "aria-label": t("Sessions") });
  return refreshed(app, body, container, async () => {
    const { users = {}, sessions: all = [] } = await consoleCall("GET", "/sessions");
    const order = (s, b) => consoleCall("POST", `/sessions/${encodeURIComponent(s.session_id)}`, b);
    const act = (s) =>
      dialog(t("Reset or close a session"), (close) =>
        h(
          "div.stack",
          null,
          ACTIONS.map(([action, words]) =>
            small(words, () => {
              close();
              app.tryCall(order(s, { action }), t("Done"));
            }),
          ),
          quickForm([{ name: "code", label: t("Close with a code"), value: "4000" }], t("Close"), async (v) => {
            await order(s, { action: "close", code: Number(v.code) });
            close();
          }),
        ),
      );
    refill(
      container,
      table(
        [
          t("User"),
          t("Type"),
          t("Shard"),
          t("Intents"),
          t("Encoding"),
          t("Compression"),
          t("Sequence"),
          t("Unsent events"),
          t("Unsent bytes"),
          t("Client"),
          "",
        ],
        all.map((s) => [
          users[s.user_id] || s.user_id,
          s.bot ? t("bot") : t("person"),
          s.bot && s.shard ? [].concat(s.shard).join("/") : "",
          intentsOf(s),
          encodingOf(s),
          compressionOf(s),
          String(s.events),
          t("{n} event|{n} events", { n: s.waiting }),
          fileSize(s.buffered_bytes),
          (s.client || "").split("|").filter(Boolean).join(", "),
          [
            small(
              t("Show"),
              () => dialog(t("Session"), () => h("pre.json", { tabindex: 0 }, pretty(s))),
              "secondary",
              `show ${s.session_id}`,
            ),
            " ",
            small(t("Reset…"), () => act(s), "secondary", `push ${s.session_id}`),
          ],
        ]),
        t("Sessions"),
      ),
    );
  });
}

export function trouble(app, body) {
  const time = h("p"),
    list = h("div"),
    all = h("div"); // only these three elements are redrawn, because redrawing the forms would discard typed text
  const operate = async (method, path, b) => {
    const answer = await consoleCall(method, path, b);
    await draw();
    return answer;
  };
  const move = (b) => app.tryCall(operate("POST", "/clock", b), t("The server clock was shifted"));
  const container = h(
    "div.bench-scroll.stack",
    { tabindex: 0, role: "region", "aria-label": t("Clock and simulated errors") },
    h("h2", null, t("Server clock")),
    time,
    h(
      "div.inline-form",
      null,
      [
        ["+10 s", 10000],
        ["+1 min", 60000],
        ["+15 min", 900000],
        ["+1 h", 3600000],
        [t("+1 day"), 86400000],
      ].map(([words, ms]) => small(words, () => move({ advance_ms: ms }))),
      small(t("Reset clock"), () => move({ reset: true }), "danger"),
    ),
    h("h2", null, t("Simulated errors")),
    list,
    quickForm(
      [
        {
          name: "method",
          label: t("Method"),
          options: [
            ["", t("any")],
            ["GET", "GET"],
            ["POST", "POST"],
            ["PUT", "PUT"],
            ["PATCH", "PATCH"],
            ["DELETE", "DELETE"],
          ],
        },
        { name: "path", label: t("Path"), value: "/channels/*/messages" },
        { name: "status", label: t("Status"), value: "500" },
        { name: "delay_ms", label: t("Delay, ms"), value: "" },
        { name: "times", label: t("Repetitions"), value: "1" },
      ],
      t("Add"),
      async (v) => {
        const number = (x) => (x === "" ? undefined : Number(x));
        await operate("POST", "/faults", {
          ...(v.method ? { method: v.method } : {}),
          path: v.path,
          status: number(v.status),
          delay_ms: number(v.delay_ms),
          times: number(v.times),
        });
      },
      "inline-form",
    ),
    h("h2", null, t("Events")),
    quickForm(
      [{ name: "delay_ms", label: t("Delay of all events, ms"), value: "3000" }],
      t("Delay events"),
      async (v) => {
        await operate("POST", "/faults", { path: "events", delay_ms: Number(v.delay_ms) });
      },
      "inline-form",
    ),
    all,
  );

  async function draw() {
    const [now, response] = await Promise.all([consoleCall("GET", "/clock"), consoleCall("GET", "/faults")]),
      faults = Array.isArray(response) ? response : response.faults || [];
    time.textContent = now.moved_ms
      ? t("{time}, shifted by {n} s", { time: now.now, n: Math.round(now.moved_ms / 1000) })
      : now.now;
    refill(
      list,
      table(
        [t("Requests"), t("Effect"), t("Remaining"), t("Times applied"), ""],
        faults.map((f) => [
          h("code", null, f.path === "events" ? t("all events") : `${f.method || t("any")} ${f.path}`),
          [f.status, f.delay_ms && t("after {n} ms", { n: f.delay_ms }), f.drop && t("connection closed")]
            .filter(Boolean)
            .join(", "),
          f.times ? String(f.times) : t("always"),
          String(f.hits ?? 0),
          small(t("Remove"), () => app.tryCall(operate("DELETE", `/faults/${f.id}`)), "secondary", `take ${f.id}`),
        ]),
        t("Simulated errors"),
      ),
    );
    refill(all, faults.length > 0 && small(t("Remove all"), () => app.tryCall(operate("DELETE", "/faults")), "danger"));
  }
  return refreshed(app, body, container, draw);
}
