// two-factor.js - two-factor authentication: turn on, turn off, backup codes.
import { dialog, fill, h, toast } from "../dom.js";
import { quickForm, small } from "../forms.js";
import { qrPicture } from "../qr.js";
import { t } from "../translate.js";

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
  const me = await app.rest.get("/users/@me");
  fill(body, me.mfa_enabled ? enabled(app, redraw) : disabled(app, me, redraw));
}

function disabled(app, me, redraw) {
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

function enabled(app, redraw) {
  const codes = async (v, regenerate) => {
    const nonces = await app.rest.post("/auth/verify/view-backup-codes-challenge", {
      password: v.password,
      code: v.code.replace(/\s/g, ""),
    });
    const answer = await app.rest.post("/users/@me/mfa/codes-verification", {
      nonce: regenerate ? nonces.regenerate_nonce : nonces.nonce,
      regenerate,
    });
    showCodes(answer.backup_codes);
  };
  return [
    h("section", null, h("p.good", null, t("Each login asks for a code from your authenticator app."))),
    h(
      "section",
      null,
      h("h2", null, t("Backup codes")),
      quickForm(
        [
          { name: "password", label: t("Password"), type: "password" },
          { name: "code", label: t("Six-digit code or backup code") },
          { name: "fresh", label: t("Generate new backup codes"), type: "checkbox" },
        ],
        t("Show backup codes"),
        (v) => codes(v, v.fresh),
      ),
    ),
    h(
      "section",
      null,
      h("h2", null, t("Turn off")),
      quickForm([{ name: "code", label: t("Six-digit code or backup code") }], t("Turn off"), async (v) => {
        await app.renew(app.rest.post("/users/@me/mfa/totp/disable", { code: v.code.replace(/\s/g, "") }));
        await app.ready();
        await redraw();
      }),
    ),
  ];
}
