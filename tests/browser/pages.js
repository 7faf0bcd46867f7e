// pages.js - runs the tests of the pages: one browser, lanes side by side with a server each.
import { existsSync, mkdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import assert from "node:assert/strict";
import { chromium } from "playwright-core";
import { TESTS as apps } from "./apps.js";
import { TESTS as community } from "./community.js";
import { TESTS as history } from "./history.js";
import { TESTS as hostile } from "./hostile.js";
import { TESTS as load } from "./load.js";
import { TESTS as people } from "./people.js";
import { TESTS as places } from "./places.js";
import { BENCH_WALKS as benchWalks, CHAT_WALKS as chatWalks, TESTS as screens } from "./screens.js";
import { Lane, options } from "./stage.js";
import { TESTS as talk } from "./talk.js";
import { TESTS as wire } from "./wire.js";

const [source, executable, chromiumPath, ...rest] = process.argv.slice(2);
const at = rest.indexOf("--pictures");
const pictures = at >= 0 ? rest.splice(at, 2)[1] : "";
const nightly = rest.includes("--nightly");
const words = rest.filter((x) => x !== "--nightly");
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--disable-extensions", "--process-per-site"];
const MOST_LANES = 3;

/** The longest first, so that no lane is left alone at the end. */
const LANES = { load, people, screens, wire, places, community, talk, history, hostile, apps };
const NIGHTLY = { chatWalks, benchWalks };

async function runTest(lane, name, test) {
  const began = Date.now();
  lane.problems.length = 0;
  try {
    await test();
    assert.deepEqual(lane.problems, []);
    console.log(`[ RUN      ] ${name}\n[       OK ] ${name} (${Date.now() - began} ms)`);
    return 0;
  } catch (e) {
    const problems = lane.problems.join("\n"), pictured = await lane.picturesOfFailure(name);
    console.log(`[ RUN      ] ${name}\n${e.stack || e}\n${problems}\n${pictured}\n[  FAILED  ] ${name}`);
    return 1;
  }
}

/** How many of its tests failed. */
async function runLane([laneName, tests]) {
  const chosen = Object.entries(tests).filter(([name]) => !words.length || words.some((w) => name.includes(w) || laneName === w));
  if (!chosen.length) return 0;
  const lane = new Lane(laneName);
  let failed = 0;
  try {
    await lane.begin();
    for (const [name, test] of chosen) failed += await lane.run(() => runTest(lane, name, test));
  } finally {
    await lane.end();
  }
  return failed;
}

async function main() {
  let failed = 0;
  Object.assign(options, { source, executable, pictures, artefacts: resolve("artefacts") });
  mkdirSync(options.artefacts, { recursive: true });
  if (pictures) mkdirSync(pictures, { recursive: true });
  options.browser = await chromium.launch({ executablePath: chromiumPath, args: FLAGS });
  const waiting = Object.entries(words.length ? { ...NIGHTLY, ...LANES } : nightly ? NIGHTLY : LANES);
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) failed += await runLane(next);
  };
  try {
    await Promise.all(Array.from({ length: Math.min(MOST_LANES, availableParallelism() + 1) }, work));
  } finally {
    await options.browser.close();
  }
  process.exit(failed ? 1 : 0);
}

if (!existsSync(executable)) throw new Error(`there is no ${executable}`);
await main();
