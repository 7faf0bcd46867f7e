// voice-preferences.js - voice settings of this browser: devices, push to talk or voice activation, users' volumes.

const KEY = "voice",
  MOST_VOLUMES = 300;

/**
 * The settings before the user changes them.
 * @type {{input: string, output: string, camera: string, push: boolean, key: string, sensitivity: number,
 *   echo: boolean, noise: boolean, volume: number, volumes: Record<string, number>}}
 */
const DEFAULTS = {
  input: "",
  output: "",
  camera: "",
  push: false, // push to talk
  key: "Backquote",
  sensitivity: -50, // threshold of voice activation in dB relative to full scale; sound below it is not sent
  echo: true,
  noise: true,
  volume: 1,
  volumes: {},
};

function read() {
  try {
    return { ...DEFAULTS, ...JSON.parse(localStorage.getItem(KEY) || "{}") };
  } catch {
    return { ...DEFAULTS };
  }
}

export const preferences = read();

/** @param {Partial<typeof DEFAULTS>} changes */
export function prefer(changes) {
  Object.assign(preferences, changes);
  localStorage.setItem(KEY, JSON.stringify(preferences));
}

export const volumeOf = (user) => preferences.volumes[user] ?? 1;

/**
 * Sets the volume of another user in this browser.
 * @param {string} user
 * @param {number} volume factor; 1 is the default
 */
export function setVolumeOf(user, volume) {
  const { [user]: _, ...others } = preferences.volumes;
  const stored = Object.entries(others).slice(1 - MOST_VOLUMES);
  prefer({ volumes: { ...Object.fromEntries(stored), ...(volume === 1 ? {} : { [user]: volume }) } });
}
