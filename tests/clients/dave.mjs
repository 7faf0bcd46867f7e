// dave.mjs - sessions of @snazzah/davey against the server's side of DAVE.
//
//   node dave.mjs DAVE_ROOM
//
// DAVE_ROOM is the program of dave_room.c. Each client behaves like @discordjs/voice. All members must have the
// same verification code after each story, and must be able to decrypt each other's audio.
import assert from 'node:assert';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import davey from '@snazzah/davey';

const CHANNEL = '900';
const ACCEPTED = 0;
const REFUSED = 2;

class Client {
  constructor(room, user) {
    Object.assign(this, { room, user, version: 0, ops: [], executed: 0 });
  }

  start() {
    this.session ??= new davey.DAVESession(1, this.user, CHANNEL);
    this.session.reinit(1, this.user, CHANNEL);
    this.room.queue('package', this.user, this.session.getSerializedKeyPackage().toString('hex'));
  }

  process(transition, run) {
    try {
      run();
      if (transition) this.room.queue('ready', this.user, transition);
    } catch (error) {
      this.room.invalid++;
      this.room.queue('invalid', this.user, transition);
      this.start();
    }
  }

  receive(op, text) {
    this.ops.push(op);
    if (op === 21 || op === 22 || op === 24) return this.receiveJson(op, JSON.parse(text));
    const payload = Buffer.from(text, 'hex');
    if (op === 25) this.session.setExternalSender(payload);
    if (op === 27) {
      const users = [...this.room.clients.keys()];
      const { commit, welcome } = this.session.processProposals(payload[0], payload.subarray(1), users);
      if (commit && !this.silent) this.room.queue('commit', this.user, Buffer.concat([commit, welcome ?? Buffer.alloc(0)]).toString('hex'));
    }
    const body = payload.subarray(2);
    if (op === 29 && this.damaged) body[body.length - 1] ^= 1;
    if (op === 29 || op === 30) this.damaged = false;
    if (op === 29) this.process(payload.readUInt16BE(0), () => this.session.processCommit(body));
    if (op === 30) this.process(payload.readUInt16BE(0), () => this.session.processWelcome(body));
  }

  receiveJson(op, data) {
    if (op === 21) {
      if (data.transition_id) this.room.queue('ready', this.user, data.transition_id);
      else this.version = data.protocol_version;
      this.next = data.protocol_version;
    }
    if (op === 22) {
      this.executed = data.transition_id;
      if (this.next !== undefined) this.version = this.next;
    }
    if (op === 24 && data.epoch === 1) {
      this.version = data.protocol_version;
      this.next = undefined;
      this.start();
    }
  }
}

