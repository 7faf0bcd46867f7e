// voice_bots.js - tests sound between a page and unchanged bot libraries: each receives the tone that the other plays.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join as pathOf } from "node:path";
import { createServer } from "node:tls";
import { server, options, worker } from "./harness.js";
import { Server, until } from "./demo_server.js";
import { join, playTone, receivesTone, roomOf } from "./voice_page.js";

const PAGE_HERTZ = 440, BOT_HERTZ = 660, NEAR_HERTZ = 10;

/** Listens with TLS, which the libraries require for voice, and forwards to the plain port of the server. */
async function tlsProxy(folder) {
  const key = pathOf(folder, "key.pem"), cert = pathOf(folder, "cert.pem");
  execFileSync("openssl", ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert], { stdio: "ignore" });
  const proxy = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (client) => {
    const to = connect(Number(new URL(proxy.target).port), "127.0.0.1");
    for (const [a, b] of [[client, to], [to, client]]) a.on("error", () => b.destroy()).on("close", () => b.destroy()).pipe(b);
  });
  await new Promise((go) => proxy.listen(0, "127.0.0.1", go));
  return Object.assign(proxy, { cert });
}

/** A page and a bot meet in a room. @param {string[]} command program and script of the bot */
async function exchangeTones(command) {
  const own = worker(), before = own.server, folder = mkdtempSync(pathOf(tmpdir(), "guildhall-tones-"));
  const proxy = await tlsProxy(folder);
  let bot;
  own.server = new Server(options.executable);
  try {
    // discord.py removes the text after the last colon.
    await own.server.begin("--voice-endpoint", `127.0.0.1:${proxy.address().port}/voice:443`);
    proxy.target = server().url;
    const room = await roomOf("Tea table"), page = await join("ada", room, { fresh: true }, playTone(PAGE_HERTZ));
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: proxy.cert, SSL_CERT_FILE: proxy.cert, NODE_NO_WARNINGS: "1" };
    bot = spawn(command[0], [command[1], `${server().url}/api`, server().token("helper").replace(/^Bot /, ""), room, String(BOT_HERTZ)], { env });
    let said = "";
    bot.stdout.on("data", (d) => { said += d; });
    bot.stderr.on("data", (d) => { said += d; });
    const connected = () => {
      if (bot.exitCode !== null) throw new Error(`the bot ended: ${said}`);
      return said.includes("connected\n");
    };
    await until("the bot is connected", connected);
    await receivesTone(page, BOT_HERTZ);
    await until(`the bot receives ${PAGE_HERTZ} Hz`, () => connected() && [...said.matchAll(/^received (\d+)$/gm)].some((m) => Math.abs(m[1] - PAGE_HERTZ) <= NEAR_HERTZ)).catch((e) => { throw new Error(`${e.message}: ${said.slice(-300)}`); });
    await page.close();
  } finally {
    bot?.kill("SIGKILL");
    proxy.close();
    await own.server.end();
    own.server = before;
    rmSync(folder, { recursive: true, force: true });
  }
}

export const TESTS = {
  async page_and_discordjs_voice_exchange_tones() {
    await exchangeTones([process.execPath, "tone_bot.js"]);
  },

  async page_and_discord_py_exchange_tones() {
    await exchangeTones(["/usr/bin/python3", pathOf(options.source, "tests/browser/tone_bot.py")]); // with Debian's discord.py
  },
};
