// accounts.js - stores the logins of this browser, those with "Stay logged in" for all tabs; finds pages without login.
import { Rest } from "./rest.js";

/**
 * @typedef {{token: string, id?: string, username?: string, global_name?: string|null, avatar?: string|null,
 * typed?: boolean}} Account
 * `typed` is true if the user entered the token by hand; other programs may also use such a token.
 */

const KEY = "login";
const RENEWAL_MS = 5000; // while one tab replaces the token, the other tabs wait for the new token at most this long
const MOST_ACCOUNTS = 10;

/** Reads the stored logins. @returns {{current: string|null, accounts: Account[]}} */
function read() {
  try {
    const stored = JSON.parse(localStorage.getItem(KEY) || "{}");
    const accounts = (Array.isArray(stored.accounts) ? stored.accounts : []).filter(
      (a) => typeof a?.token === "string",
    );
    return { current: accounts.some((a) => a.token === stored.current) ? stored.current : null, accounts };
  } catch {
    return { current: null, accounts: [] };
  }
}

function write(current, accounts) {
  localStorage.setItem(KEY, JSON.stringify({ current, accounts: accounts.slice(-MOST_ACCOUNTS) }));
}

/** The stored accounts, in the order in which they were added. */
export const storedAccounts = () => read().accounts;

/** Returns true if only this tab uses the login, because it was made without "Stay logged in". */
export const isTabLogin = () => !!sessionStorage.getItem("token");

/** The token of this tab, or null. */
export const currentToken = () => sessionStorage.getItem("token") || read().current;

/**
 * Stores a token and makes it the current token of this browser or tab.
 * @param {string} token @param {{stay?: boolean, typed?: boolean}} [how]
 */
export function storeToken(token, { stay = true, typed = false } = {}) {
  if (!stay) return sessionStorage.setItem("token", token);
  const { accounts } = read();
  sessionStorage.removeItem("token");
  if (!accounts.some((a) => a.token === token)) accounts.push({ token, ...(typed ? { typed } : {}) });
  return write(token, accounts);
}

/** Replaces a stored token by a new token of the same account, for example after a change of the password. */
export function replaceToken(old, token) {
  if (isTabLogin()) return sessionStorage.setItem("token", token);
  const { accounts } = read(),
    found = accounts.find((a) => a.token === old);
  if (found) found.token = token;
  else accounts.push({ token });
  localStorage.removeItem("renewing");
  return write(token, accounts);
}

/**
 * Stores name and avatar of the token's account, for the account switcher. Revokes an older token of this account,
 * unless the user entered that token by hand.
 * @param {string} token @param {any} user
 */
export function nameAccount(token, { id, username, global_name, avatar }) {
  const { current, accounts } = read(),
    found = accounts.find((a) => a.token === token);
  if (!found) return;
  const old = accounts.filter((a) => a.id === id && a !== found),
    named = { ...found, id, username, global_name, avatar };
  if (!old.length && JSON.stringify(named) === JSON.stringify(found)) return;
  Object.assign(found, named);
  write(
    current,
    accounts.filter((a) => !old.includes(a)),
  );
  for (const a of old) if (!a.typed) revoke(a.token).catch(() => {});
}

/**
 * Removes a token from this browser. After the current token is removed, nobody is logged in.
 * @param {string} token
 */
export function forgetToken(token) {
  const { current, accounts } = read();
  if (sessionStorage.getItem("token") === token) sessionStorage.removeItem("token");
  if (accounts.some((a) => a.token === token))
    write(
      current === token ? null : current,
      accounts.filter((a) => a.token !== token),
    );
}

/** Revokes a token: the server no longer accepts it. @param {string} token */
export const revoke = (token) => new Rest(token).post("/auth/logout", {});

/** Announces to the other tabs that the current token is about to be replaced. */
export const announceRenewal = () => localStorage.setItem("renewing", String(Date.now()));

/** Returns true if another tab is replacing the token now. */
export const isRenewing = () => Math.abs(Date.now() - Number(localStorage.getItem("renewing") || 0)) < RENEWAL_MS;
export const renewalTime = RENEWAL_MS;

/** Returns the id of the account to which a stored token belongs. @param {string|null|undefined} token */
export const accountOf = (token) => read().accounts.find((a) => a.token === token)?.id;

/** Calls `changed` when another tab has logged in, logged out, or replaced the token. @param {() => void} changed */
export function onOtherTab(changed) {
  addEventListener("storage", (e) => (e.key === KEY || e.key === null) && changed());
  // While a page is in the back/forward cache, it receives no storage events, so it may have missed changes.
  addEventListener("pageshow", (e) => e.persisted && changed());
}

/** Paths of the pages that need no login. */
const OPEN = /^\/(invite\/|workbench(\/|$)|(verify|reset|claim)$)/;

/** Returns true if the server sent operator.html, which has only the workbench and no chat pages. */
export const operatorOnly = () => document.documentElement.dataset.pages === "operator";

/** @param {string|null|undefined} token */
export const mustComeIn = (token) => !token && !operatorOnly() && !OPEN.test(location.pathname);
