// second-factor.js - codes of an authenticator beside the password: on, off, and backup codes.
import { dialog, fill, h, toast } from "../dom.js";
import { quickForm, small } from "../forms.js";
import { qrPicture } from "../qr.js";
import { t } from "../words.js";

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const SECRET_BYTES = 20;

/** A new secret, in the letters that authenticators take. */
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
  `otpauth://totp/${encodeURIComponent(`${location.host}:${user.username}`)}?secret=${secret}&issuer=${encodeURIComponent(location.host)}`;

function showCodes(codes) {
  const text = codes.map((c) => c.code).join("\n");
  return dialog(t("Backup codes"), () =>
    h(
      "div.stack",
      null,
      h("p", null, t("Each is good once, when the authenticator is lost. Keep them where it is not.")),
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
      t(
        "A log-in then asks for a code of an authenticator as well. Add this key to yours, and write below the code that it shows.",
      ),
    ),
    h(
      "div.key",
      null,
      qrPicture(address(me, secret), t("The key as a QR code")),
      h(
        "div.stack",
        null,
        h("p.faint", null, t("Scan the picture with your authenticator, or write the key:")),
        h("div.secret", { tabindex: 0, role: "group", "aria-label": t("Key") }, groups(secret)),
      ),
    ),
    h(
      "p",
      null,
      h("a", { href: address(me, secret), "data-plain": true }, t("Open it in an authenticator of this device")),
    ),
    quickForm(
      [
        { name: "code", label: t("Six digits") },
        { name: "password", label: t("Password"), type: "password" },
      ],
      t("Turn it on"),
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
    h("section", null, h("p.good", null, t("A log-in asks for a code of your authenticator."))),
    h(
      "section",
      null,
      h("h2", null, t("Backup codes")),
      quickForm(
        [
          { name: "password", label: t("Password"), type: "password" },
          { name: "code", label: t("Six digits, or a backup code") },
          { name: "fresh", label: t("Make others, and void these"), type: "checkbox" },
        ],
        t("Show them"),
        (v) => codes(v, v.fresh),
      ),
    ),
    h(
      "section",
      null,
      h("h2", null, t("Turn it off")),
      quickForm([{ name: "code", label: t("Six digits, or a backup code") }], t("Turn it off"), async (v) => {
        await app.renew(app.rest.post("/users/@me/mfa/totp/disable", { code: v.code.replace(/\s/g, "") }));
        await app.ready();
        await redraw();
      }),
    ),
  ];
}