class Room {
  constructor(program) {
    Object.assign(this, { clients: new Map(), waiting: [], now: 1000, invalid: 0, accepted: 0 });
    this.child = spawn(program, [CHANNEL], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.lines = createInterface({ input: this.child.stdout })[Symbol.asyncIterator]();
  }

  queue(...event) {
    this.waiting.push(event);
  }

  async run(event, user, argument = '') {
    this.child.stdin.write(`${this.now} ${event} ${user} ${argument}\n`);
    for (;;) {
      const { value } = await this.lines.next();
      const [word, first, second, rest] = value.split(' ');
      if (word === 'done') {
        this.due = BigInt(second);
        if (event === 'commit' && Number(first) === ACCEPTED) this.accepted++;
        if (event === 'package') assert.notEqual(Number(first), REFUSED, 'the key package is valid');
        return Number(first);
      }
      this.clients.get(first)?.receive(Number(second), rest);
    }
  }

  // Runs all events that clients have caused, and timers that are due within so many milliseconds.
  async settle(milliseconds = 1000) {
    const end = this.now + milliseconds;
    for (;;) {
      while (this.waiting.length) await this.run(...this.waiting.shift());
      if (this.due > BigInt(end)) break;
      this.now = Math.max(this.now, Number(this.due));
      await this.run('tick', 0);
    }
    this.now = end;
  }

  async join(user, version = 1) {
    const client = new Client(this, user);
    this.clients.set(user, client);
    client.version = await this.run('join', user, version);
    if (client.version) client.start();
    await this.run('described', user, client.version);
    return client;
  }

  async leave(user) {
    this.clients.delete(user);
    await this.run('leave', user);
  }

  check(story, users) {
    const members = users.map((user) => this.clients.get(user));
    const codes = new Set(members.map((m) => m.session.voicePrivacyCode));
    assert.equal(codes.size, 1, `${story}: all have the same code`);
    assert.notEqual([...codes][0], '', `${story}: there is a code`);
    for (const m of members) assert.deepEqual(m.session.getUserIds().sort(), [...users].sort(), story);
    const frame = Buffer.alloc(20, 7);
    for (const from of members) {
      const sealed = from.session.encryptOpus(frame);
      assert.notDeepEqual(sealed, frame);
      for (const to of members) {
        if (to !== from) assert.deepEqual(to.session.decrypt(from.user, davey.MediaType?.AUDIO ?? 0, sealed), frame, story);
      }
    }
    console.log(`${story}: ${[...codes][0]}`);
  }

  close() {
    this.child.stdin.end();
  }
}

const room = new Room(process.argv[2]);
await room.join('1');
await room.settle();
await room.join('2');
await room.settle();
room.check('two members', ['1', '2']);
assert.equal(room.clients.get('1').executed, 0);

await room.join('3');
await room.join('4');
await room.settle();
room.check('two join at once', ['1', '2', '3', '4']);
assert.ok(room.clients.get('1').executed > 0);

await room.leave('2');
await room.settle();
room.check('a member leaves', ['1', '3', '4']);

await room.join('2');
await room.settle();
room.check('the member returns', ['1', '2', '3', '4']);
assert.equal(room.clients.get('2').session.ownLeafIndex, 1);

await room.leave('1');
await room.join('1');
await room.settle();
room.check('a member leaves and returns at once', ['1', '2', '3', '4']);

await room.join('5');
while (room.waiting.length && room.waiting[0][0] !== 'commit') await room.run(...room.waiting.shift());
await room.leave('5');
await room.settle();
room.check('a member leaves between its Add and the commit', ['1', '2', '3', '4']);

assert.equal(room.invalid, 0, 'nothing was invalid so far');
room.clients.get('3').damaged = true;
await room.leave('4');
await room.settle();
room.check('a member recovers from an invalid commit', ['1', '2', '3']);
assert.ok(room.invalid > 0);

await room.join('9', 0);
await room.settle();
assert.deepEqual(['1', '2', '3'].map((user) => room.clients.get(user).version), [0, 0, 0]);
await room.leave('9');
await room.settle();
room.check('the room is upgraded', ['1', '2', '3']);
assert.deepEqual(['1', '2', '3'].map((user) => room.clients.get(user).version), [1, 1, 1]);

for (const client of room.clients.values()) client.silent = true;
await room.join('4');
await room.settle(100);
for (const client of room.clients.values()) client.silent = false;
await room.settle(5000);
room.check('a new group after nobody committed', ['1', '2', '3', '4']);

for (const user of ['1', '2', '3']) await room.leave(user);
await room.settle();
assert.equal(room.clients.get('4').session.getUserIds().length <= 1, true);
await room.join('1');
await room.settle();
room.check('a sole member gets company', ['1', '4']);

const pending = new Room(process.argv[2]);
for (const user of ['1', '2', '3']) await pending.join(user);
while (pending.waiting.length && pending.waiting[0][0] === 'package') await pending.run(...pending.waiting.shift());
await pending.leave('2');
await pending.settle();
pending.check('a member leaves before the first commit', ['1', '3']);

const replaced = new Room(process.argv[2]);
for (const user of ['1', '2', '3']) await replaced.join(user);
while (replaced.waiting.length && replaced.waiting[0][0] === 'package') await replaced.run(...replaced.waiting.shift());
replaced.waiting.length = 0;
replaced.queue('package', '2', replaced.clients.get('2').session.getSerializedKeyPackage().toString('hex'));
await replaced.settle();
replaced.check('a key package is replaced before the first commit', ['1', '2', '3']);

const returning = new Room(process.argv[2]);
for (const user of ['1', '2', '3']) await returning.join(user);
while (returning.waiting.length && returning.waiting[0][0] === 'package') await returning.run(...returning.waiting.shift());
returning.waiting.length = 0;
await returning.leave('2');
await returning.join('2');
await returning.settle();
returning.check('a member returns before the first commit', ['1', '2', '3']);

const left = new Room(process.argv[2]);
for (const user of ['1', '2']) await left.join(user);
while (left.waiting.length && left.waiting[0][0] === 'package') await left.run(...left.waiting.shift());
await left.leave('2');
await left.settle();
await left.join('3');
await left.settle();
left.check('the other of two leaves before the first commit', ['1', '3']);

const large = new Room(process.argv[2]);
const many = Array.from({ length: 22 }, (_, i) => String(i + 1));
for (const user of many) await large.join(user);
await large.settle(4000);
large.check('22 members', many);
for (const user of many.slice(5, 15)) await large.leave(user);
for (const user of ['101', '102', '103']) await large.join(user);
await large.settle(8000);
large.check('10 leave and 3 join', [...many.slice(0, 5), ...many.slice(15), '101', '102', '103']);

for (const one of [room, pending, replaced, returning, left, large]) one.close();
