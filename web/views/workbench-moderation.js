// workbench-moderation.js - the operator's reports, announcement, accounts, banned addresses and registration codes.
import { dialog, fill, h, refill } from "../dom.js";
import { quickForm, small, table } from "../forms.js";
import { asOperator, consoleCall } from "../operator.js";
import { t } from "../translate.js";

const read = (command, argument) =>
  consoleCall("GET", `/commands/${command}${argument ? `?argument=${encodeURIComponent(argument)}` : ""}`);
const run = (command, ...args) => consoleCall("POST", `/commands/${command}`, { arguments: args });
const time = (at) => (at ? new Date(at).toLocaleString() : "");
const section = (title, hint, ...parts) =>
  h("section.stack", { "aria-label": title }, h("h2", null, title), h("p.hint", null, hint), parts);

/** Asks the user for confirmation of an action that cannot be undone. @returns {Promise<boolean>} */
const sure = (title, words, action) =>
  dialog(title, (close) =>
    h(
      "div.stack",
      null,
      h("p", null, words),
      h(
        "div.actions",
        null,
        h("button.button.secondary", { type: "button", onclick: () => close(false) }, t("Cancel")),
        h("button.button.danger", { type: "button", onclick: () => close(true) }, action),
      ),
    ),
  );

/** Returns the content and the file names of a reported message. @param {string} snapshot message as JSON */
function textOf(snapshot) {
  try {
    const m = JSON.parse(snapshot);
    return [m.content, ...(m.attachments || []).map((a) => a.filename)].filter(Boolean).join("\n") || snapshot;
  } catch {
    return snapshot;
  }
}

/** Shows a report, and the actions that close it. */
function showReport(app, r, changed) {
  return dialog(t("Report"), (close) => {
    const act = async (work, done) => {
      const ended = await app.tryCall(work(), done);
      if (!ended) return;
      close();
      changed();
    };
    const end = (why) => run("report/close", r.id, why);
    const remove = async () => {
      await run("message/delete", r.channel, r.message).catch((e) => {
        if (!/no such message/.test(e.words || e.message)) throw e;
      });
      return end(t("Message deleted"));
    };
    const disable = async () => {
      await run("user/disable", r.author_id);
      return end(t("Account disabled"));
    };
    return h(
      "div.stack",
      null,
      h("p", null, h("strong", null, r.reason), " · ", time(r.made)),
      r.comment && h("p", null, t("Comment: {words}", { words: r.comment })),
      h("pre.json", { tabindex: 0, "aria-label": t("Reported message") }, textOf(r.snapshot)),
      h(
        "p.faint",
        null,
        t("Author {author}, reported by {reporter}", { author: r.author_id, reporter: r.reporter_id }),
      ),
      h(
        "div.actions",
        null,
        small(t("Dismiss report"), () => act(() => end(t("No action")), t("Report closed"))),
        small(t("Disable account"), () => act(disable, t("Account disabled")), "danger"),
        small(t("Delete message"), () => act(remove, t("Message deleted")), "danger"),
      ),
    );
  });
}

const reportRows = (app, reports, draw) =>
  table(
    [t("Time"), t("Reason"), t("Author"), ""],
    reports.map((r) => [
      time(r.made),
      r.reason,
      r.author_id,
      small(
        t("Show"),
        async () => {
          const [whole] = (await app.tryCall(read("report/show", r.id))) || [];
          if (whole) showReport(app, whole, draw);
        },
        "secondary",
        `report ${r.id}`,
      ),
    ]),
    t("Reports"),
  );

const banRows = (app, bans, draw) =>
  table(
    [t("Addresses"), t("Since"), t("Reason"), ""],
    bans.map((b) => [
      h("code", null, b.range),
      time(b.since),
      b.reason,
      small(t("Remove"), () => app.tryCall(run("ban/lift", b.id)).then(draw), "secondary", `ban ${b.id}`),
    ]),
    t("Banned addresses"),
  );

const codeRows = (app, codes, draw) =>
  table(
    [t("Begins with"), t("Uses left"), t("Valid until"), ""],
    codes.map((c) => [
      h("code", null, c.begins),
      String(c.uses_left),
      time(c.until),
      small(t("Revoke"), () => app.tryCall(run("invite/revoke", c.id)).then(draw), "secondary", `code ${c.id}`),
    ]),
    t("Registration codes"),
  );

