/* index.js - a Guildhall server for the tests of a bot, and the people who use it. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { findProgram } from './program.js';

const PATIENCE_MS = 30_000;

/** An error, with the exit status and the output of the program. */
export class GuildhallError extends Error {
  constructor(message, details = {}) {
    super(message);
    this.name = 'GuildhallError';
    Object.assign(this, details);
  }
}

const sleep = (ms) => new Promise((done) => { setTimeout(done, ms); });

/** Calls ask() until it returns a truthy value; after the timeout, throws its last error. */
export async function eventually(ask, { timeout = PATIENCE_MS, every = 50 } = {}) {
  const end = Date.now() + timeout;
  for (;;) {
    let problem;
    try {
      const answer = await ask();
      if (answer) return answer;
    } catch (error) {
      problem = error;
    }
    if (Date.now() > end) {
      throw problem ?? new GuildhallError(`nothing came within ${timeout} ms`);
    }
    await sleep(every);
  }
}

/** Runs the program to its end. */
function run(binary, words, accepted = [0]) {
  return new Promise((done, failed) => {
    const child = spawn(binary, words, { stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (text) => { stdout += text; });
    child.stderr.on('data', (text) => { stderr += text; });
    child.on('error', failed);
    child.on('close', (status) => {
      if (accepted.includes(status)) done({ status, stdout, stderr });
      else failed(new GuildhallError(`guildhall ${words[0]}: ${stderr.trim() || stdout.trim()}`, { status, stdout, stderr }));
    });
  });
}

/** Reads the output of an import: each line is a name and a token. */
function readTokens(text) {
  const tokens = {};
  for (const line of text.split('\n')) {
    const found = /^(\S+) +(Bot )?(\S+)$/.exec(line);
    if (found) tokens[found[1]] = { bot: Boolean(found[2]), token: found[3] };
  }
  return tokens;
}

/** A person, and the channel where they are. */
class Person {
  #hall;
  #channelId;

  constructor(hall, name, channel) {
    this.#hall = hall;
    this.name = name;
    this.channel = channel;
  }

  /** A call of the interface as this person; what it answers, decoded. */
  async call(method, path, body) {
    const answer = await fetch(`${this.#hall.api}/v10${path}`, {
      method,
      headers: { Authorization: this.#hall.token(this.name), 'Content-Type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await answer.text();
    if (!answer.ok) {
      throw new GuildhallError(`${method} ${path} answered ${answer.status}: ${text}`, { status: answer.status, body: text });
    }
    return text ? JSON.parse(text) : undefined;
  }

  /** The id of the channel: of one with this name, in any guild where the person is. */
  async channelId() {
    if (this.#channelId) return this.#channelId;
    for (const guild of await this.call('GET', '/users/@me/guilds')) {
      const channels = await this.call('GET', `/guilds/${guild.id}/channels`);
      const found = channels.find((c) => c.name === this.channel || c.id === this.channel);
      if (found) {
        this.#channelId = found.id;
        return found.id;
      }
    }
    throw new GuildhallError(`${this.name} sees no channel '${this.channel}'`);
  }

  /** Uses a command: '/roll sides:6'. Gives the app's answer; throws when there is none. */
  slash(line, options = {}) {
    return this.#invoke(line, options);
  }

  /** Presses a button of a message, or chooses from its menu: 'yes', 'colour=red,blue'. */
  press(message, part, options = {}) {
    return this.#invoke(undefined, { ...options, message: message.id ?? message, press: part });
  }

  /** The choices that are shown while the last option of a line is typed. */
  async complete(line) {
    const steps = await this.#steps(line, { complete: true });
    return steps.at(-1).choices ?? [];
  }

  async #steps(line, { press, fill, followUps, message, complete, user, app, wait } = {}) {
    const words = ['invoke', '--json', '--url', this.#hall.url, '--data', this.#hall.data,
      '--token', this.#hall.token(this.name), '--channel', this.channel];
    const add = (name, value) => { if (value !== undefined) words.push(`--${name}`, String(value)); };
    add('press', press);
    add('fill', fill);
    add('follow-ups', followUps);
    add('message', message);
    add('user', user);
    add('app', app);
    add('wait', wait);
    if (complete) words.push('--complete');
    if (line !== undefined) words.push(line);
    const { status, stdout, stderr } = await run(this.#hall.binary, words, [0, 1, 2, 3, 4, 5]);
    const steps = stdout.split('\n').filter(Boolean).map((text) => JSON.parse(text));
    if (status !== 0) {
      throw new GuildhallError(`${line ?? press}: ${stderr.trim() || steps.at(-1)?.outcome}`, { status, steps });
    }
    return steps;
  }

  async #invoke(line, options) {
    const steps = await this.#steps(line, options);
    const last = steps.at(-1);
    return { ...last, steps, content: last.message?.content, embeds: last.message?.embeds ?? [] };
  }

  /** Writes a message. */
  async say(content) {
    const body = typeof content === 'string' ? { content } : content;
    return this.call('POST', `/channels/${await this.channelId()}/messages`, body);
  }

  /** Reacts to a message: '👍', or 'name:id' of a custom emoji. */
  async react(message, emoji) {
    const id = message.id ?? message;
    await this.call('PUT', `/channels/${await this.channelId()}/messages/${id}/reactions/${encodeURIComponent(emoji)}/@me`);
  }

  /** The newest messages of the channel, the oldest of them first. */
  async messages(limit = 50) {
    return (await this.call('GET', `/channels/${await this.channelId()}/messages?limit=${limit}`)).reverse();
  }

  /**
   * The first message that fits, also one that is there already; with `after`, of those behind
   * that one. What fits: a text that it contains, an expression, or a function.
   */
  async waitForMessage(wanted, { after, timeout = PATIENCE_MS } = {}) {
    const fits = typeof wanted === 'function' ? wanted
      : wanted instanceof RegExp ? (m) => wanted.test(m.content)
        : (m) => m.content.includes(wanted);
    const from = after === undefined ? 0n : BigInt(after.id ?? after);
    try {
      return await eventually(async () => (await this.messages()).find((m) => BigInt(m.id) > from && fits(m)), { timeout });
    } catch (error) {
      if (error instanceof GuildhallError && error.status) throw error;
      const seen = (await this.messages(5)).map((m) => `${m.author.username}: ${m.content}`).join('\n  ');
      throw new GuildhallError(`no such message came within ${timeout} ms; the last ones:\n  ${seen}`);
    }
  }
}

/** A server that runs. */
class Guildhall {
  #process;
  #folder;
  #tokens;
  #said;

  constructor(parts) {
    this.binary = parts.binary;
    this.url = parts.url;
    this.api = `${parts.url}/api`;
    this.data = parts.data;
    this.#process = parts.process;
    this.#folder = parts.folder;
    this.#tokens = parts.tokens;
    this.#said = parts.said;
  }

  /** Returns the token of an account, without "Bot " in front, as most libraries expect it. */
  token(name) {
    const found = this.#tokens[name];
    if (!found) throw new GuildhallError(`the world has no account '${name}'`);
    return found.token;
  }

  asUser(name, { channel = 'general' } = {}) {
    this.token(name);
    return new Person(this, name, channel);
  }

  /** Any other command of the program, against this server. */
  command(...words) {
    return run(this.binary, [...words, '--data', this.data]);
  }

  /** Moves the server's clock: '+15m', '+2h'. */
  clock(step) {
    return this.command('clock', step);
  }

  /** Makes calls of a route fail, so many times, or wait: { status: 500, times: 2, delay: '3s' }. */
  fault(route, { status, times, delay } = {}) {
    const words = ['fault', route];
    if (status !== undefined) words.push('--status', String(status));
    if (times !== undefined) words.push('--times', String(times));
    if (delay !== undefined) words.push('--delay', String(delay));
    return this.command(...words);
  }

  /** The output of the server so far. */
  get log() {
    return this.#said.text;
  }

  /** Ends the server, and takes its folder away. */
  async stop() {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      const ended = new Promise((done) => { this.#process.once('close', done); });
      this.#process.kill('SIGTERM');
      await ended;
    }
    await rm(this.#folder, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')]() {
    await this.stop();
  }
}

/** Starts the server; its first line says where it listens. */
function serve(binary, data, flags) {
  const said = { text: '' };
  const words = ['serve', '--data', data, '--listen', '127.0.0.1:0', '--rate-limits', 'off',
    '--workbench', 'on', ...flags];
  const child = spawn(binary, words, { stdio: ['ignore', 'pipe', 'pipe'] });
  return new Promise((done, failed) => {
    const receive = (text) => {
      said.text += text;
      const found = /^guildhall: listening on (\S+)$/m.exec(said.text);
      if (found) done({ url: found[1], process: child, said });
    };
    child.stdout.on('data', receive);
    child.stderr.on('data', receive);
    child.on('error', failed);
    child.on('close', (status) => failed(new GuildhallError(`guildhall serve ended: ${said.text.trim()}`, { status })));
  });
}

/**
 * Starts a server from a world (an object, or the path of a file) on a free port.
 * The program is `binary`, the environment's GUILDHALL_BINARY, the one that was installed with this
 * package, or `guildhall` in the path.
 */
export async function startGuildhall({ world, binary = findProgram(), flags = [] }) {
  const folder = await mkdtemp(join(tmpdir(), 'guildhall-'));
  const data = join(folder, 'data');
  try {
    let file = world;
    if (typeof world !== 'string') {
      file = join(folder, 'world.json');
      await writeFile(file, JSON.stringify(world));
    }
    const { stdout } = await run(binary, ['import', file, '--tokens', '--data', data]);
    const server = await serve(binary, data, flags);
    return new Guildhall({ ...server, binary, data, folder, tokens: readTokens(stdout) });
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}
