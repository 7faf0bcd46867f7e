// workbench-world.js - guilds, users and apps of the test server: lists, forms to create them, snapshots, world files.
import { fill, h, toast } from "../dom.js";
import { quickForm, small, table } from "../forms.js";
import { asOperator, consoleBlob, consoleCall } from "../operator.js";
import { locale, t } from "../translate.js";

const POLL_MS = 200,
  PATIENCE_MS = 120000;
const pause = () => new Promise((go) => setTimeout(go, POLL_MS));

export async function world(app, body) {
  const own = h("div.stack"),
    saved = h("div.stack"),
    files = h("div.stack");
  fill(body, h("div.bench-scroll.stack", { tabindex: 0, role: "region", "aria-label": t("World") }, own, saved, files));
  await Promise.all([
    seen(app, own),
    asOperator(app, saved, () => snapshots(app, saved)).then(() => worldFiles(app, files)),
  ]);
}

/* --- lists of guilds, users and apps that the user can see --- */

async function seen(app, container) {
  if (!app.rest.token)
    return fill(
      container,
      !app.operatorOnly &&
        h("p.pad", null, t("Log in to see servers, users and apps."), " ", h("a", { href: "/login" }, t("Log in"))),
      h("h2", null, t("New account")),
      accountForm(app),
    );
  await app.ready();
  const { store } = app,
    apps = await app.rest.get("/applications").catch(() => []);
  const people = [...store.users.values()],
    redraw = () => seen(app, container);
  const install = (a) =>
    h(
      "a.button.secondary",
      { href: `/oauth2/authorize?client_id=${a.id}&scope=bot+applications.commands` },
      t("Add it to a server"),
    );
  fill(
    container,
    h("h2", null, t("Servers – {n}", { n: store.guilds.size })),
    table(
      [t("Name"), t("Id"), t("Members"), t("Channels")],
      [...store.guilds.values()].map((g) => [
        h("a", { href: `/channels/${g.id}` }, g.name),
        h("code", null, g.id),
        String(g.member_count ?? g.members.size),
        String(store.channelsOf(g).length),
      ]),
    ),
    quickForm(
      [{ name: "name", label: t("New server") }],
      t("Create"),
      async (v) => {
        const made = await app.rest.post("/guilds", v);
        await store.when("guilds", () => store.guilds.has(made.id));
        await redraw();
      },
      "inline-form",
    ),
    h("h2", null, t("Users – {n}", { n: people.length })),
    table(
      [t("Name"), t("Username"), t("Id"), t("Type")],
      people
        .slice(0, 200)
        .map((u) => [u.global_name || "", `@${u.username}`, h("code", null, u.id), u.bot ? t("app") : t("person")]),
    ),
    accountForm(app),
    h("h2", null, t("My apps – {n}", { n: apps.length })),
    table(
      [t("Name"), t("Id"), t("Bot"), ""],
      apps.map((a) => [
        h("a", { href: `/settings/apps/${a.id}` }, a.name),
        h("code", null, a.id),
        a.bot ? `@${a.bot.username}` : "–",
        install(a),
      ]),
    ),
    quickForm(
      [{ name: "name", label: t("New app") }],
      t("Create"),
      async (v) => {
        const made = await app.rest.post("/applications", v);
        await app.rest.post(`/applications/${made.id}/bot`, {}).catch(() => {});
        await redraw();
      },
      "inline-form",
    ),
  );
}

/** A form that creates an account. The user stays logged in with the current account. */
function accountForm(app) {
  return quickForm(
    [
      { name: "username", label: t("New account") },
      { name: "password", label: t("Password"), type: "password" },
    ],
    t("Create"),
    async (v) => {
      await app.rest.anonymously("POST", "/auth/register", v);
      return t("The account {name} was created", { name: `@${v.username}` });
    },
    "inline-form",
  );
}

/* --- snapshots --- */

/**
 * Waits until the response at `path` has changed, which means that the server has restarted. Returns the new response.
 */