/** A form that finds an account and disables or enables it. */
function accounts(app) {
  const found = h("div", { role: "status" });
  const show = (u) => {
    const disable = async () => {
      const words = t("{name} is logged out everywhere and cannot log in again.", { name: u.name });
      if (await sure(t("Disable account"), words, t("Disable account"))) act("user/disable");
    };
    const act = async (command) => (await app.tryCall(run(command, u.id), t("Done"))) && find(u.id);
    fill(
      found,
      h(
        "p",
        null,
        h("strong", null, u.name),
        ` · ${u.state} · `,
        t("{n} server|{n} servers", { n: u.guilds }),
        " ",
        u.state === "disabled"
          ? small(t("Enable account"), () => act("user/enable"))
          : small(t("Disable account"), disable, "danger"),
      ),
    );
  };
  const find = async (name) => {
    const [u] = await read("user/show", name);
    show(u);
    return "";
  };
  const form = quickForm(
    [{ name: "arguments", label: t("Username or ID"), required: true }],
    t("Search"),
    (v) => find(v.arguments.trim()),
    "inline-form",
  );
  return [form, found];
}

export function moderation(app, body) {
  const reports = h("div"),
    bans = h("div"),
    codes = h("div"),
    shown = h("p", { role: "status" });

  async function draw() {
    const none = (e) => (e.status === 400 ? [] : Promise.reject(e));
    const [r, b, c, [a]] = await Promise.all([
      read("report/list"),
      read("ban/list"),
      read("invite/list"),
      read("announcement/show").catch(none),
    ]);
    refill(reports, r.length ? reportRows(app, r, draw) : h("p.faint", null, t("No open reports.")));
    refill(bans, banRows(app, b, draw));
    refill(codes, codeRows(app, c, draw));
    refill(
      shown,
      a ? t("Shown until {time}: {words}", { time: time(a.until), words: a.content }) : t("No announcement is shown."),
      a && small(t("Remove announcement"), () => app.tryCall(run("announcement/clear")).then(draw)),
    );
  }
  const announce = async (v) => {
    await run("announcement/set", v.arguments.trim(), v.days);
    await draw();
    return t("Everybody sees it within five minutes.");
  };
  const ban = async (v) => {
    await run("ban/add", v.arguments.trim(), v.reason.trim());
    await draw();
  };
  const create = async (v) => {
    const [made] = await run("invite/create", v.arguments, v.days);
    await draw();
    const link = `${location.origin}/register?invite=${made.code}`;
    dialog(t("Registration code"), () =>
      h(
        "div.stack",
        null,
        h("p", null, t("This link is shown only once. Send it to the people who may register.")),
        h("input", { readonly: true, "aria-label": t("Link"), value: link }),
      ),
    );
    return "";
  };
  const page = h(
    "div.bench-scroll.stack",
    { tabindex: 0, role: "region", "aria-label": t("Moderation") },
    section(t("Reports"), t("Messages that people have reported, oldest first."), reports),
    section(
      t("Announcement"),
      t("A text that everybody sees on top of the web pages."),
      shown,
      quickForm(
        [
          { name: "arguments", label: t("Text"), rows: 2, required: true, props: { maxlength: 2000 } },
          { name: "days", label: t("Days"), value: "7", type: "number", props: { min: 1, max: 365 } },
        ],
        t("Announce"),
        announce,
      ),
    ),
    section(t("Accounts"), t("Disable an account of a person who breaks the rules."), accounts(app)),
    section(
      t("Banned addresses"),
      t("Nobody can connect from these address ranges."),
      bans,
      quickForm(
        [
          { name: "arguments", label: t("Range"), required: true, hint: t("For example 192.0.2.0/24") },
          { name: "reason", label: t("Reason") },
        ],
        t("Ban"),
        ban,
      ),
    ),
    section(
      t("Registration codes"),
      t("With a code, people can register while registration needs an invitation."),
      codes,
      quickForm(
        [
          { name: "arguments", label: t("Maximum number of uses"), value: "1", type: "number", props: { min: 1 } },
          { name: "days", label: t("Days"), value: "7", type: "number", props: { min: 1, max: 3650 } },
        ],
        t("Create code"),
        create,
      ),
    ),
  );
  return asOperator(app, body, async () => {
    await draw();
    fill(body, page);
  });
}
