// menu.js - entries in the context menu of a channel: its settings, its position, and its deletion.
import { CATEGORY, isThread } from "../../store.js";
import { t } from "../../translate.js";
import { moveChannel, stepChannel } from "../../channel-order.js";
import { confirmDelete, formDialog } from "../server/shared.js";

/** Returns true if the user may open the settings of a channel. */
export const maySetUp = (store, c) =>
  !!c?.guild_id && !isThread(c) && (store.may(c, "MANAGE_CHANNELS") || store.may(c, "MANAGE_ROLES"));

export const settingsPath = (c) => `/channels/${c.guild_id}/${c.id}/settings`;

/** Asks for confirmation, then deletes a channel. If the channel is open, opens the page of its guild. */
export async function deleteChannel(app, c) {
  const category = c.type === CATEGORY;
  const done = await confirmDelete(
    category ? t("Delete category") : t("Delete channel"),
    category
      ? t("Delete the category {name}? Its channels stay, without a category.", { name: c.name })
      : t("Delete {name} with all its messages? This cannot be undone.", { name: c.name }),
    () => app.rest.delete(`/channels/${c.id}`),
  );
  if (done && location.pathname.includes(c.id)) app.go(`/channels/${c.guild_id}`, true);
}

async function askCategory(app, guild, c) {
  const options = categoryOptions(app, guild);
  await formDialog(
    t("Move {name}", { name: c.name }),
    [{ name: "parent", label: t("Category"), options, value: c.parent_id || "" }],
    t("Move"),
    (v) => moveChannel(app, guild, c.id, v.parent || null, "into"),
  );
}

/** @returns {[string, string][]} */
export const categoryOptions = (app, guild) => [
  ["", t("No category")],
  .../** @type {[string, string][]} */ (
    app.store.channels
      .of(guild.id)
      .filter((x) => x.type === CATEGORY)
      .sort((a, b) => a.position - b.position)
      .map((x) => [x.id, x.name])
  ),
];

/** Returns the menu entries for users who may manage the channel. */
export function manageEntries(app, c) {
  const guild = app.store.guildOf(c);
  if (!guild || isThread(c)) return [];
  const inGuild = app.store.mayInGuild(guild, "MANAGE_CHANNELS"),
    category = c.type === CATEGORY;
  return [
    maySetUp(app.store, c) && {
      label: category ? t("Category settings") : t("Channel settings"),
      icon: "gear",
      run: () => app.go(settingsPath(c)),
    },
    inGuild && { label: t("Move up"), icon: "up", run: () => stepChannel(app, guild, c.id, -1) },
    inGuild && { label: t("Move down"), icon: "down", run: () => stepChannel(app, guild, c.id, 1) },
    inGuild && !category && { label: t("Move to category…"), icon: "menu", run: () => askCategory(app, guild, c) },
    app.store.may(c, "MANAGE_CHANNELS") && {
      label: category ? t("Delete category") : t("Delete channel"),
      icon: "trash",
      danger: true,
      run: () => deleteChannel(app, c),
    },
  ];
}
