// login-state.js - the login of this tab: log in, log out, switch accounts, follow other tabs, expired tokens.
import {
  accountOf,
  announceRenewal,
  currentToken,
  forgetToken,
  isRenewing,
  isTabLogin,
  nameAccount,
  onOtherTab,
  renewalTime,
  replaceToken,
  revoke,
  storeToken,
} from "./accounts.js";
import { toast } from "./dom.js";
import { t } from "./translate.js";

const HOME = "/channels/@me";

export class LoginState {
  /** @param {any} app */
  constructor(app) {
    this.app = app;
    /** Sentence on the login page about why the user must log in again; "" if there is none. */
    this.reason = "";
    this.renewing = false;
    onOtherTab(() => this.followOtherTabs());
    app.store.on("ready", () => this.remember());
    app.store.on("me", () => this.remember());
  }

  remember() {
    const { store, rest } = this.app;
    if (store.me && rest.token) nameAccount(rest.token, store.me);
  }

  /**
   * Logs in with a token. If another account was logged in, reloads the page, so that none of its data remains.
   * @param {string} token @param {{stay?: boolean, typed?: boolean}} [how]
   */
  enter(token, how) {
    const { app } = this,
      before = app.rest.token;
    storeToken(token, how);
    this.reason = "";
    if (before && before !== token) return this.reload();
    app.connect(token);
    const next = sessionStorage.getItem("next");
    sessionStorage.removeItem("next");
    return app.go(next || HOME);
  }

  /** Makes a stored account the current one, in all tabs that use the shared login. @param {string} token */
  switchTo(token) {
    storeToken(token);
    return this.reload();
  }

  reload() {
    this.app.gateway?.close();
    location.assign(HOME);
  }

  /**
   * Waits for a request whose response replaces the token. While it waits, ignores that the gateway refuses the old
   * token.
   * @param {Promise<any>} call
   */
  async renew(call) {
    const old = this.app.rest.token;
    this.renewing = true;
    if (!isTabLogin()) announceRenewal();
    try {
      const answer = await call;
      if (answer?.token) {
        replaceToken(old, answer.token);
        this.app.connect(answer.token);
      }
      return answer;
    } finally {
      this.renewing = false;
    }
  }

  /** Asks the user for a proof of identity, which can take longer than other tabs wait for a new token. */
  async prove(asked) {
    const { proveIdentity } = await import("./security-keys.js");
    const proof = await proveIdentity(this.app.rest, asked);
    if (this.renewing && !isTabLogin()) announceRenewal();
    return proof;
  }

  /**
   * Logs out. Closes the gateway session before it revokes the token; otherwise the login page would be drawn twice.
   * Removes the stored token before it revokes the token, so that other tabs show "logged out" instead of "session
   * ended".
   */
  async logOut() {
    const token = this.app.rest.token;
    this.app.gateway?.close();
    forgetToken(token);
    const failed = await revoke(token).then(
      () => false,
      (e) => e.status !== 401,
    );
    this.leave();
    if (failed)
      toast(t("The server did not confirm the log-out. Log in again and end this session in Settings."), "bad");
  }

  /** Called when the server refuses the token of this tab. */
  refused() {
    const { app } = this,
      token = app.rest.token;
    if (this.renewing || !token) return;
    if (!isTabLogin()) {
      if (currentToken() !== token) return this.followOtherTabs();
      if (isRenewing()) {
        clearTimeout(this.waiting);
        this.waiting = setTimeout(() => app.rest.token === token && this.ended(), renewalTime);
        return;
      }
    }
    this.ended();
  }

  ended() {
    this.leave(t("Your session has ended. Log in again."), true);
  }

  /**
   * Deletes the token of this tab and shows the login page.
   * @param {string} [reason] @param {boolean} [comeBack] open the current page again after the login
   */
  leave(reason, comeBack) {
    const token = this.app.rest.token;
    if (!token && comeBack) return; // already done, because both a REST request and the gateway can report the refusal
    if (token) forgetToken(token);
    this.show(reason, comeBack);
  }

  show(reason, comeBack) {
    if (comeBack) sessionStorage.setItem("next", location.pathname + location.search);
    else sessionStorage.removeItem("next");
    this.reason = reason || "";
    this.app.disconnect();
    for (const open of document.querySelectorAll("dialog")) open.close();
    this.app.go("/login");
  }

  /**
   * Called after another tab has logged in, logged out, switched the account or replaced the token. Updates this tab.
   */
  followOtherTabs() {
    const { app } = this,
      token = app.rest.token,
      now = currentToken();
    if (app.operatorOnly || this.renewing || isTabLogin() || now === (token ?? null)) return;
    clearTimeout(this.waiting);
    if (!now) {
      if (token) this.show(t("You have been logged out in another tab."));
      return;
    }
    const same = token && accountOf(now) && accountOf(now) === app.store.me?.id;
    if (same) app.connect(now);
    else if (token) this.reload();
    else {
      this.reason = "";
      app.connect(now);
      const next = sessionStorage.getItem("next");
      sessionStorage.removeItem("next");
      app.go(/^\/(login|register)$/.test(location.pathname) ? next || HOME : location.pathname + location.search);
    }
  }
}
