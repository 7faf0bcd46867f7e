// drafts.js - unsent text by channel, stored in the browser for each account.
const MOST = 100,
  LONGEST = 4000;
const key = (user) => `drafts:${user}`;

/** Returns all drafts of a user. @returns {Record<string, string>} by channel */
function all(user) {
  try {
    return JSON.parse(localStorage.getItem(key(user)) || "{}");
  } catch {
    return {};
  }
}

/** @param {string} user @param {string} channel */
export const draftOf = (user, channel) => all(user)[channel] || "";

/** @param {string} user @param {string} channel @param {string} text "" deletes the draft */
export function saveDraft(user, channel, text) {
  const drafts = all(user);
  if ((drafts[channel] || "") === text) return;
  delete drafts[channel];
  if (text.trim()) drafts[channel] = text.slice(0, LONGEST);
  try {
    localStorage.setItem(key(user), JSON.stringify(Object.fromEntries(Object.entries(drafts).slice(-MOST))));
  } catch {
    // If localStorage is full, the draft is not stored.
  }
}
