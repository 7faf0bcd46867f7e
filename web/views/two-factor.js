// two-factor.js - two-factor authentication: turn on, turn off, backup codes, security keys.
import { dialog, fill, h, toast } from "../dom.js";
import { quickForm, small, table } from "../forms.js";
import { relative } from "../markdown.js";
import { qrPicture } from "../qr.js";
import { createKey, keysWork } from "../security-keys.js";
import { t } from "../translate.js";
import { section } from "./server/shared.js";

const TOTP = 2; // type of a second factor in READY
const KEYS = "/users/@me/mfa/webauthn/credentials";

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const SECRET_BYTES = 20;

/** A new TOTP secret in base32. */
function newSecret() {
  let bits = 0,
    held = 0,
    out = "";
  for (const byte of crypto.getRandomValues(new Uint8Array(SECRET_BYTES))) {
    held = (held << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) out += LETTERS[(held >> (bits - 5)) & 31];
  }
  return out;
}

/** Without a code, the server asks for a security key, if the account has one. */
const codeOf = (text) => (text ? { code: text.replace(/\s/g, "") } : {});
const groups = (text) => text.match(/.{1,4}/g).join(" ");
const address = (user, secret) =>
  `otpauth://totp/${encodeURIComponent(`${location.host}:${user.username}`)}` +
  `?secret=${secret}&issuer=${encodeURIComponent(location.host)}`;

function showCodes(codes) {
  const text = codes.map((c) => c.code).join("\n");
  return dialog(t("Backup codes"), () =>
    h(
      "div.stack",
      null,
      h("p", null, t("Store these codes safely. If you lose your authenticator, you can log in once with each code.")),
      h(
        "ul.secret",
        { "aria-label": t("Backup codes"), tabindex: 0 },
        codes.map((c) => h("li", null, c.consumed ? h("s", null, c.code) : c.code)),
      ),
      h(
        "div.actions",
        null,
        small(
          t("Copy"),
          () => {
            navigator.clipboard?.writeText(text);
            toast(t("Copied"));
          },
          "primary",
        ),
      ),
    ),
  );
}

export async function security(app, body, redraw) {
  const [me, keys] = await Promise.all([app.rest.get("/users/@me"), app.rest.get(KEYS)]);
  const totp = app.store.factors.includes(TOTP);
  fill(
    body,
    totp ? h("p.good", null, t("Each login asks for a code from your authenticator app.")) : setup(app, me, redraw),
    securityKeys(app, me, keys, redraw),
    me.mfa_enabled && backupCodes(app),
    totp && turnOff(app, redraw),
  );
}

/** Lists the security keys of the account, with a form to add one. */
function securityKeys(app, me, keys, redraw) {
  const change = async (call) => (await app.tryCall(call)) && redraw();
  return section(
    t("Security keys"),
    h(
      "p.hint",
      null,
      t("A security key or passkey replaces the code, on this address only: {host}", { host: location.hostname }),
    ),
    table(
      [t("Name"), t("Last used"), ""],
      keys.map((key) => [
        key.name,
        key.last_used && relative(new Date(key.last_used)),
        [
          small(t("Rename"), async () => {
            const name = await app.ask(t("Rename"), t("Name"), key.name);
            if (name) change(app.rest.patch(`${KEYS}/${key.id}`, { name }));
          }),
          " ",
          small(t("Remove"), () => change(app.rest.delete(`${KEYS}/${key.id}`)), "danger"),
        ],
      ]),
    ),
    keysWork()
      ? quickForm([{ name: "name", label: t("Name"), required: true }], t("Add a security key"), async ({ name }) => {
          const { ticket, challenge } = await app.rest.post(KEYS, {});
          const answer = await app.rest.post(KEYS, { name, ticket, credential: await createKey(challenge) });
          if (!me.mfa_enabled) showCodes(answer.backup_codes);
          await redraw();
        })
      : h("p.hint", null, t("This browser cannot use security keys on this page. They need HTTPS.")),
  );
}

function setup(app, me, redraw) {
  const secret = newSecret();
  return h(
    "section",
    null,
    h(
      "p",
      null,
      t("Each login will also ask for a code. Add this key to your authenticator app and enter its code below."),
    ),
    h(
      "div.key",
      null,
      qrPicture(address(me, secret), t("The key as a QR code")),
      h(
        "div.stack",
        null,
        h("p.faint", null, t("Scan the QR code with your authenticator app, or enter this key:")),
        h("div.secret", { tabindex: 0, role: "group", "aria-label": t("Key") }, groups(secret)),
      ),
    ),
    h(
      "p",
      null,
      h("a", { href: address(me, secret), "data-plain": true }, t("Open in an authenticator app on this device")),
    ),
    quickForm(
      [
        { name: "code", label: t("Six-digit code") },
        { name: "password", label: t("Password"), type: "password" },
      ],
      t("Turn on"),
      async (v) => {
        const answer = await app.renew(
          app.rest.post("/users/@me/mfa/totp/enable", {
            secret,
            code: v.code.replace(/\s/g, ""),
            password: v.password,
          }),
        );
        showCodes(answer.backup_codes);
        await app.ready();
        await redraw();
      },
    ),
  );
}

function backupCodes(app) {
  return section(
    t("Backup codes"),
    quickForm(
      [
        { name: "password", label: t("Password"), type: "password" },
        { name: "code", label: t("Six-digit code or backup code") },
        { name: "fresh", label: t("Generate new backup codes"), type: "checkbox" },
      ],
      t("Show backup codes"),
      async ({ password, code, fresh }) => {
        const nonces = await app.rest.post("/auth/verify/view-backup-codes-challenge", { password, ...codeOf(code) });
        const answer = await app.rest.post("/users/@me/mfa/codes-verification", {
          nonce: fresh ? nonces.regenerate_nonce : nonces.nonce,
          regenerate: fresh,
        });
        showCodes(answer.backup_codes);
      },
    ),
  );
}

function turnOff(app, redraw) {
  return section(
    t("Turn off"),
    quickForm([{ name: "code", label: t("Six-digit code or backup code") }], t("Turn off"), async ({ code }) => {
      await app.renew(app.rest.post("/users/@me/mfa/totp/disable", codeOf(code)));
      await app.ready();
      await redraw();
    }),
  );
}