async function returned(path, changed) {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end;) {
    const now = await consoleCall("GET", path).catch(() => null);
    if (now && changed(now)) return now;
    await pause();
  }
  throw new Error(t("The server has not restarted yet. Its log shows the reason."));
}

async function snapshots(app, container) {
  const { snapshots: all, tried, restored } = await consoleCall("GET", "/snapshots");
  const path = (s) => `/snapshots/${encodeURIComponent(s.name)}`;
  const redraw = () => snapshots(app, container);
  const restore = async (s) => {
    if (
      !(await app.confirm(
        t("Restore"),
        `${t("Restore “{name}”?", { name: s.name })} ${
          s.name === "before-restore"
            ? t("The current data will be lost.")
            : t("The current data will be saved as before-restore.")
        }`,
        t("Restore"),
      ))
    )
      return;
    const done = await app.tryCall(
      consoleCall("POST", `${path(s)}/restore`).then(() => returned("/snapshots", (now) => now.tried > tried)),
    );
    if (!done) return;
    const back = done.restored > restored;
    toast(
      back
        ? t("“{name}” was restored", { name: s.name })
        : t("The restore failed and nothing was changed. The server log shows the reason."),
      back ? "" : "bad",
    );
    await redraw();
  };
  const drop = async (s) => {
    if (await app.confirm(t("Delete"), t("Delete “{name}”?", { name: s.name }), t("Delete"))) {
      await app.tryCall(consoleCall("DELETE", path(s)));
      redraw();
    }
  };
  fill(
    container,
    h("h2", null, t("Snapshots")),
    h("p.faint", null, t("A snapshot holds all rows, files and keys. Restoring one restarts the server.")),
    table(
      [t("Name"), t("Size"), t("Created"), ""],
      all.map((s) => [
        s.name,
        `${(s.bytes / 1024).toFixed(0)} KiB`,
        new Date(s.made_at).toLocaleString(locale),
        [small(t("Restore"), () => restore(s)), " ", small(t("Delete"), () => drop(s), "danger")],
      ]),
      t("Snapshots"),
    ),
    quickForm(
      [{ name: "name", label: t("Snapshot name") }],
      t("Create snapshot"),
      async (v) => {
        await consoleCall("POST", "/snapshots", v);
        await redraw();
        toast(t("“{name}” was created", { name: v.name }));
      },
      "inline-form",
    ),
  );
}

/* --- world files --- */

async function save() {
  const link = h("a", {
    href: URL.createObjectURL(await consoleBlob("/world")),
    download: "world.json",
    "data-plain": true,
  });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.getAttribute("href")), 1000);
}

const madeWords = (counts) =>
  Object.entries(counts)
    .filter(([, c]) => c.made)
    .map(([what, c]) => `${c.made} ${what}`)
    .join(", ") || t("nothing was changed");

function worldFiles(app, container) {
  if (!container.isConnected) return;
  const result = h("pre", { hidden: true, tabindex: 0, role: "status" });
  const say = (text) => {
    result.hidden = false;
    result.textContent = text;
  };
  fill(
    container,
    h("h2", null, t("World files")),
    h(
      "p.faint",
      null,
      t("A world file lists accounts, servers and apps. An import restarts the server. An export has password hashes."),
    ),
    h(
      "div.inline-form",
      null,
      small(t("Export world"), () => app.tryCall(save())),
    ),
    quickForm(
      [{ name: "file", label: t("World file"), type: "file" }],
      t("Import"),
      async (v) => {
        if (!v.file) throw new Error(t("Choose a file"));
        const text = await v.file.text(),
          { number } = await consoleCall("GET", "/world/import");
        result.hidden = true;
        await consoleCall("POST", "/world", text);
        const done = await returned("/world/import", (now) => now.number > number);
        say(done.imported ? t("Imported: {list}", { list: madeWords(done.counts) }) : done.problems);
      },
      "inline-form",
    ),
    result,
  );
}
