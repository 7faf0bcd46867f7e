// documentation.js - tests the documentation that the program serves: accessibility and layout in both themes, and
// the search.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { enter } from "./harness.js";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/**
 * Short pages with each kind of content. Long pages are left out: their checks take minutes, and all pages have one
 * template.
 */
const PAGES = ["", "gifs", "reference-gateway", "search.html?q=50013"];
const LONG_PAGES = ["reference", "errors", "architecture"];
const THEMES = ["light", "dark"], WIDTHS = [1280, 390], HEIGHT = 844;

/** Looks for accessibility faults in some pages, and for pages that are too wide. @param {string[]} checked @param {string[]} measured only for their width */
async function expectNoFaults(checked, measured) {
  const faults = [];
  for (const colorScheme of THEMES) {
    const page = await enter(null, { colorScheme });
    await page.addInitScript(axe);
    const onlyColours = colorScheme === "dark" ? { runOnly: ["color-contrast"] } : {};
    for (const path of colorScheme === "dark" ? checked : [...checked, ...measured]) {
      await page.open(`/docs/${path}`);
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: HEIGHT });
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        if (wide > width) faults.push(`${path}: ${wide} pixels at a width of ${width}`);
      }
      if (checked.includes(path)) faults.push(...(await page.evaluate((rules) => window.axe.run(document, { resultTypes: ["violations"], preload: false, ...rules }), onlyColours)).violations.map((v) => `${path} (${colorScheme}): ${v.id}: ${v.nodes[0].target}`));
    }
    await page.close();
  }
  assert.deepEqual(faults, []);
}

/** Run by the nightly step "screens". */
export const NIGHTLY_DOCUMENTATION = {
  async every_kind_of_documentation_page_is_accessible_in_both_themes() {
    await expectNoFaults(PAGES, LONG_PAGES);
  },
};

export const TESTS = {
  async documentation_is_accessible_in_both_themes_and_fits_a_phone() {
    await expectNoFaults(["gifs"], ["architecture"]);
  },

  async documentation_search_works_by_keyboard() {
    const page = await enter(null);
    await page.open("/docs");
    await page.getByRole("heading", { name: "Guildhall", level: 1 }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("50013");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Search" }).waitFor();
    assert.match(await page.getByRole("status").innerText(), /^\d+ sections\.$/);
    await page.locator("#results a").first().click();
    await page.waitForURL("**/docs/errors.html#50013");
    await page.open("/docs/search.html");
    await page.getByRole("searchbox").fill("POST /channels/{channel.id}/messages");
    assert.match(await page.locator("#results a").first().innerText(), /^POST \/channels\/\{channel\.id\}\/messages -/);
    await page.getByRole("searchbox").fill("nosuchwordanywhere");
    assert.equal(await page.getByRole("status").innerText(), "Nothing was found. Try fewer or other words.");
    await page.getByRole("searchbox").fill("<img src=x onerror=alert(1)>");
    assert.equal(await page.locator("main img").count(), 0);
    await page.close();
  },

  async pages_link_to_the_documentation() {
    const page = await enter(null);
    await page.open("/login");
    await page.getByRole("link", { name: "Documentation" }).click();
    await page.waitForURL("**/docs/");
    await page.open("/workbench");
    await page.getByRole("link", { name: "Documentation" }).click();
    await page.waitForURL("**/docs/testing-your-bot");
    await page.close();
    const ada = await enter("ada");
    await ada.open("/settings/profile");
    await ada.getByRole("link", { name: "Help" }).click();
    await ada.waitForURL("**/docs/chat");
    await ada.close();
  },
};
