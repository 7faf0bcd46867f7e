// firefox.js - drives Firefox by WebDriver BiDi, without a driver program. Firefox plays and records sound only if
// there is a device for output, so PulseAudio provides one.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WebSocket, until } from "./demo_server.js";

/** Settings: no first-run pages, sound without a click, WebRTC on loopback, no access to other hosts. */
const SETTINGS = {
  "app.normandy.enabled": false,
  "app.update.enabled": false,
  "browser.shell.checkDefaultBrowser": false,
  "datareporting.policy.dataSubmissionEnabled": false,
  "media.autoplay.default": 0,
  "media.autoplay.blocking_policy": 0,
  "media.gmp-manager.updateEnabled": false,
  "media.navigator.permission.disabled": true,
  "media.navigator.streams.fake": true,
  "media.peerconnection.ice.loopback": true,
  "media.peerconnection.ice.obfuscate_host_addresses": false,
  "network.captive-portal-service.enabled": false,
  "network.connectivity-service.enabled": false,
  "services.settings.server": "http://127.0.0.1:9",
  "toolkit.telemetry.enabled": false,
};

export class Firefox {
  folder = mkdtempSync(join(tmpdir(), "guildhall-firefox-"));
  output = "";
  last = 0;
  waiting = new Map();

  /**
   * @param {string} executable @param {string} origin of the pages that may use microphone and camera; without the
   * permission, Firefox does not use WebRTC on loopback @param {object} [more] further settings
   */
  async begin(executable, origin, more) {
    const permissions = join(this.folder, "permissions");
    writeFileSync(permissions, ["microphone", "camera"].map((name) => `origin\t${name}\t1\t${origin}\n`).join(""));
    writeFileSync(join(this.folder, "user.js"), Object.entries({ ...SETTINGS, "permissions.manager.defaultsUrl": `file://${permissions}`, ...more }).map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`).join(""));
    const device = join(this.folder, "sound"), env = { ...process.env, HOME: this.folder, XDG_RUNTIME_DIR: this.folder, PULSE_SERVER: `unix:${device}` };
    this.sound = spawn("pulseaudio", ["-n", "--daemonize=no", "--use-pid-file=no", "--exit-idle-time=-1", "--disable-shm", "-L", "module-null-sink", "-L", `module-native-protocol-unix socket=${device} auth-anonymous=1`], { env, stdio: "ignore" });
    await until("PulseAudio is ready", () => existsSync(device));
    this.child = spawn(executable, ["--headless", "--no-remote", "--profile", this.folder, "--remote-debugging-port=0"], { env, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [this.child.stdout, this.child.stderr]) stream.on("data", (d) => { this.output += d; });
    const [, url] = await until("Firefox is ready", () => {
      if (this.child.exitCode !== null) throw new Error(`Firefox ended: ${this.output}`);
      return /WebDriver BiDi listening on (ws:\S+)/.exec(this.output);
    });
    this.socket = new WebSocket(`${url}/session`);
    this.socket.onmessage = (e) => {
      const { id, type, result, error, message } = JSON.parse(e.data), one = this.waiting.get(id);
      this.waiting.delete(id);
      if (type === "success") one?.done(result);
      else one?.fail(new Error(`${error}: ${message}`));
    };
    await new Promise((done, fail) => Object.assign(this.socket, { onopen: done, onerror: fail }));
    await this.command("session.new", { capabilities: {} });
    const { contexts } = await this.command("browsingContext.getTree", {});
    this.context = contexts[0].context;
  }

  command(method, params) {
    return new Promise((done, fail) => {
      this.waiting.set(++this.last, { done, fail });
      this.socket.send(JSON.stringify({ id: this.last, method, params }));
    });
  }

  /** Opens a page; the scripts run before its own. @param {string} url @param {string[]} scripts */
  async open(url, ...scripts) {
    await this.command("script.addPreloadScript", { functionDeclaration: `() => {\n${scripts.join("\n")}\n}` });
    await this.command("browsingContext.navigate", { context: this.context, url, wait: "complete" });
  }

  /** Calls a function in the page with a value, as the function of the same name in playwright. */
  async evaluate(work, value) {
    const expression = `(async () => JSON.stringify(await (${work})(${JSON.stringify(value) ?? ""})) ?? "null")()`;
    const { type, result, exceptionDetails } = await this.command("script.evaluate", { expression, target: { context: this.context }, awaitPromise: true, userActivation: true });
    if (type !== "success") throw new Error(exceptionDetails.text);
    return JSON.parse(result.value);
  }

  async end() {
    for (const child of [this.child, this.sound]) {
      child?.kill("SIGKILL");
      await until("Firefox has ended", () => !child || child.exitCode !== null || child.signalCode !== null);
    }
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10 });
  }
}
