// friend-actions.js - actions for friends and friend requests: accept, decline, nickname, note, block, remove.
import { dialog, h } from "../dom.js";
import { iconButton } from "../icons.js";
import { below, menu } from "../menu.js";
import { t } from "../translate.js";

export const FRIEND = 1,
  BLOCKED = 2,
  INCOMING = 3,
  OUTGOING = 4;

/** Returns the buttons for a relationship, and the path of its requests. @param {any} app */
export function friendActions(app) {
  const { store, rest } = app;
  const path = (id) => `/users/@me/relationships/${id}`;

  /**
   * Accepts a friend request. Asks for confirmation if its sender has no server (guild) and no friend in common with
   * the user.
   */
  async function accept(r) {
    if (r.stranger_request || r.is_stranger_request) {
      const sure = await dialog(t("Friend request from an unknown person"), (close) =>
        h(
          "div.stack",
          null,
          h(
            "p",
            null,
            t("You share no server and no friend with {name}. Accept anyway?", { name: store.nameOf(r.id) }),
          ),
          h(
            "div.actions",
            null,
            h("button.button.secondary", { type: "button", onclick: () => close(false) }, t("Cancel")),
            h("button.button.success", { type: "button", onclick: () => close(true) }, t("Accept")),
          ),
        ),
      );
      if (!sure) return;
      return app.tryCall(rest.put(path(r.id), { confirm_stranger_request: true }));
    }
    return app.tryCall(rest.put(path(r.id), {}));
  }

  function buttons(r) {
    if (r.type === INCOMING)
      return [
        h("button.button.success", { type: "button", onclick: () => accept(r) }, t("Accept")),
        h(
          "button.button.secondary",
          { type: "button", onclick: () => app.tryCall(rest.delete(path(r.id))) },
          t("Decline"),
        ),
      ];
    if (r.type === OUTGOING)
      return h(
        "button.button.secondary",
        { type: "button", onclick: () => app.tryCall(rest.delete(path(r.id))) },
        t("Cancel"),
      );
    if (r.type === BLOCKED)
      return h(
        "button.button.secondary",
        { type: "button", onclick: () => app.tryCall(rest.delete(path(r.id))) },
        t("Unblock"),
      );
    if (r.type === FRIEND)
      return [
        iconButton("forum", `${t("Message")} ${store.nameOf(r.id)}`, () => app.messagePerson(r.id)),
        iconButton("more", t("More about {name}", { name: store.nameOf(r.id) }), (e) => more(r, e.currentTarget)),
      ];
    return (
      r.user_ignored &&
      h(
        "button.button.secondary",
        { type: "button", onclick: () => app.tryCall(rest.delete(`${path(r.id)}/ignore`)) },
        t("Stop ignoring"),
      )
    );
  }

  function more(r, at) {
    menu(
      below(at),
      [
        {
          label: t("Nickname"),
          icon: "edit",
          run: async () => {
            const name = await app.ask(t("Nickname"), t("Nickname"), r.nickname || "");
            if (name !== undefined) app.tryCall(rest.patch(path(r.id), { nickname: name || null }));
          },
        },
        {
          label: t("Note"),
          icon: "edit",
          run: async () => {
            const note = await app.ask(t("Note"), t("Only visible to you"), store.notes?.[r.id] || "");
            if (note !== undefined) app.tryCall(rest.put(`/users/@me/notes/${r.id}`, { note }));
          },
        },
        {
          label: r.user_ignored ? t("Stop ignoring") : t("Ignore"),
          icon: "muted",
          run: () =>
            app.tryCall(
              rest.call(r.user_ignored ? "DELETE" : "PUT", `${path(r.id)}/ignore`, r.user_ignored ? undefined : {}),
            ),
        },
        {
          label: t("Block"),
          icon: "close",
          danger: true,
          run: () => app.tryCall(rest.put(path(r.id), { type: BLOCKED })),
        },
        { label: t("Remove"), icon: "trash", danger: true, run: () => app.tryCall(rest.delete(path(r.id))) },
      ],
      store.nameOf(r.id),
    );
  }

  return { buttons, path };
}
