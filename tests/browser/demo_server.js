// demo_server.js - a server with the demo's data, its users, and a bot.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ActionRowBuilder, ButtonBuilder, ButtonStyle, Client, EmbedBuilder, GatewayIntentBits, ModalBuilder, StringSelectMenuBuilder, TextInputBuilder, TextInputStyle } from "discord.js";

/** Time limit of one step, on a busy machine. */
export const PATIENCE_MS = Number(process.env.BROWSER_PATIENCE_MS) || 180000;
export const WebSocket = createRequire(import.meta.resolve("discord.js"))("ws"); // the version of discord.js

/** Waits for a condition; the error names the condition. */
export async function until(words, condition) {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; ) {
    const found = await condition();
    if (found) return found;
    await new Promise((go) => setTimeout(go, 20));
  }
  throw new Error(`timed out waiting until ${words}`);
}

/** Returns a port outside of the ephemeral range, because a server restarts on its port. */
async function freePort() {
  for (;;) {
    const port = 20000 + Math.floor(Math.random() * 12000), probe = createServer();
    const free = await new Promise((go) => {
      probe.once("error", () => go(false));
      probe.listen(port, "127.0.0.1", () => probe.close(() => go(true)));
    });
    if (free) return port;
  }
}

export class Server {
  constructor(executable) {
    this.executable = executable;
    this.data = mkdtempSync(join(tmpdir(), "guildhall-browser-"));
    this.output = "";
  }
  start(command, listen, ...more) {
    this.child = spawn(this.executable, [command, "--data", this.data, "--listen", listen, "--rate-limits", "off", "--durability", "off", ...more], { stdio: ["ignore", "pipe", "pipe"] });
    this.child.stdout.on("data", (d) => { this.output += d; });
    this.child.stderr.on("data", (d) => { this.output += d; });
  }
  async begin(...more) {
    this.start("demo", `127.0.0.1:${await freePort()}`, "--voice-port", "0", ...more);
    await until("the demo is there", () => /helper='/.test(this.output));
    this.url = /listening on (http:\S+)/.exec(this.output)[1];
    this.api = `${this.url}/api/v10`;
    [, this.guild, this.channel] = /guild=(\d+) channel=(\d+)/.exec(this.output);
    const received = await Promise.all(["cleo", "dara", "emil"].map((username) => fetch(`${this.url}/console/people`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ username }) }).then((a) => a.json())));
    this.others = new Map(["cleo", "dara", "emil"].map((name, i) => [name, received[i].token]));
  }
  /** Returns a user's token, as the demo prints it or the login page gets it. */
  token(name) { return new RegExp(`${name}='([^']+)'`).exec(this.output)?.[1] ?? this.others.get(name); }
  async call(token, method, path, body) {
    const form = body instanceof FormData;
    const answer = await fetch(this.api + path, { method, headers: { ...(token ? { Authorization: token } : {}), ...(body && !form ? { "Content-Type": "application/json" } : {}) }, body: form ? body : body ? JSON.stringify(body) : undefined });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 300)}`);
    return text ? JSON.parse(text) : null;
  }
  async kill() {
    this.child.kill("SIGKILL");
    await until("the server is gone", () => this.child.exitCode !== null || this.child.signalCode !== null);
  }
  async restart(...more) {
    this.start("serve", new URL(this.url).host, ...more);
    await until("the server is back", () => fetch(`${this.url}/healthz`).then((a) => a.ok, () => false));
  }
  async end() {
    if (this.child?.exitCode === null && !this.child.signalCode) await this.kill();
    rmSync(this.data, { recursive: true, force: true });
  }
}

/** An unchanged discord.js bot that answers the demo's commands. */
export async function bot(server) {
  const client = new Client({ intents: [GatewayIntentBits.Guilds, GatewayIntentBits.GuildMessages], rest: { api: `${server.url}/api` } });
  client.on("error", () => {});
  client.on("raw", ({ t, d }) => { if (t === "INTERACTION_CREATE" && d.type === 5 && d.data.custom_id === "form") answerForm(client, d); });
  client.on("interactionCreate", (i) => answer(i).catch(() => {}));
  await Promise.all([new Promise((go) => client.once("clientReady", go)), client.login(server.token("helper").replace(/^Bot /, ""))]);
  return client;
}

/** Records the submitted form, because the library may not know all fields of a modal. */
async function answerForm(client, d) {
  client.lastForm = d;
  await fetch(`${client.options.rest.api}/v10/interactions/${d.id}/${d.token}/callback`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ type: 4, data: { content: "It is filled in" } }) });
}

/** A user's voice connection, as far as the voice gateway is concerned. */
export class Speaker {
  constructor(server, name, channel) {
    Object.assign(this, { server, token: server.token(name), channel });
  }
  /** Connects, so that the user can send speaking events. */
  begin() {
    return new Promise((done, fail) => {
      const known = {};
      this.main = new WebSocket(`ws://${new URL(this.server.url).host}/?v=10&encoding=json`);
      this.main.onerror = fail;
      this.main.onmessage = (e) => {
        const { op, t, d } = JSON.parse(e.data);
        if (op === 10) this.main.send(JSON.stringify({ op: 2, d: { token: this.token, properties: {} } }));
        if (t === "READY") {
          known.me = d.user.id;
          this.main.send(JSON.stringify({ op: 4, d: { guild_id: this.server.guild, channel_id: this.channel, self_mute: false, self_deaf: false } }));
        }
        if (t === "VOICE_STATE_UPDATE" && d.user_id === known.me) known.session = d.session_id;
        if (t === "VOICE_SERVER_UPDATE") this.connect({ ...known, ...d }).then(done, fail);
      };
    });
  }
  connect({ me, session, token, endpoint, guild_id: guild }) {
    return new Promise((done, fail) => {
      this.voice = new WebSocket(`ws://${endpoint}?v=8`);
      this.voice.onerror = fail;
      this.voice.onmessage = (e) => {
        const { op, d } = JSON.parse(e.data);
        if (op === 8) this.voice.send(JSON.stringify({ op: 0, d: { server_id: guild, user_id: me, session_id: session, token } }));
        if (op === 2) this.voice.send(JSON.stringify({ op: 1, d: { protocol: "udp", data: { address: "127.0.0.1", port: 9, mode: d.modes[0] } } }));
        if (op === 4) done();
      };
    });
  }
  speaks(bits) { this.voice.send(JSON.stringify({ op: 5, d: { speaking: bits, delay: 0, ssrc: 1 } })); }
  end() {
    this.voice.close();
    this.main.close();
  }
}

