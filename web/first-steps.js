// first-steps.js - suggests to a user who is in no guild to create or join one; draws empty states.
import { dialog, field, h } from "./dom.js";
import { icon } from "./icons.js";
import { t } from "./translate.js";

/**
 * Returns the contents of an empty list or page: a title, advice on what to do next, and a button that does it.
 * @param {{icon?: string, title: string, words?: any, action?: string, run?: () => void}} what
 */
export function emptyState({ icon: name, title, words, action, run }) {
  return h(
    "div.empty-state",
    null,
    name && h("span.empty-icon", { "aria-hidden": "true" }, icon(name)),
    h("p.empty-title", null, title),
    words && h("p.faint", null, words),
    action && h("button.button.primary", { type: "button", onclick: run }, action),
  );
}

/** Opens a dialog with one field. An error of the server is shown at the field. */
function askOne(title, label, props, hint, action, send) {
  return dialog(title, (close) => {
    const input = field(label, h("input", { required: true, autocomplete: "off", ...props }), hint),
      submit = h("button.button.primary", { type: "submit" }, action);
    return h(
      "form.stack",
      {
        novalidate: true,
        onsubmit: async (e) => {
          e.preventDefault();
          submit.disabled = true;
          input.problem("");
          try {
            close(await send(input.control.value.trim()));
          } catch (refusal) {
            input.problem(refusal.at?.("name") || refusal.message);
            input.control.focus();
          }
          submit.disabled = false;
        },
      },
      input,
      h("div.actions", null, submit),
    );
  });
}

/** Asks for a name, creates a server (guild) and opens it. @param {any} app */
export async function createServer(app) {
  const made = await askOne(
    t("Create a server"),
    t("Server name"),
    { maxlength: 100, value: t("{name}’s server", { name: app.store.me.global_name || app.store.me.username }) },
    t("You can change the name later in the server settings."),
    t("Create"),
    (name) => app.rest.post("/guilds", { name }),
  );
  if (made) app.openGuild(made.id);
}

/** Asks for an invite and opens the page of the invite. @param {any} app */
export async function joinServer(app) {
  const code = await askOne(
    t("Join a server"),
    t("Invite link"),
    { placeholder: `${location.origin}/invite/…`, spellcheck: "false" },
    t("Ask a member of the server for a link. The code at its end is enough."),
    t("Continue"),
    async (text) => {
      const found = text.split(/[?#]/)[0].replace(/\/+$/, "").split("/").pop();
      if (!found) throw new Error(t("Enter an invite link."));
      await app.rest.get(`/invites/${encodeURIComponent(found)}`).catch((refusal) => {
        throw refusal.status === 404
          ? new Error(t("This invite does not exist or has expired. Ask for a new one."))
          : refusal;
      });
      return found;
    },
  );
  if (code) app.go(`/invite/${encodeURIComponent(code)}`);
}

const choice = (name, title, words, run) =>
  h(
    "button.first-choice",
    { type: "button", onclick: run },
    h("span.empty-icon", { "aria-hidden": "true" }, icon(name)),
    h("span", null, h("strong", null, title), h("small.faint", null, words)),
  );

/**
 * The buttons to create and to join a server (guild). A click on either button calls `before` first.
 * @param {any} app
 * @param {() => void} [before] called by a click
 */
export const serverChoices = (app, before = () => {}) =>
  h(
    "div.first-choices",
    null,
    choice("plus", t("Create a server"), t("A place for your group, with channels and roles."), () => {
      before();
      createServer(app);
    }),
    choice("people", t("Join a server"), t("Use an invite link from a member of the server."), () => {
      before();
      joinServer(app);
    }),
  );

/** The start page of a user who is in no server (guild). @param {any} app */
export const firstSteps = (app) =>
  h(
    "section.first-steps",
    { "aria-label": t("First steps") },
    h("h2", null, t("Welcome, {name}", { name: app.store.me.global_name || app.store.me.username })),
    h("p.faint", null, t("Conversations happen in servers. Create a server, or join a server with an invite.")),
    serverChoices(app),
  );

/** The dialog of the button "Add a server". @param {any} app */
export const addServer = (app) => dialog(t("Add a server"), (close) => serverChoices(app, close));
