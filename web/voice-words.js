// voice-words.js - error texts about devices and voice connections: the cause, and what the user can do.
import { t } from "./translate.js";

/** Returns a sentence about why a device cannot be used. @param {any} e @param {"microphone"|"camera"|"screen"} kind */
export function deviceProblem(e, kind) {
  if (!isSecureContext || !navigator.mediaDevices)
    return t("Browsers give microphone and camera only to pages on https or localhost. Open this server by https.");
  if (kind === "screen")
    return e.name === "NotAllowedError" ? "" : t("The screen cannot be shared: {reason}", { reason: e.message });
  const camera = kind === "camera";
  if (e.name === "NotAllowedError")
    return camera
      ? t("The browser blocks the camera. Allow it in the page settings of the browser.")
      : t("The browser blocks the microphone. Allow it in the page settings of the browser.");
  if (e.name === "NotFoundError")
    return camera
      ? t("No camera was found. Connect one and try again.")
      : t("No microphone was found. Connect one and try again.");
  return camera
    ? t("The camera does not start: {reason}", { reason: e.message })
    : t("The microphone does not start: {reason}", { reason: e.message });
}

/**
 * Returns a sentence about why the voice server has refused the client, or "" if the client may reconnect.
 * @param {number} code close code
 */
export function refusal(code) {
  if (code === 4017)
    return t(
      "This server allows only end-to-end encrypted calls, which this page cannot do. Use an app that supports DAVE.",
    );
  if (code === 4021) return t("The voice server has no room for you now. Try again in a minute.");
  return "";
}

export const noRoute = () =>
  t("No sound arrives: a firewall blocks UDP to the voice server. Ask the operator, or use another network.");
export const noVoice = () => t("This server carries no sound. Its operator can set voice-port to turn voice on.");

/** Returns a sentence about the end of a stream. @param {string} reason of STREAM_DELETE */
export function streamProblem(reason) {
  if (reason === "stream_full") return t("The stream has no room for another viewer.");
  if (reason === "unauthorized") return t("You need the permission Video and screen sharing here.");
  if (reason === "invalid_channel") return t("In this channel, no screens can be shared.");
  return "";
}

/** Returns the connection's quality as text. @param {{ms: number, loss: number}} quality */
export const qualityWords = ({ ms, loss }) => t("{ms} ms, {loss} % lost", { ms, loss });
/**
 * Returns a CSS class for the connection's quality.
 * @param {{ms: number, loss: number}|null} quality @returns {"good"|"fair"|"poor"}
 */
export const qualityClass = (quality) =>
  !quality || (quality.ms < 150 && quality.loss < 3) ? "good" : quality.ms < 300 && quality.loss < 10 ? "fair" : "poor";
