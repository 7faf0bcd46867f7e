// voice_firefox.js - tests voice between Firefox and Chromium: each page receives the tone and the video of the other.
import { server } from "./harness.js";
import { until } from "./demo_server.js";
import { Firefox } from "./firefox.js";
import { LISTEN, join, playTone, receivesTone, roomOf, rtp } from "./voice_page.js";

const FIREFOX_HERTZ = 520, CHROMIUM_HERTZ = 880, FRAMES = 10;

/** Runs in a page: clicks the first button with this name; returns whether there is one. */
const click = (name) => {
  const found = [...document.querySelectorAll("button")].find((b) => (b.getAttribute("aria-label") || b.textContent).trim() === name);
  found?.click();
  return Boolean(found);
};
const isConnected = () => Boolean(document.querySelector(".voice-bar")?.textContent.includes("Voice connected"));

export const TESTS = {
  async firefox_and_chromium_exchange_sound_and_video() {
    const room = await roomOf("Tea table"), path = `/channels/${server().guild}/${room}`, firefox = new Firefox();
    try {
      await firefox.begin("firefox-esr", server().url, { "media.navigator.audio.fake_frequency": FIREFOX_HERTZ });
      const login = `if (location.protocol === "http:") sessionStorage.setItem("token", ${JSON.stringify(server().token("bob"))});`;
      await firefox.open(server().url + path, login, LISTEN);
      await until("Firefox shows the channel", () => firefox.evaluate(click, "Join voice"));
      const ada = await join("ada", room, {}, playTone(CHROMIUM_HERTZ));
      await until("Firefox is connected", () => firefox.evaluate(isConnected));
      await receivesTone(ada, FIREFOX_HERTZ);
      await receivesTone(firefox, CHROMIUM_HERTZ);
      for (const page of [firefox, ada]) await until("the camera is on", () => page.evaluate(click, "Turn on camera"));
      for (const page of [firefox, ada]) await until("the video of the other page is decoded", async () => (await rtp(page, "inbound-rtp", "framesDecoded")) >= FRAMES);
      await ada.close();
    } finally {
      await firefox.end();
    }
  },
};
