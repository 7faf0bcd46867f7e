// bench-world.js - what there is; making more of it; worlds as files, and kept by name.
import { fill, h, toast } from "../dom.js";
import { quickForm, small, table } from "../forms.js";
import { asOperator, consoleBlob, consoleCall } from "../operator.js";
import { locale, t } from "../words.js";

const LOOK_MS = 200,
  PATIENCE_MS = 120000;
const pause = () => new Promise((go) => setTimeout(go, LOOK_MS));

export async function world(app, body) {
  const own = h("div.stack"),
    kept = h("div.stack"),
    files = h("div.stack");
  fill(body, h("div.bench-scroll.stack", { tabindex: 0, role: "region", "aria-label": t("World") }, own, kept, files));
  await Promise.all([
    seen(app, own),
    asOperator(app, kept, () => snapshots(app, kept)).then(() => worldFiles(app, files)),
  ]);
}

/* --- what there is, as far as this person sees it --- */

async function seen(app, place) {
  if (!app.rest.token)
    return fill(
      place,
      !app.operatorOnly &&
        h("p.pad", null, t("Enter as somebody to see what there is."), " ", h("a", { href: "/login" }, t("Enter"))),
      h("h2", null, t("A new account")),
      accountForm(app),
    );
  await app.ready();
  const { store } = app,
    apps = await app.rest.get("/applications").catch(() => []);
  const people = [...store.users.values()],
    redraw = () => seen(app, place);
  const install = (a) =>
    h(
      "a.button.secondary",
      { href: `/oauth2/authorize?client_id=${a.id}&scope=bot+applications.commands` },
      t("Put it into a guild"),
    );
  fill(
    place,
    h("h2", null, t("Guilds – {n}", { n: store.guilds.size })),
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
      [{ name: "name", label: t("A new guild") }],
      t("Make it"),
      async (v) => {
        const made = await app.rest.post("/guilds", v);
        await store.when("guilds", () => store.guilds.has(made.id));
        await redraw();
      },
      "inline-form",
    ),
    h("h2", null, t("People – {n}", { n: people.length })),
    table(
      [t("Name"), t("Username"), t("Id"), t("Kind")],
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
      [{ name: "name", label: t("A new app") }],
      t("Make it"),
      async (v) => {
        const made = await app.rest.post("/applications", v);
        await app.rest.post(`/applications/${made.id}/bot`, {}).catch(() => {});
        await redraw();
      },
      "inline-form",
    ),
  );
}

/** Somebody else: the person who looks stays who they are. */
function accountForm(app) {
  return quickForm(
    [
      { name: "username", label: t("A new account") },
      { name: "password", label: t("Its password"), type: "password" },
    ],
    t("Make it"),
    async (v) => {
      await app.rest.anonymously("POST", "/auth/register", v);
      return t("{name} can log in", { name: `@${v.username}` });
    },
    "inline-form",
  );
}

/* --- kept by name --- */

/** Waits until the server is back and says that something has happened. */
async function returned(path, changed) {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end;) {
    const now = await consoleCall("GET", path).catch(() => null);
    if (now && changed(now)) return now;
    await pause();
  }
  throw new Error(t("The server is not back yet; its log says why."));
}

async function snapshots(app, place) {
  const { snapshots: all, tried, restored } = await consoleCall("GET", "/snapshots");
  const path = (s) => `/snapshots/${encodeURIComponent(s.name)}`;
  const redraw = () => snapshots(app, place);
  const restore = async (s) => {
    if (
      !(await app.confirm(
        t("Restore"),
        `${t("Bring “{name}” back?", { name: s.name })} ${s.name === "before-restore" ? t("Nothing is kept of what is there now.") : t("What is there now is kept as before-restore.")}`,
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
        ? t("“{name}” is back", { name: s.name })
        : t("It could not be restored, and all is as it was; the server’s log says why."),
      back ? "" : "bad",
    );
    await redraw();
  };
  const drop = async (s) => {
    if (await app.confirm(t("Forget"), t("Forget “{name}”?", { name: s.name }), t("Forget"))) {
      await app.tryCall(consoleCall("DELETE", path(s)));
      redraw();
    }
  };
  fill(
    place,
    h("h2", null, t("Snapshots")),
    h(
      "p.faint",
      null,
      t("Rows, files and keys as they are now. To bring one back the server starts anew: sessions identify again."),
    ),
    table(
      [t("Name"), t("Size"), t("Made"), ""],
      all.map((s) => [
        s.name,
        `${(s.bytes / 1024).toFixed(0)} KiB`,
        new Date(s.made_at).toLocaleString(locale),
        [small(t("Restore"), () => restore(s)), " ", small(t("Forget"), () => drop(s), "danger")],
      ]),
      t("Snapshots"),
    ),
    quickForm(
      [{ name: "name", label: t("Name of a new snapshot") }],
      t("Keep it"),
      async (v) => {
        await consoleCall("POST", "/snapshots", v);
        await redraw();
        toast(t("“{name}” is kept", { name: v.name }));
      },
      "inline-form",
    ),
  );
}

/* --- as a file --- */

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
    .join(", ") || t("nothing new");

function worldFiles(app, place) {
  if (!place.isConnected) return;
  const result = h("pre", { hidden: true, tabindex: 0, role: "status" });
  const say = (text) => {
    result.hidden = false;
    result.textContent = text;
  };
  fill(
    place,
    h("h2", null, t("World files")),
    h(
      "p.faint",
      null,
      t(
        "A world file declares accounts, guilds and apps. To read one the server starts anew; what is there already is brought up to date. An export has the hashes of passwords in it.",
      ),
    ),
    h(
      "div.inline-form",
      null,
      small(t("Export the world"), () => app.tryCall(save())),
    ),
    quickForm(
      [{ name: "file", label: t("A world file"), type: "file" }],
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
