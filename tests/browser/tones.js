// tones.js - measures the frequency of a tone. Pages get the function as text, so it uses nothing outside of itself.

/** Returns the frequency of a tone by its zero crossings. @param {ArrayLike<number>} samples @param {number} rate */
export function frequencyOf(samples, rate) {
  let first = -1, last = -1, crossings = 0;
  for (let i = 1; i < samples.length; i++) {
    if (samples[i - 1] >= 0 || samples[i] < 0) continue;
    const at = i - samples[i] / (samples[i] - samples[i - 1]);
    if (first < 0) first = at;
    else crossings++;
    last = at;
  }
  return crossings ? Math.round((crossings * rate) / (last - first)) : 0;
}
