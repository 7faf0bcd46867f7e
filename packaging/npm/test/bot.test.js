/* bot.test.js - a bot and its tests, as one would write them. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { eventually, startGuildhall } from '../index.js';

// The library of the bot under test, from where the tests are run.
const { ActionRowBuilder, ButtonBuilder, Client } = createRequire(join(process.cwd(), 'here.js'))('discord.js');

const world = {
  users: [{ username: 'ada' }, { username: 'bob' }],
  applications: [{ name: 'Dice', owner: 'ada', bot: 'dice' }],
  guilds: [{
    name: 'Test',
    owner: 'ada',
    channels: [{ name: 'general' }, { name: 'games' }],
    members: [{ user: 'bob' }, { user: 'dice' }],
    applications: [{ application: 'Dice', by: 'ada' }],
  }],
};

let hall;
let bot;

/** The bot under test. */
async function startBot() {
  const client = new Client({ intents: ['Guilds', 'GuildMessages', 'MessageContent'], rest: { api: hall.api, retries: 3 } });
  client.on('interactionCreate', async (i) => {
    if (i.isButton()) {
      await i.update({ content: `${i.user.username} says ${i.customId}`, components: [] });
    } else if (i.commandName === 'roll') {
      await i.reply(`A die of ${i.options.getInteger('sides')}`);
    } else if (i.commandName === 'tea') {
      const button = new ButtonBuilder().setCustomId('yes').setLabel('Yes').setStyle(1);
      await i.reply({ content: 'Tea?', components: [new ActionRowBuilder().addComponents(button)] });
    }
  });
  client.on('messageCreate', async (m) => {
    if (m.content === 'ping') await m.reply('pong');
  });
  client.once('clientReady', () => client.application.commands.set([
    { name: 'roll', description: 'Roll a die', options: [{ name: 'sides', description: 'How many', type: 4, required: true }] },
    { name: 'tea', description: 'Ask for tea' },
  ]));
  await client.login(hall.token('dice'));
  return client;
}

before(async () => {
  hall = await startGuildhall({ world });
  bot = await startBot();
  await eventually(() => hall.asUser('ada').slash('/roll sides:1'));
});

after(async () => {
  await bot?.destroy();
  await hall?.stop();
});

test('a command is answered', async () => {
  const answer = await hall.asUser('ada').slash('/roll sides:6');
  assert.equal(answer.content, 'A die of 6');
});

test('a button is pressed', async () => {
  const answer = await hall.asUser('bob').slash('/tea', { press: 'yes' });
  assert.equal(answer.content, 'bob says yes');
});

test('what is refused says why', async () => {
  await assert.rejects(hall.asUser('ada').slash('/roll'), (error) => error.status === 3);
  await assert.rejects(hall.asUser('ada').slash('/nothing'), (error) => error.status === 2);
  assert.throws(() => hall.asUser('nobody'), /no account 'nobody'/);
});

test('a message is answered', async () => {
  const bob = hall.asUser('bob', { channel: 'games' });
  const said = await bob.say('ping');
  const pong = await bob.waitForMessage('pong', { after: said });
  assert.equal(pong.message_reference.message_id, said.id);
  await bob.react(pong, '👍');
  await assert.rejects(bob.waitForMessage(/never/, { timeout: 100 }), /the last ones:[^]*dice: pong/);
});

test('calls fail and time passes on demand', async () => {
  const bob = hall.asUser('bob', { channel: 'games' });
  await hall.fault('POST /channels/*/messages', { status: 503, times: 1 });
  await assert.rejects(bob.say('lost'), (error) => error.status === 503);
  const before = await bob.say('now');
  await hall.clock('+2h');
  const later = await bob.say('later');
  assert.ok(Date.parse(later.timestamp) - Date.parse(before.timestamp) >= 2 * 3600e3);
});

test('the types name what there is', async () => {
  const types = await readFile(new URL('../index.d.ts', import.meta.url), 'utf8');
  for (const [kind, thing] of Object.entries({ Guildhall: hall, Person: hall.asUser('ada') })) {
    const body = new RegExp(`^export interface ${kind} {\n(.*?)^}$`, 'ms').exec(types)[1];
    const named = [...body.matchAll(/^  (?:readonly )?(\w+)[(:]/gm)].map((found) => found[1]);
    const there = [...Object.keys(thing), ...Object.getOwnPropertyNames(Object.getPrototypeOf(thing))];
    assert.deepEqual(named.sort(), there.filter((name) => name !== 'constructor').sort());
  }
});
