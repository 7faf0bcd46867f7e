// group.js - a group DM: name, picture, people, leaving.
import { dialog, fill, h } from "../dom.js";
import { quickForm, small } from "../forms.js";
import { avatar } from "../images.js";
import { changedPictures, pictureRow } from "../picture-field.js";
import { DM, GROUP } from "../store.js";
import { t } from "../translate.js";
import { confirmDelete } from "./server/shared.js";

export const MOST_PEOPLE = 10;

/** Asks the user to choose some friends. @param {any[]} friends relationships @returns {Promise<string[]|undefined>} */
export function chooseFriends(app, title, friends, most, action) {
  return dialog(title, (close) => {
    const boxes = friends.map((r) => h("input", { type: "checkbox", value: r.id })),
      problem = h("p.field-error", { role: "alert", hidden: true });
    const send = (e) => {
      e.preventDefault();
      const chosen = boxes.filter((b) => b.checked).map((b) => b.value);
      problem.hidden = chosen.length > 0 && chosen.length <= most;
      problem.textContent = chosen.length
        ? t("A group has at most {n} people. Choose fewer.", { n: MOST_PEOPLE })
        : t("Choose at least one friend.");
      if (problem.hidden) close(chosen);
    };
    return h(
      "form.stack",
      { onsubmit: send },
      h(
        "div.choices",
        null,
        friends.length
          ? friends.map((r, i) =>
              h("label.choice", null, boxes[i], avatar(r.user, "", "tiny-avatar"), app.store.nameOf(r.id)),
            )
          : t("You have no friends whom you could add. Add friends first."),
      ),
      problem,
      friends.length > 0 && h("div.actions", null, h("button.button.primary", { type: "submit" }, action)),
    );
  });
}

const friendsOf = (store, except) =>
  [...store.relationships.values()].filter((r) => r.type === 1 && !except.includes(r.id));

export async function addGroup(app) {
  const chosen = await chooseFriends(app, t("New group"), friendsOf(app.store, []), MOST_PEOPLE - 1, t("Start"));
  if (!chosen?.length) return;
  const made = await app.tryCall(app.rest.post("/users/@me/channels", { recipients: chosen }));
  if (made) app.openPrivate(made);
}

/**
 * Adds friends to a group DM. Adding friends to a DM with one person creates a group DM with that person and the
 * friends.
 */
export async function addPeople(app, channel) {
  const there = (channel.recipients || []).map((u) => u.id),
    room = MOST_PEOPLE - 1 - there.length;
  const chosen = await chooseFriends(app, t("Add people"), friendsOf(app.store, there), room, t("Add"));
  if (!chosen) return;
  if (channel.type === DM) {
    const made = await app.tryCall(app.rest.post("/users/@me/channels", { recipients: [...there, ...chosen] }));
    if (made) app.openPrivate(made);
    return;
  }
  for (const id of chosen)
    if (!(await app.tryCall(app.rest.put(`/channels/${channel.id}/recipients/${id}`, {})))) return;
}

export async function leaveGroup(app, channel) {
  const name = app.store.nameOfChannel(channel);
  const done = await confirmDelete(
    t("Leave group"),
    t("Leave {name}? You can only come back if a member adds you again.", { name }),
    () => app.rest.delete(`/channels/${channel.id}`),
    t("Leave"),
  );
  if (done && location.pathname.includes(channel.id)) app.go("/channels/@me", true);
}

/** The people of a group DM. Its owner can remove them. */
function people(app, channel) {
  const { store } = app,
    list = h("ul.people", { "aria-label": t("Members") });
  const draw = () => {
    const now = store.channels.get(channel.id) || channel,
      owner = now.owner_id === store.me.id;
    fill(
      list,
      [store.me, ...(now.recipients || [])].map((u) =>
        h(
          "li.person",
          null,
          h(
            "span.person-name",
            null,
            avatar(u, store.nameOf(u.id)),
            h(
              "span.clip",
              null,
              h("strong", null, store.nameOf(u.id)),
              h("small.faint", null, u.id === now.owner_id ? t("owner of the group") : `@${u.username}`),
            ),
          ),
          owner &&
            u.id !== store.me.id &&
            h(
              "div.person-actions",
              null,
              small(
                t("Remove"),
                () => app.tryCall(app.rest.delete(`/channels/${channel.id}/recipients/${u.id}`)),
                "danger",
                u.id,
              ),
            ),
        ),
      ),
    );
  };
  draw();
  return { list, off: store.on("channels", draw) };
}

/** Opens the dialog with the name, the picture and the people of a group DM. */
export function groupSettings(app, channel) {
  const now = app.store.channels.get(channel.id) || channel,
    { list, off } = people(app, now);
  return dialog(
    t("Group settings"),
    (close) =>
      h(
        "div.stack",
        null,
        quickForm(
          [
            {
              name: "name",
              label: t("Name"),
              value: now.name,
              hint: t("Without a name, the names of the members are shown."),
              props: { maxlength: 100 },
            },
            pictureRow("icon", t("Picture"), {
              width: 512,
              height: 512,
              round: true,
              current: now.icon && `/channel-icons/${now.id}/${now.icon}.png`,
            }),
          ],
          t("Save"),
          async (v) => {
            await app.rest.patch(`/channels/${now.id}`, {
              ...(v.name !== (now.name || "") ? { name: v.name || null } : {}),
              ...changedPictures(v, "icon"),
            });
          },
        ),
        h("h3", null, t("Members")),
        list,
        h(
          "div.actions",
          null,
          small(t("Add people"), () => (close(), addPeople(app, app.store.channels.get(now.id) || now))),
          small(t("Leave group"), () => (close(), leaveGroup(app, now)), "danger"),
        ),
      ),
    { class: "wide" },
  ).then(off);
}

/** The entries in the context menu of a private channel. */
export function privateEntries(app, channel) {
  if (channel.guild_id) return [];
  const group = channel.type === GROUP,
    bot = channel.recipients?.[0]?.bot;
  return [
    group && { label: t("Group settings"), icon: "gear", run: () => groupSettings(app, channel) },
    (group || !bot) && { label: t("Add people"), icon: "people", run: () => addPeople(app, channel) },
    group
      ? { label: t("Leave group"), icon: "leave", danger: true, run: () => leaveGroup(app, channel) }
      : {
          label: t("Close direct message"),
          icon: "close",
          run: () => app.tryCall(app.rest.delete(`/channels/${channel.id}`)),
        },
  ];
}
