// security-keys.js - security keys (WebAuthn), and the dialogs that ask for a second factor or the password.
import { dialog } from "./dom.js";
import { quickForm } from "./forms.js";
import { t } from "./translate.js";

/** Returns whether security keys can be used on this page: browsers require HTTPS or localhost, and a name as host. */
export const keysWork = () => "PublicKeyCredential" in window && "parseCreationOptionsFromJSON" in PublicKeyCredential;

/** Waits for a security key. @param {Promise<Credential|null>} use @returns {Promise<string>} its response as JSON */
const answerOf = (use) =>
  use.then(JSON.stringify, () => {
    throw new Error(t("The security key did not confirm this."));
  });

/** Registers a security key. @param {string} options JSON of the server */
export const createKey = (options) =>
  answerOf(
    navigator.credentials.create({
      publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(JSON.parse(options).publicKey),
    }),
  );

/** Uses a security key. @param {string} options JSON of the server */
const useKey = (options) =>
  answerOf(
    navigator.credentials.get({
      publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(JSON.parse(options).publicKey),
    }),
  );

/**
 * Asks for a second factor, or for the password. Resolves to the response of `send`, or to nothing if the user cancels.
 * @param {{key?: string|null, password?: boolean, action: string}} how key: options for a security key, of the server
 * @param {(type: string, data: string) => Promise<any>} send
 */
const askFactor = ({ key, password, action }, send) =>
  dialog(password ? t("Password") : t("Two-factor authentication"), (close) => [
    key &&
      keysWork() &&
      quickForm([], t("Use a security key"), async () => close(await send("webauthn", await useKey(key)))),
    quickForm(
      [
        password
          ? { name: "data", label: t("Password"), type: "password", props: { autocomplete: "current-password" } }
          : { name: "data", label: t("Six-digit code or backup code"), props: { autocomplete: "one-time-code" } },
      ].map((row) => ({ ...row, required: true })),
      action,
      async ({ data }) =>
        close(await send(password ? "password" : /^\d{6}$/.test(data.trim()) ? "totp" : "backup", data)),
    ),
  ]);

/** Finishes a login that needs a second factor. @param {any} rest @param {any} answer of POST /auth/login */
export const finishLogin = (rest, { webauthn, ticket }) =>
  askFactor({ key: webauthn, action: t("Log in") }, (type, code) =>
    rest.anonymously("POST", `/auth/mfa/${type}`, { ticket, code }),
  );

/** Proves the user's identity; resolves to the token for the header. @param {any} rest @param {any} asked */
export async function proveIdentity(rest, { ticket, methods }) {
  const find = (type) => methods.find((m) => m.type === type);
  const how = { key: find("webauthn")?.challenge, password: !!find("password"), action: t("Confirm") };
  return (await askFactor(how, (mfa_type, data) => rest.post("/mfa/finish", { ticket, mfa_type, data })))?.token;
}