const option = (label) => ({ label, value: label.toLowerCase() });
/**
 * A form with every field that is neither a text nor a menu; the builders of discord.js do not know all of these
 * fields.
 */
const FORM = { custom_id: "form", title: "The form", components: [
  { type: 18, label: "A file", component: { type: 19, custom_id: "file" } }, { type: 18, label: "One", component: { type: 21, custom_id: "one", options: [option("Oak"), option("Larch")] } },
  { type: 18, label: "Some", component: { type: 22, custom_id: "some", options: [option("Glue"), option("Nails")] } }, { type: 18, label: "Sure", component: { type: 23, custom_id: "sure" } }] };

const row = (...parts) => new ActionRowBuilder().addComponents(...parts);

async function answer(i) {
  if (i.isAutocomplete()) return i.respond([{ name: "When is it open?", value: "open" }, { name: "Where are the clamps?", value: "clamps" }]);
  if (i.isChatInputCommand() && i.commandName === "ask") return i.reply({ content: `You asked: ${i.options.getString("question")}`, flags: 64 });
  if (i.isChatInputCommand() && i.commandName === "roll") {
    const embed = new EmbedBuilder().setTitle("Dice").setColor(0x3498db).setDescription("You rolled **4**").addFields({ name: "Sides", value: String(i.options.getInteger("sides") ?? 6), inline: true }).setFooter({ text: "Good luck" });
    const menu = new StringSelectMenuBuilder().setCustomId("menu").setPlaceholder("Pick a die").addOptions({ label: "Four", value: "4" }, { label: "Six", value: "6", description: "The usual one" });
    return i.reply({ embeds: [embed], components: [row(new ButtonBuilder().setCustomId("again").setLabel("Again").setStyle(ButtonStyle.Primary), new ButtonBuilder().setCustomId("name").setLabel("Name it").setStyle(ButtonStyle.Secondary), new ButtonBuilder().setCustomId("fill").setLabel("Fill in").setStyle(ButtonStyle.Secondary), new ButtonBuilder().setCustomId("off").setLabel("Off").setStyle(ButtonStyle.Danger).setDisabled(true)), row(menu)] });
  }
  if (i.isButton() && i.customId === "again") return i.update({ content: "Rolled again" });
  if (i.isButton() && i.customId === "name") {
    return i.showModal(new ModalBuilder().setCustomId("naming").setTitle("Name the die").addComponents(row(new TextInputBuilder().setCustomId("name").setLabel("Its name").setStyle(TextInputStyle.Short).setMinLength(2))));
  }
  if (i.isButton() && i.customId === "fill") return i.showModal(FORM);
  if (i.isStringSelectMenu()) return i.reply({ content: `Picked ${i.values[0]}` });
  if (i.isModalSubmit() && i.customId === "form") return undefined; // answered in the raw event
  if (i.isModalSubmit()) return i.reply({ content: `It is called ${i.fields.getTextInputValue("name")}` });
  return undefined;
}
