// rest.js - sends requests to the public REST API.
import { fromServer, t } from "./translate.js";

/** An error response: message, code, and the errors by field. */
export class Refusal extends Error {
  constructor(status, body) {
    super(body?.message ? fromServer(body.message) : t("The server answered {status}", { status }));
    this.status = status;
    this.code = body?.code ?? 0;
    this.tree = body?.errors || {};
  }
  /** Returns the first form error at or below a path in `errors`. @param {string} path "data.options" */
  at(path) {
    let node = this.tree;
    for (const key of path ? path.split(".") : []) node = node?.[key];
    return firstProblem(node);
  }
  /** The error message of the response, followed by its first form error. */
  get words() {
    const found = firstField(this.tree, []);
    return found ? `${found.path}: ${found.message}` : this.message;
  }
}

function firstProblem(node) {
  if (!node || typeof node !== "object") return "";
  if (Array.isArray(node._errors)) return fromServer(node._errors[0]?.message || "");
  for (const key of Object.keys(node)) {
    const found = firstProblem(node[key]);
    if (found) return found;
  }
  return "";
}

function firstField(node, path) {
  if (!node || typeof node !== "object") return null;
  if (Array.isArray(node._errors)) return { path: path.join("."), message: fromServer(node._errors[0]?.message || "") };
  for (const key of Object.keys(node)) {
    const found = firstField(node[key], [...path, key]);
    if (found) return found;
  }
  return null;
}

/** The response header in which the server names the missing permissions. */
const CAUSE = "X-Guildhall-Cause";
/** Error code of a request that needs a proof of identity, such as the password. The client stays logged in. */
const PROOF_REQUIRED = 60003;
const PROOF = "X-Discord-MFA-Authorization";
const LONGEST_WAIT_S = 10;
const pause = (s) => new Promise((go) => setTimeout(go, s * 1000));

/** Sends a request and returns the response and its text. @param {string} path @param {RequestInit} init */
async function fetchText(path, init) {
  try {
    const answer = await fetch(path, init);
    return { answer, text: await answer.text() };
  } catch {
    throw new Refusal(0, { message: t("The server does not answer.") });
  }
}

export class Rest {
  /** @param {string} [token] */
  constructor(token) {
    this.token = token;
    this.onunauthorized = () => {};
    /** Called after each successful request that is not a GET. */
    this.onchanged = () => {};
    /** The user's language setting, which overrides the browser's language. @type {() => string|undefined} */
    this.locale = () => undefined;
    /**
     * Returns a message with cause and fix for an error response. The application sets this function.
     * @type {(...facts: any[]) => string|undefined}
     */
    this.explain = () => undefined;
    /**
     * Asks the user for a proof of identity and returns it; undefined if the user cancels. The application sets this.
     * @type {(asked: any) => Promise<string|undefined>}
     */
    this.prove = async () => undefined;
  }
  /**
   * Sends a request and returns its JSON answer.
   * @param {string} method @param {string} path @param {any} [body] JSON, or a FormData
   * @param {string} [reason] for the audit log
   */
  async call(method, path, body, reason) {
    const headers = /** @type {Record<string, string>} */ ({});
    if (this.token) headers.Authorization = this.token;
    if (reason) headers["X-Audit-Log-Reason"] = encodeURIComponent(reason);
    if (this.locale()) headers["X-Discord-Locale"] = this.locale();
    const form = body instanceof FormData;
    if (body !== undefined && !form) headers["Content-Type"] = "application/json";
    for (let tries = 0; ; tries++) {
      const { answer, text } = await fetchText(`/api/v10${path}`, {
        method,
        headers,
        body: form ? body : body === undefined ? undefined : JSON.stringify(body),
      });
      const json =
        text && (answer.headers.get("Content-Type") || "").startsWith("application/json") ? JSON.parse(text) : null;
      if (answer.ok && method !== "GET") this.onchanged();
      if (answer.ok) return json;
      if (answer.status === 429 && tries < 3 && json?.retry_after <= LONGEST_WAIT_S) {
        await pause(json.retry_after);
        continue;
      }
      const proof = json?.mfa && !headers[PROOF] && (await this.prove(json.mfa));
      if (proof) {
        headers[PROOF] = proof;
        continue;
      }
      if (answer.status === 401 && this.token && json?.code !== PROOF_REQUIRED) this.onunauthorized();
      const refusal = new Refusal(answer.status, json);
      refusal.message = this.explain(refusal, json, answer.headers.get(CAUSE) || "") || refusal.message;
      throw refusal;
    }
  }
  /**
   * Sends a form and reports the progress of the upload, which fetch cannot do.
   * @param {string} path @param {FormData} form @param {(share: number) => void} progress @param {AbortSignal} signal
   */
  upload(path, form, progress, signal) {
    return new Promise((done, fail) => {
      const request = new XMLHttpRequest();
      request.open("POST", `/api/v10${path}`);
      const headers = { Authorization: this.token, "X-Discord-Locale": this.locale() };
      for (const [name, value] of Object.entries(headers)) if (value) request.setRequestHeader(name, value);
      request.upload.onprogress = (e) => e.lengthComputable && progress(e.loaded / e.total);
      request.onerror = () => fail(new Refusal(0, { message: t("The server does not answer.") }));
      request.onabort = () => fail(new Refusal(0, { message: t("The upload was cancelled.") }));
      request.onload = () => {
        let json = null;
        try {
          json = JSON.parse(request.responseText);
        } catch {
          // If a proxy has answered, the body is not JSON. Then only the status is used.
        }
        if (request.status === 413 && !json?.message)
          return fail(new Refusal(413, { message: t("The files are too large for this server.") }));
        if (request.status >= 200 && request.status < 300) return done(json);
        const refusal = new Refusal(request.status, json);
        refusal.message = this.explain(refusal, json, request.getResponseHeader(CAUSE) || "") || refusal.message;
        return fail(refusal);
      };
      signal.addEventListener("abort", () => request.abort());
      request.send(form);
    });
  }
  /** Sends a request without a token. @param {string} method @param {string} path @param {any} [body] */
  anonymously(method, path, body) {
    return new Rest().call(method, path, body);
  }
  get(path) {
    return this.call("GET", path);
  }
  post(path, body) {
    return this.call("POST", path, body);
  }
  put(path, body) {
    return this.call("PUT", path, body);
  }
  patch(path, body) {
    return this.call("PATCH", path, body);
  }
  delete(path, body) {
    return this.call("DELETE", path, body);
  }
}
