// friends-empty.js - texts for empty tabs of the friends page: the purpose of the tab, and what the user can do.
import { emptyState } from "../first-steps.js";
import { t } from "../translate.js";

/** The titles and texts that empty tabs of the friends page show. */
const EMPTY = {
  online: [t("No friends online"), t("Friends appear here while they are online.")],
  all: [t("No friends yet"), t("Enter a username above to send a friend request.")],
  pending: [t("No pending friend requests"), t("Friend requests that you send or receive wait here for an answer.")],
  suggestions: [t("No suggestions"), t("People with whom you share friends appear here.")],
  games: [t("No game friends"), t("If a game uses this server, the friends that you add in the game appear here.")],
  blocked: [t("Nobody is blocked"), t("To block a friend, open the menu next to their name and choose “Block”.")],
  ignored: [t("Nobody is ignored"), t("To ignore a friend, open the menu next to their name and choose “Ignore”.")],
};

/**
 * Returns the contents of an empty tab.
 * @param {string} tab @param {HTMLElement} page the page with the form for a friend request
 */
export function emptyTab(tab, page) {
  const [title, words] = EMPTY[tab],
    add = tab === "all" || tab === "online";
  return emptyState({
    icon: "people",
    title,
    words,
    action: add ? t("Add friend") : undefined,
    run: () => /** @type {HTMLElement|null} */ (page.querySelector(".add-friend input"))?.focus(),
  });
}
