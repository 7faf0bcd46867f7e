// account.js - the settings page of the account: username, email, password, data export, disabling, deletion.
import { fill, h } from "../../dom.js";
import { quickForm, small } from "../../forms.js";
import { t } from "../../translate.js";
import { formDialog, section } from "../server/shared.js";
import { dataExport } from "./data-export.js";

export async function account(app, body, redraw) {
  const me = app.store.me;
  const password = { name: "password", label: t("Current password"), type: "password", required: true };
  const code = me.mfa_enabled ? [{ name: "code", label: t("Six-digit code or backup code") }] : [];
  /** Without a code, the server asks for a security key, if the account has one. */
  const send = (method, path, v) => app.renew(app.rest.call(method, path, { ...v, code: v.code || undefined }));
  const change = (rows, done) =>
    quickForm([...rows, password, ...code], t("Save"), async (v) => {
      await send("PATCH", "/users/@me", v);
      if (done) await redraw();
    });
  /** Asks for the password, sends a request to `path` that disables or deletes the account, and logs out. */
  const leave = async (path, title, intro) => {
    const done = await formDialog(title, [password, ...code], title, (v) => send("POST", `/users/@me/${path}`, v), {
      intro,
      danger: true,
    });
    if (done) app.login.leave(t("To use this account again, log in with it."));
  };
  fill(
    body,
    section(
      t("Username"),
      change([
        {
          name: "username",
          label: t("Username"),
          value: me.username,
          required: true,
          hint: t("2 to 32 characters: small letters, digits, underscores and single dots."),
        },
      ]),
    ),
    section(
      t("Email"),
      me.email &&
        h(
          "p.hint",
          null,
          me.verified
            ? t("Your email address is verified")
            : t("Your email address is not verified yet. Open the link that the server has sent to it."),
        ),
      change([{ name: "email", label: t("Email"), type: "email", value: me.email, required: true }]),
    ),
    section(
      t("Password"),
      change([
        {
          name: "new_password",
          label: t("New password"),
          type: "password",
          required: true,
          hint: t("At least eight characters. A new password logs out all your other devices."),
        },
      ]),
    ),
    section(t("Your data"), dataExport(app)),
    section(
      t("Disable or delete the account"),
      h(
        "p.hint",
        null,
        t("A disabled account is hidden until you log in again. A deletion takes effect after 14 days."),
      ),
      h(
        "div.actions",
        null,
        small(t("Log out"), () => app.logOut()),
        small(t("Disable account"), () =>
          leave(
            "disable",
            t("Disable account"),
            t("All your devices are logged out. The account stays disabled until you log in again."),
          ),
        ),
        small(
          t("Delete account"),
          () =>
            leave(
              "delete",
              t("Delete account"),
              t("Your account is deleted after 14 days. If you log in before that, it is kept."),
            ),
          "danger",
        ),
      ),
    ),
  );
}
