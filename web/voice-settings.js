// voice-settings.js - the settings of voice and video: devices, microphone level, push to talk, camera.
import { dialog, field, h } from "./dom.js";
import { below, menu } from "./menu.js";
import { t } from "./translate.js";
import { VoiceInput } from "./voice-input.js";
import { preferences, prefer } from "./voice-preferences.js";
import { deviceProblem } from "./voice-words.js";

const QUIETEST = -100;

const devicesOf = async (kind) =>
  ((await navigator.mediaDevices?.enumerateDevices().catch(() => [])) || []).filter(
    (d) => d.kind === kind && d.deviceId && d.deviceId !== "default",
  );
const canChooseOutput = () => "setSinkId" in AudioContext.prototype;

/** Opens a menu in which the user chooses microphone and loudspeakers without opening the settings. */
export async function deviceMenu(app, at) {
  const where = below(at);
  const entry = (name, label, id) => ({
    label: `${preferences[name] === id ? "✓ " : ""}${label}`,
    icon: name === "input" ? "mic" : "headphones",
    run: () => choose(app, name, id),
  });
  const [inputs, outputs] = await Promise.all([devicesOf("audioinput"), devicesOf("audiooutput")]);
  menu(
    where,
    [
      entry("input", t("Default microphone"), ""),
      ...inputs.map((d) => entry("input", d.label, d.deviceId)),
      ...(canChooseOutput()
        ? [entry("output", t("Default output"), ""), ...outputs.map((d) => entry("output", d.label, d.deviceId))]
        : []),
      { label: t("Voice settings"), icon: "gear", run: () => openVoiceSettings(app) },
    ],
    t("Devices"),
  );
}

/** Stores a voice setting and applies it to the running call. */
function choose(app, name, value) {
  prefer({ [name]: value });
  const media = app.voice.media;
  if (["input", "echo", "noise"].includes(name)) media?.restartInput();
  else if (name === "output") media?.output?.setDevice();
  else if (name === "volume") media?.output?.setVolumes();
  else if (name === "camera" && media?.camera) media.setCamera(true);
  else media?.input?.setRule();
}

export const openVoiceSettings = (app) => dialog(t("Voice settings"), () => voiceSettings(app), { class: "wide" });

/** The form of the voice settings. Every change takes effect at once. @param {any} app */
export function voiceSettings(app) {
  const problem = h("p.field-error", { role: "alert", hidden: true });
  const select = (name, label, kind, standard) => {
    const el = h("select", { onchange: () => set(name, el.value) });
    const draw = async () => {
      const all = await devicesOf(kind);
      el.replaceChildren(
        h("option", { value: "" }, standard),
        ...all.map((d) => h("option", { value: d.deviceId, selected: d.deviceId === preferences[name] }, d.label)),
      );
    };
    lists.push(draw);
    return field(label, el);
  };
  const lists = /** @type {(() => any)[]} */ ([]);
  const slider = (name, label, min, max, show, scale = 1) => {
    const shown = h("span", null, show(preferences[name])),
      el = h("input", { type: "range", min, max, value: String(preferences[name] * scale) });
    el.oninput = () => {
      set(name, Number(el.value) / scale);
      shown.textContent = show(preferences[name]);
    };
    const made = field(label, el);
    made.querySelector("label").append(" ", shown);
    return made;
  };
  const flag = (name, label) => {
    const el = h("input", { type: "checkbox", role: "switch", checked: preferences[name] });
    el.onchange = () => set(name, el.checked);
    const made = field(label, el);
    made.classList.add("switch-field");
    return made;
  };
  const meter = h("meter.level", { min: QUIETEST, max: 0, "aria-label": t("Input level") });
  const shows = (level, open) => {
    meter.value = Math.max(QUIETEST, 20 * Math.log10(level || 1e-5));
    meter.classList.toggle("open", open);
  };
  // For the level meter, the form opens the microphone itself if the user is in no call.
  const own = app.voice.media?.input ? null : new VoiceInput(shows);
  const set = (name, value) => {
    choose(app, name, value);
    if (own && ["input", "echo", "noise"].includes(name)) start();
    own?.setRule();
    draw();
  };
  const start = async () => {
    await own?.start();
    const words = (own || app.voice.media?.input)?.problem;
    problem.hidden = !words;
    problem.textContent = words || "";
    lists.forEach((list) => list());
  };
  const preview = h("video.camera-preview", { hidden: true, "aria-label": t("Camera") });
  preview.muted = preview.autoplay = true;
  const test = h("button.button.secondary", { type: "button" }, t("Test camera"));
  test.onclick = async () => {
    try {
      const { camera } = preferences;
      preview.srcObject = await navigator.mediaDevices.getUserMedia({
        video: camera ? { deviceId: { ideal: camera } } : true,
      });
      preview.hidden = false;
    } catch (e) {
      problem.hidden = false;
      problem.textContent = deviceProblem(e, "camera");
    }
  };
  const mode = h(
    "select",
    { onchange: () => set("push", mode.value === "push") },
    h("option", { value: "activity" }, t("Voice activity")),
    h("option", { value: "push", selected: preferences.push }, t("Push to talk")),
  );
  const key = h("button.button.secondary", { type: "button" });
  key.onclick = () => {
    key.textContent = t("Press a key…");
    key.onkeydown = (e) => {
      e.preventDefault();
      e.stopPropagation();
      key.onkeydown = null;
      set("key", e.code);
    };
  };
  const sensitivity = slider("sensitivity", t("Input sensitivity"), QUIETEST, 0, (x) => `${x} dB`),
    keyField = field(t("Key for push to talk"), key);
  const draw = () => {
    sensitivity.hidden = preferences.push;
    keyField.hidden = !preferences.push;
    key.textContent = preferences.key;
  };
  const el = h(
    "div.voice-settings",
    null,
    problem,
    h(
      "div.two",
      null,
      select("input", t("Microphone"), "audioinput", t("Default")),
      canChooseOutput() && select("output", t("Output device"), "audiooutput", t("Default")),
    ),
    slider("volume", t("Output volume"), 0, 200, (x) => `${Math.round(x * 100)} %`, 100),
    h("div.field", null, h("span.label", null, t("Input level")), meter),
    h("div.two", null, field(t("Input mode"), mode), sensitivity, keyField),
    flag("echo", t("Echo cancellation")),
    flag("noise", t("Noise suppression and automatic gain")),
    select("camera", t("Camera"), "videoinput", t("Default")),
    test,
    preview,
  );
  draw();
  start();
  const media = app.voice.media;
  if (!own && media) media.onlevel = shows;
  let seen = false;
  const gone = setInterval(() => {
    seen ||= el.isConnected;
    if (el.isConnected || !seen) return;
    clearInterval(gone);
    own?.end();
    if (media) media.onlevel = null;
    /** @type {any} */ (preview.srcObject)?.getTracks().forEach((track) => track.stop());
  }, 300);
  return el;
}
