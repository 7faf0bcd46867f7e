// missing-permission.js - explains why the server refused a request: which permission is missing, or how long to wait.
import { PERMISSION_LABELS } from "./permission-labels.js";
import { t } from "./translate.js";

const MISSING_PERMISSIONS = 50013;

/** Returns the labels of permissions as readable text. @param {string[]} names */
export const permissionList = (names) => names.map((name) => `“${PERMISSION_LABELS[name]}”`).join(", ");

/** Parses the response header X-Guildhall-Cause: "missing A, B" or "missing-any A, B". */
function missingPermissions(cause) {
  const words = /^missing(-any)? (.*)$/.exec(cause);
  return words ? { any: !!words[1], names: words[2].split(", ") } : null;
}

/**
 * Returns a sentence with cause and fix of an error response. Returns undefined if the server's own message is enough.
 * @param {{status: number, code: number}} refusal @param {any} answer the response
 * @param {string} cause the header X-Guildhall-Cause, or ""
 */
export function explain(refusal, answer, cause) {
  if (refusal.status === 429 && answer?.retry_after) {
    const n = Math.ceil(answer.retry_after / 60);
    return t(
      "This was changed too often. Try again in {n} minute.|This was changed too often. Try again in {n} minutes.",
      { n },
    );
  }
  const missing = missingPermissions(cause);
  if (refusal.code !== MISSING_PERMISSIONS || !cause) return undefined;
  if (cause === "rank")
    return t("Your highest role must be above the role or member, and you can only give permissions that you have.");
  if (cause === "owner") return t("Only the owner of the server can do this.");
  if (!missing) return undefined;
  return missing.any
    ? t("You need one of the permissions {names}. Ask an administrator of the server for it.", {
        names: permissionList(missing.names),
      })
    : t("You need the permission {names}. Ask an administrator of the server for it.", {
        names: permissionList(missing.names),
      });
}
