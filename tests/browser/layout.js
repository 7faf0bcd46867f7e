// layout.js - compares every screen in both themes with a stored picture of it, so that a broken layout fails.
//
// A picture is stored as the mean grey level of cells of 20 × 20 pixels, one character for a cell, in layout.json.
// Levels are square roots of the brightness, because the colours of the dark theme are close to each other.
// Times, avatars and recorded traffic differ between two runs and are hidden. `browser.py GUILDHALL
// --store-layout` stores new pictures after an intended change; look at them in build/browser/artefacts.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { enter, general, options, picture } from "./harness.js";
import { allScreens, drawn, nameOf } from "./screens.js";

const CELL = 20, WIDTH = 1280, HEIGHT = 800;
const LEVELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const MOST_LEVELS_APART = 1, MOST_CELLS_APART = 0.03; // grey levels of 64, share of all cells
const FILE = () => join(options.source, "tests/browser/layout.json");
const FONTS = ["DejaVu Sans"]; // scripts/setup installs it
const HIDDEN = `
  *, *::before, *::after { animation: none !important; transition: none !important; caret-color: transparent !important; }
  time, img, canvas, video, .pattern, .day, .typing, .wire, .chart svg, .bench tbody, .bench-scroll pre, .settings-body tbody td, .bars { opacity: 0 !important; }
  [data-letters] { background: #888 !important; color: transparent !important; }
  * { scrollbar-width: none !important; }`;

/** Returns the grey levels of the cells of a window. */
async function layoutOf(page) {
  const png = (await page.screenshot({ animations: "disabled" })).toString("base64");
  return page.evaluate(async ({ png, CELL, LEVELS }) => {
    const picture = await createImageBitmap(new Blob([Uint8Array.from(atob(png), (c) => c.charCodeAt(0))]));
    const canvas = new OffscreenCanvas(picture.width, picture.height), paint = canvas.getContext("2d");
    paint.drawImage(picture, 0, 0);
    const { data } = paint.getImageData(0, 0, picture.width, picture.height), columns = picture.width / CELL, sums = new Float64Array(columns * (picture.height / CELL));
    for (let i = 0, x = 0, y = 0; i < data.length; i += 4) {
      sums[Math.floor(y / CELL) * columns + Math.floor(x / CELL)] += 0.3 * data[i] + 0.59 * data[i + 1] + 0.11 * data[i + 2];
      if (++x === picture.width) { x = 0; y++; }
    }
    return [...sums].map((sum) => LEVELS[Math.min(63, Math.floor(64 * Math.sqrt(sum / CELL / CELL / 256)))]).join("");
  }, { png, CELL, LEVELS });
}

/** Returns the share of cells whose grey level differs clearly. */
function difference(a, b) {
  if (a.length !== b?.length) return 1;
  let apart = 0;
  for (let i = 0; i < a.length; i++) if (Math.abs(LEVELS.indexOf(a[i]) - LEVELS.indexOf(b[i])) > MOST_LEVELS_APART) apart++;
  return apart / a.length;
}

/** Returns a name that is equal in each run: without ids and invite codes; channels by a selector of their type. */
function screenName(path, sign) {
  const name = nameOf(path.replace(/^\/invite\/(?!nonsense).*/, "/invite").replace(/apps\/\d+/, "apps/one").replace(/^\/channels\/\d+\/\d+\/settings/, "/channel/settings"));
  return name === "channels" ? `${name} ${sign}` : name;
}

/** Returns a time zone in which it is about noon: then all messages of the demo are of one day, with one divider. */
function noonTimeZone() {
  const hours = 12 - new Date().getUTCHours();
  return `Etc/GMT${hours > 0 ? "-" : "+"}${Math.abs(hours)}`; // "Etc/GMT-2" is two hours ahead of UTC
}

async function enterForLayout(theme) {
  const page = await enter("ada", { viewport: { width: WIDTH, height: HEIGHT }, colorScheme: theme, reducedMotion: "reduce", timezoneId: noonTimeZone() });
  await page.addInitScript((css) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  }, HIDDEN);
  await page.open(general());
  await page.locator("article").first().waitFor();
  for (const font of FONTS) assert.ok(await page.evaluate((name) => document.fonts.check(`15px "${name}"`), font), `the font ${font} is missing: run scripts/setup test`);
  return page;
}

/** Walks through screens in one theme; returns their layouts by name. */
async function layouts(theme, wanted) {
  const page = await enterForLayout(theme), found = {};
  for (const [path, sign] of (await allScreens()).filter(([path]) => wanted(path))) {
    await page.turn(path);
    await drawn(page, path, sign);
    await page.evaluate(async () => {
      /** @type {any} */ (document.activeElement)?.blur();
      await document.fonts.ready;
      for (let i = 0; i < 5; i++) await new Promise(requestAnimationFrame);
    });
    await page.mouse.move(WIDTH - 2, HEIGHT - 2);
    const name = `${theme} ${screenName(path, sign)}`;
    assert.ok(!(name in found), `two screens are called ${name}`);
    found[name] = await layoutOf(page);
    if (options.storeLayout) await picture(page, `layout-${name}`);
  }
  return { page, found };
}

async function compare(theme, wanted) {
  const { page, found } = await layouts(theme, wanted), stored = JSON.parse(readFileSync(FILE(), "utf8"));
  if (options.storeLayout) {
    writeFileSync(FILE(), `${JSON.stringify({ ...stored, ...found }, null, 1)}\n`);
  } else {
    const apart = Object.entries(found).map(([name, layout]) => [name, difference(layout, stored[name])]);
    console.log(`largest difference of ${apart.length} screens: ${Math.max(...apart.map(([, x]) => x)).toFixed(3)} of the cells`);
    assert.deepEqual(apart.filter(([, x]) => x > MOST_CELLS_APART).map(([name, x]) => `${name}: ${x.toFixed(3)} of the cells differ`), []);
  }
  return { page, found };
}

const everything = () => true;
const few = (path) => /^\/channels\/\d+\/\d+$|^\/friends|^\/settings\/profile|settings\/roles/.test(path);

export const NIGHTLY_LAYOUTS = {
  async every_dark_screen_equals_its_stored_layout() { await (await compare("dark", everything)).page.close(); },
  async every_light_screen_equals_its_stored_layout() { await (await compare("light", everything)).page.close(); },
};

export const TESTS = {
  async broken_layout_differs_from_the_stored_one() {
    const { page, found } = await compare("dark", few);
    await page.turn(general());
    await page.locator("article").first().waitFor();
    const whole = await layoutOf(page);
    await page.evaluate(() => { /** @type {HTMLElement} */ (document.querySelector(".members")).style.display = "none"; });
    const apart = difference(await layoutOf(page), whole);
    console.log(`a missing member list: ${apart.toFixed(3)} of the cells differ`);
    assert.ok(apart > MOST_CELLS_APART, "a missing member list is not noticed");
    assert.ok(Object.keys(found).length >= 4, Object.keys(found).join());
    await page.close();
  },
};
