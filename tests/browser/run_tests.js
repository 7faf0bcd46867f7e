// run_tests.js - runs the tests of the pages: one browser, with parallel groups of tests that have a
// server each.
import { existsSync, mkdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import assert from "node:assert/strict";
import { chromium } from "playwright-core";
import { TESTS as account } from "./account.js";
import { TESTS as apps } from "./apps.js";
import { TESTS as channelList } from "./channel_list.js";
import { TESTS as community } from "./community.js";
import { NIGHTLY_DOCUMENTATION as documentationWalk, TESTS as documentation } from "./documentation.js";
import { TESTS as history } from "./history.js";
import { NIGHTLY_EVERYDAY as everydayWalk, TESTS as everyday } from "./everyday.js";
import { TESTS as hostile } from "./hostile.js";
import { NIGHTLY_LAYOUTS as layouts, TESTS as layout } from "./layout.js";
import { NIGHTLY_LOAD as heavyLoad, TESTS as load } from "./performance.js";
import { TESTS as login } from "./login.js";
import { TESTS as people } from "./everyday_use.js";
import { TESTS as settings } from "./settings.js";
import { BENCH_WALKS as benchWalks, CHAT_WALKS as chatWalks, TESTS as screens } from "./screens.js";
import { TESTS as sharing } from "./sharing.js";
import { Worker, options } from "./harness.js";
import { TESTS as search } from "./search.js";
import { TESTS as talk } from "./message_content.js";
import { TESTS as tutorials } from "./tutorials.js";
import { TESTS as unread } from "./unread.js";
import { TESTS as voice } from "./voice_media.js";
import { TESTS as voiceBots } from "./voice_bots.js";
import { TESTS as voiceFirefox } from "./voice_firefox.js";
import { TESTS as voicePage } from "./voice_page.js";
import { TESTS as webPush } from "./web_push.js";
import { TESTS as welcome } from "./welcome.js";
import { TESTS as wire } from "./workbench.js";

const [source, executable, chromiumPath, ...rest] = process.argv.slice(2);
const at = rest.indexOf("--pictures");
const pictures = at >= 0 ? rest.splice(at, 2)[1] : "";
const nightly = rest.includes("--nightly");
const storeLayout = rest.includes("--store-layout");
const words = storeLayout ? ["equals_its_stored_layout"] : rest.filter((x) => x !== "--nightly");
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--disable-extensions", "--process-per-site", "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream", "--allow-loopback-in-peer-connection"];
const MAX_WORKERS = 3;

/** The longest groups first, so that none runs alone at the end. */
const WORKERS = { load, people, login, welcome, screens, wire, settings, community, talk, history, layout, account, hostile, apps, search, unread, everyday, documentation, sharing, channelList, voice, voiceBots, voicePage, webPush };
const NIGHTLY = { chatWalks, benchWalks, layouts, heavyLoad, everydayWalk, documentationWalk, tutorials };
/** Needs packages that only the step firefox installs, so only the word firefox runs it. */
const FIREFOX = { voiceFirefox };

async function runTest(worker, name, test) {
  const began = Date.now();
  worker.problems.length = 0;
  try {
    await test();
    assert.deepEqual(worker.problems, []);
    console.log(`[ RUN      ] ${name}\n[       OK ] ${name} (${Date.now() - began} ms)`);
    return 0;
  } catch (e) {
    const problems = worker.problems.join("\n"), pictured = await worker.picturesOfFailure(name);
    console.log(`[ RUN      ] ${name}\n${e.stack || e}\n${problems}\n${pictured}\n[  FAILED  ] ${name}`);
    return 1;
  }
}

/** Runs the tests of a group; returns the number of failures. */
async function runWorker([workerName, tests]) {
  const chosen = Object.entries(tests).filter(([name]) => !words.length || words.some((w) => name.includes(w) || workerName === w));
  if (!chosen.length) return 0;
  const worker = new Worker(workerName);
  let failed = 0;
  try {
    await worker.begin();
    for (const [name, test] of chosen) failed += await worker.run(() => runTest(worker, name, test));
  } finally {
    await worker.end();
  }
  return failed;
}

async function main() {
  let failed = 0;
  Object.assign(options, { source, executable, pictures, storeLayout, artefacts: resolve("artefacts") });
  mkdirSync(options.artefacts, { recursive: true });
  if (pictures) mkdirSync(pictures, { recursive: true });
  options.browser = await chromium.launch({ executablePath: chromiumPath, args: FLAGS });
  const waiting = Object.entries(words.includes("firefox") ? FIREFOX : words.length ? { ...NIGHTLY, ...WORKERS } : nightly ? NIGHTLY : WORKERS);
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const more = await runWorker(next); // not in one expression: it would use the count from before the wait
      failed += more;
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(MAX_WORKERS, availableParallelism() + 1) }, work));
  } finally {
    await options.browser.close();
  }
  process.exit(failed ? 1 : 0);
}

if (!existsSync(executable)) throw new Error(`${executable} does not exist`);
await main();
