/* index.js - a Guildhall server for the tests of a bot, and the people who use it. */
import { spawn } from 'node:child_process';
import { lstatSync, rmSync, statSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

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
    child.stdout.setEncoding('utf8');
    child.stderr.setEncoding('utf8');
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

/** Returns the first problem of an error of the interface, with the path of its field. */
function describeRefusal(error) {
  const find = (tree, path) => {
    if (tree?._errors) return `${path.join('.')}: ${tree._errors[0].message}`;
    for (const [name, below] of Object.entries(tree ?? {})) {
      const found = typeof below === 'object' && find(below, [...path, name]);
      if (found) return found;
    }
    return undefined;
  };
  return error && [error.message, find(error.errors, [])].filter(Boolean).join(': ');
}

// --- matchers ---------------------------------------------------------------------------

const show = (value) => (value instanceof RegExp || typeof value === 'function' ? String(value) : JSON.stringify(value));

/** Adds a sentence for each difference between a value and what is wanted of it. */
function compareValue(value, wanted, path, found) {
  if (wanted instanceof RegExp ? typeof value === 'string' && wanted.test(value)
    : typeof wanted === 'function' ? wanted(value) : Object.is(value, wanted)) return;
  if (wanted === null || typeof wanted !== 'object' || wanted instanceof RegExp) {
    found.push(`${path} is ${show(value)} instead of ${show(wanted)}`);
  } else if (value === null || typeof value !== 'object') {
    found.push(`${path} is ${show(value) ?? 'absent'} instead of ${show(wanted)}`);
  } else {
    if (Array.isArray(wanted) && value.length !== wanted.length) {
      found.push(`${path} has ${value.length} entries instead of ${wanted.length}`);
    }
    for (const key of Object.keys(wanted)) compareValue(value[key], wanted[key], `${path}.${key}`, found);
  }
}

/** All components of a message, also those within rows, sections and containers. */
export function componentsOf(message) {
  const all = [];
  const visit = (component) => {
    all.push(component);
    for (const below of [...(component.components ?? []), component.component, component.accessory]) if (below) visit(below);
  };
  for (const component of message.components ?? []) visit(component);
  return all;
}

function componentFits(component, wanted) {
  if (typeof wanted === 'string') return component.custom_id === wanted || component.label === wanted;
  const found = [];
  compareValue(component, wanted, '', found);
  return !found.length;
}

/**
 * How a message differs from what is wanted of it, as sentences; an empty list if it fits. What is wanted: an
 * object with fields of the message (only those are compared). `author` is a name, `ephemeral` is true or false,
 * `components` lists components that must be among those of the message: an id or label, or an object.
 */
export function messageDifferences(message, wanted) {
  const found = [];
  for (const [key, value] of Object.entries(wanted)) {
    if (key === 'author' && typeof value === 'string') compareValue(message.author?.username, value, 'author', found);
    else if (key === 'ephemeral') compareValue(Boolean((message.flags ?? 0) & 64), value, 'ephemeral', found);
    else if (key === 'components') {
      const there = componentsOf(message);
      for (const part of value) {
        if (there.some((component) => componentFits(component, part))) continue;
        const names = there.map((c) => c.custom_id ?? c.label).filter(Boolean).join(', ') || 'none';
        found.push(`no component is ${show(part)}; there are: ${names}`);
      }
    } else compareValue(message[key], value, key, found);
  }
  return found;
}

/** Throws an error with all differences, if the message (or answer) is not as wanted. */
export function expectMessage(message, wanted) {
  const found = messageDifferences(message.message ?? message, wanted);
  if (found.length) throw new GuildhallError(`the message is not as expected: ${found.join('; ')}`, { differences: found });
  return message;
}

/** For `expect.extend(matchers)` of Jest and Vitest: `expect(message).toMatchMessage({ content: /ok/ })`. */
export const matchers = {
  toMatchMessage(message, wanted) {
    const found = messageDifferences(message.message ?? message, wanted);
    return {
      pass: !found.length,
      message: () => (found.length ? `the message is not as expected: ${found.join('; ')}` : 'the message is as it should not be'),
    };
  },
};

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
      const last = steps.at(-1);
      const reason = last?.reason ?? describeRefusal(last?.error);
      throw new GuildhallError(
        `${line ?? press}: ${stderr.trim() || [last?.step, last?.outcome, reason].filter(Boolean).join(': ')}`,
        { status, steps, reason },
      );
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
   * that one. What fits: a text that it contains, an expression, a function, or an object as in
   * messageDifferences.
   */
  async waitForMessage(wanted, { after, timeout = PATIENCE_MS } = {}) {
    const fits = typeof wanted === 'function' ? wanted
      : wanted instanceof RegExp ? (m) => wanted.test(m.content)
        : typeof wanted === 'object' ? (m) => !messageDifferences(m, wanted).length
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

  /** The names of all bots. */
  get bots() {
    return Object.keys(this.#tokens).filter((name) => this.#tokens[name].bot);
  }

  /** Any other command of the program, against this server; does not throw if it fails. */
  command(...words) {
    return run(this.binary, [...words, '--data', this.data], Array.from({ length: 256 }, (_, i) => i));
  }

  #run(...words) {
    return run(this.binary, [...words, '--data', this.data]);
  }

  /** Moves the server's clock: '+15m', '+2h'. */
  clock(step) {
    return this.#run('clock', step);
  }

  /** Saves the state of the server. */
  snapshot(name = 'fresh') {
    return this.#run('snapshot', name);
  }

  /** Restores a saved state; clients have to connect again. */
  restore(name = 'fresh') {
    return this.#run('restore', name);
  }

  /** The newest recorded calls and events, the oldest of them first; with `user`, those of an account. */
  async traffic({ user, limit = 100 } = {}) {
    const query = new URLSearchParams({ limit, ...(user && { user }) });
    return (await (await fetch(`${this.url}/console/traffic?${query}`)).json()).records;
  }

  /** Saves the calls and events of a bot to a file for `guildhall replay`. */
  async record(file, bot = this.bots[0]) {
    await rm(file, { force: true }); // the program does not overwrite a file
    return this.#run('record', file, '--user', bot);
  }

  /** Saves a picture of a channel as a person sees it; needs Chromium (its path in CHROMIUM, or `chromium`). */
  async picture(file, { as, channel = 'general' } = {}) {
    const person = this.asUser(as ?? Object.keys(this.#tokens).find((name) => !this.#tokens[name].bot), { channel });
    const { guild_id: guild, id } = await person.call('GET', `/channels/${await person.channelId()}`);
    await takePicture(`${this.url}/channels/${guild}/${id}`, this.token(person.name), file);
    return file;
  }

  /**
   * Adds the last calls and events of the bots to an error, and saves what happened to a folder: a transcript,
   * a recording of each bot and, with `picture`, a picture of a channel.
   */
  async explain(error, { folder = 'guildhall-failures', name = 'failure', limit = 15, picture } = {}) {
    const parts = [];
    try {
      for (const bot of this.bots) {
        const lines = (await this.traffic({ user: bot, limit })).map((record) => `  ${record.line}`);
        parts.push(`last calls and events of ${bot}:`, ...(lines.length ? lines : ['  none: it never connected']));
      }
      const path = resolve(folder, name.replace(/[^\p{L}\p{N}_-]+/gu, '-'));
      await mkdir(folder, { recursive: true });
      await writeFile(`${path}.txt`, `${error?.stack ?? error}\n\n${(await this.traffic({ limit: 200 })).map((r) => r.line).join('\n')}\n`);
      parts.push(`transcript: ${path}.txt`);
      for (const bot of this.bots) {
        await rm(`${path}.${bot}.jsonl`, { force: true });
        const { status } = await this.command('record', `${path}.${bot}.jsonl`, '--user', bot);
        if (status === 0) parts.push(`recording: ${path}.${bot}.jsonl`);
      }
      if (picture) parts.push(`picture: ${await this.picture(`${path}.png`, picture === true ? {} : picture)}`);
    } catch (problem) {
      parts.push(`(more cannot be said: ${problem.message})`);
    }
    if (typeof error?.message === 'string') { // Jest has its own Error
      const before = error.message;
      error.message = `${before}\n\n${parts.join('\n')}`;
      if (error.stack?.includes(before)) error.stack = error.stack.replace(before, () => error.message);
    }
    return error;
  }

  /** Makes calls of a route fail, so many times, or wait: { status: 500, times: 2, delay: '3s' }. */
  fault(route, { status, times, delay } = {}) {
    const words = ['fault', route];
    if (status !== undefined) words.push('--status', String(status));
    if (times !== undefined) words.push('--times', String(times));
    if (delay !== undefined) words.push('--delay', String(delay));
    return this.#run(...words);
  }

  /** The output of the server so far. */
  get log() {
    return this.#said.text;
  }

  /** Ends the server, and takes its folder away. */
  async stop() {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      const ended = new Promise((done) => { this.#process.once('exit', done); });
      this.#process.ref();
      this.#process.kill('SIGTERM');
      await ended;
    }
    await rm(this.#folder, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')]() {
    await this.stop();
  }
}

/**
 * Starts the server; its first line says where it listens. It ends when its standard input ends: also if this
 * process is killed. It does not keep this process alive.
 */
function serve(binary, data, flags) {
  const said = { text: '' };
  const words = ['serve', '--data', data, '--listen', '127.0.0.1:0', '--rate-limits', 'off',
    '--workbench', 'on', '--traffic', '8', '--temporary', 'on', ...flags];
  const child = spawn(binary, words, { stdio: ['pipe', 'pipe', 'pipe'] });
  return new Promise((done, failed) => {
    let listens = false;
    const receive = (text) => {
      said.text += text;
      const found = !listens && /^guildhall: listening on (\S+)$/m.exec(said.text);
      if (!found) return;
      listens = true;
      for (const handle of [child, child.stdin, child.stdout, child.stderr]) handle.unref();
      done({ url: found[1], process: child, said });
    };
    child.stdout.on('data', receive);
    child.stderr.on('data', receive);
    child.stdin.on('error', () => {});
    child.on('error', failed);
    child.on('close', (status) => failed(new GuildhallError(`guildhall serve ended: ${said.text.trim()}`, { status })));
  });
}

// --- worlds -----------------------------------------------------------------------------

/* A world is imported once per process; each server starts on a copy of the imported data. */
const imported = new Map();
const WORLD_FOLDER = 'guildhall-world-';

const isAlive = (pid) => {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code !== 'ESRCH';
  }
};

/** Removes imported worlds of processes that were killed. */
async function removeOldWorlds() {
  for (const name of await readdir(tmpdir())) {
    const pid = name.startsWith(WORLD_FOLDER) && Number(name.slice(WORLD_FOLDER.length).split('-')[0]);
    const path = join(tmpdir(), name);
    if (!pid || isAlive(pid) || lstatSync(path, { throwIfNoEntry: false })?.uid !== process.getuid?.()) continue;
    await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}

async function importWorld(binary, world) {
  if (!imported.size) await removeOldWorlds();
  const folder = await mkdtemp(join(tmpdir(), `${WORLD_FOLDER}${process.pid}-`));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  let file = world;
  if (typeof world !== 'string') {
    file = join(folder, 'world.json');
    await writeFile(file, JSON.stringify(world));
  }
  const data = join(folder, 'data');
  const { stdout } = await run(binary, ['import', file, '--tokens', '--data', data]);
  await writeFile(join(data, 'temporary'), '');
  return { data, tokens: readTokens(stdout) };
}

function importOnce(binary, world) {
  const text = typeof world === 'string' ? `${resolve(world)} ${statSync(world).mtimeMs}` : JSON.stringify(world);
  const key = `${binary} ${text}`;
  if (!imported.has(key)) {
    const made = importWorld(binary, world);
    made.catch(() => imported.delete(key));
    imported.set(key, made);
  }
  return imported.get(key);
}

/**
 * Starts a server from a world (an object, or the path of a file) on a free port.
 * The program is `binary`, the environment's GUILDHALL_BINARY, the one that was installed with this
 * package, or `guildhall` in the path.
 */
export async function startGuildhall({ world, binary = findProgram(), flags = [] }) {
  const { data: template, tokens } = await importOnce(binary, world);
  const folder = await mkdtemp(join(tmpdir(), 'guildhall-'));
  try {
    await cp(template, folder, { recursive: true });
    const server = await serve(binary, folder, flags);
    return new Guildhall({ ...server, binary, data: folder, folder, tokens });
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/**
 * Makes the function of a test that has a server with a fresh world to itself. `bot` starts the bot and returns a
 * function that stops it. If the test fails, its error says what the bots did last (see Guildhall.explain).
 * Works with node:test, Jest and Vitest: test('rolls', withGuildhall({ world, bot }, async (hall) => { … })).
 */
export function withGuildhall({ bot, failures, picture, name, ...options }, body) {
  return async (...context) => {
    const hall = await startGuildhall(options);
    let stopBot;
    try {
      stopBot = await bot?.(hall);
      await body(hall, ...context);
    } catch (error) {
      const title = name ?? context[0]?.task?.name ?? context[0]?.name ?? globalThis.expect?.getState?.().currentTestName;
      throw await hall.explain(error, { folder: failures, name: title, picture });
    } finally {
      try {
        await stopBot?.();
      } finally {
        await hall.stop();
      }
    }
  };
}

// --- pictures ---------------------------------------------------------------------------

/** Opens a page in Chromium as the person with a token, and saves a picture of it. */
async function takePicture(url, token, file) {
  const profile = await mkdtemp(join(tmpdir(), 'guildhall-picture-'));
  const browser = spawn(process.env.CHROMIUM ?? 'chromium', ['--headless=new', '--no-sandbox', '--disable-gpu',
    '--remote-debugging-pipe', '--window-size=1000,800', `--user-data-dir=${profile}`, 'about:blank'],
  { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
  const waiting = new Map();
  let number = 0;
  let text = '';
  const failed = new Promise((_, reject) => {
    browser.once('error', (error) => reject(new GuildhallError(`Chromium cannot be started: ${error.message}`)));
    browser.once('close', () => reject(new GuildhallError('Chromium ended')));
  });
  failed.catch(() => {});
  browser.stdio[4].on('data', (bytes) => {
    text += bytes;
    for (let end = text.indexOf('\0'); end >= 0; end = text.indexOf('\0')) {
      const message = JSON.parse(text.slice(0, end));
      text = text.slice(end + 1);
      waiting.get(message.id)?.(message.result);
    }
  });
  const ask = (method, params = {}, sessionId = undefined) => Promise.race([failed, new Promise((done) => {
    number += 1;
    waiting.set(number, done);
    browser.stdio[3].write(`${JSON.stringify({ id: number, method, params, sessionId })}\0`);
  })]);
  try {
    const { targetId } = await ask('Target.createTarget', { url: new URL('/robots.txt', url).href });
    const { sessionId } = await ask('Target.attachToTarget', { targetId, flatten: true });
    const page = (method, params) => ask(method, params, sessionId);
    const evaluate = async (expression) => (await page('Runtime.evaluate', { expression })).result?.value;
    await eventually(() => evaluate(`location.origin === ${JSON.stringify(new URL(url).origin)}`));
    await evaluate(`sessionStorage.setItem('token', ${JSON.stringify(token)})`);
    await page('Page.navigate', { url });
    await eventually(() => evaluate("document.querySelector('article.message') !== null"), { timeout: 10_000 })
      .catch(() => {}); // an empty channel has no message
    await sleep(300);
    const { data } = await page('Page.captureScreenshot', { format: 'png' });
    await writeFile(file, Buffer.from(data, 'base64'));
  } finally {
    browser.kill('SIGKILL');
    await rm(profile, { recursive: true, force: true, maxRetries: 5 }).catch(() => {});
  }
}
