/* bot.test.js - a bot and its tests, as one would write them. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { eventually, expectMessage, matchers, messageDifferences, startGuildhall, withGuildhall } from '../index.js';

// The library of the bot under test, from where the tests are run.
const { ActionRowBuilder, ButtonBuilder, Client, LabelBuilder, ModalBuilder, TextInputBuilder } = createRequire(join(process.cwd(), 'here.js'))('discord.js');

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
async function startBot(hall) {
  const client = new Client({ intents: ['Guilds', 'GuildMessages', 'MessageContent'], rest: { api: hall.api, retries: 3 } });
  client.on('interactionCreate', async (i) => {
    if (i.isButton()) {
      await i.update({ content: `${i.user.username} says ${i.customId}`, components: [] });
    } else if (i.commandName === 'roll') {
      await i.reply(`A die of ${i.options.getInteger('sides')}`);
    } else if (i.commandName === 'ask') {
      const text = new TextInputBuilder().setCustomId('text').setStyle(1).setMinLength(5);
      await i.showModal(new ModalBuilder().setCustomId('form').setTitle('Form').addLabelComponents(
        new LabelBuilder().setLabel('Text').setTextInputComponent(text)));
    } else if (i.isModalSubmit()) {
      await i.reply({ content: i.fields.getTextInputValue('text'), flags: 64 });
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
    { name: 'ask', description: 'Show a form' },
  ]));
  await client.login(hall.token('dice'));
  return client;
}

before(async () => {
  hall = await startGuildhall({ world });
  bot = await startBot(hall);
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

test('a refused form says why', async () => {
  const ada = hall.asUser('ada');
  const answer = await ada.slash('/ask', { fill: 'text:enough' });
  expectMessage(answer, { content: 'enough', ephemeral: true });
  await assert.rejects(ada.slash('/ask', { fill: 'text:few' }), /refused: Invalid Form Body: .*Must be (between )?5/);
});

test('a command of the program gives its status', async () => {
  assert.equal((await hall.command('clock', 'nonsense')).status, 2);
  assert.equal((await hall.command('snapshot')).status, 0);
  await assert.rejects(hall.clock('nonsense'), (error) => error.status === 2);
});

test('matchers name each difference', async () => {
  const { message } = await hall.asUser('ada').slash('/tea');
  const fits = { content: /^Tea/, author: 'dice', embeds: [], components: ['yes', { label: 'Yes', style: 1 }] };
  assert.deepEqual(messageDifferences(message, fits), []);
  assert.equal(expectMessage(message, fits), message);
  assert.ok(matchers.toMatchMessage(message, fits).pass);
  assert.deepEqual(messageDifferences(message, { content: 'Coffee?', ephemeral: true, embeds: [{ title: 'x' }], components: ['no'] }), [
    'content is "Tea?" instead of "Coffee?"',
    'ephemeral is false instead of true',
    'embeds has 0 entries instead of 1',
    'embeds.0 is absent instead of {"title":"x"}',
    'no component is "no"; there are: yes',
  ]);
  assert.throws(() => expectMessage(message, { content: 'x' }), /the message is not as expected: content is "Tea\?" instead of "x"/);
  assert.match(matchers.toMatchMessage(message, { content: 'x' }).message(), /instead of "x"/);
  await hall.asUser('ada').waitForMessage({ author: 'dice', components: ['yes'] });
});

test('a failure says what the bot did last', async () => {
  const failures = await mkdtemp(join(tmpdir(), 'failures-'));
  const run = withGuildhall({ world, failures, bot: async (own) => {
    const client = await startBot(own);
    return () => client.destroy();
  } }, async (own) => {
    assert.notEqual(own.url, hall.url);
    const said = await own.asUser('ada').say('ping');
    await own.asUser('ada').waitForMessage('pong', { after: said });
    assert.equal('pong', 'PONG');
  });
  try {
    await assert.rejects(run({ name: 'pings / pongs' }), (error) => {
      assert.match(error.stack, /last calls and events of dice:[^]*<- +MESSAGE_CREATE[^]*POST +\/api\/v10\/channels/);
      assert.match(error.message, /transcript: .*pings-pongs\.txt\nrecording: .*pings-pongs\.dice\.jsonl$/);
      return true;
    });
    assert.match(await readFile(join(failures, 'pings-pongs.txt'), 'utf8'), /'pong'[^]*MESSAGE_CREATE/);
    assert.match(await readFile(join(failures, 'pings-pongs.dice.jsonl'), 'utf8'), /^{"guildhall_recording":1/);
  } finally {
    await rm(failures, { recursive: true });
  }
});

test('many tests have a fresh world each', async () => {
  const count = Number(process.env.FRESH_WORLDS ?? 10);
  const start = Date.now();
  for (let i = 0; i < count; i += 1) {
    await withGuildhall({ world }, async (own) => {
      assert.deepEqual((await own.asUser('ada').messages()).length, 0);
      await own.asUser('ada').say('mine');
    })();
  }
  console.log(`${count} fresh worlds: ${Date.now() - start} ms`);
  const together = await Promise.all(Array.from({ length: 4 }, () => startGuildhall({ world })));
  assert.equal(new Set(together.map((own) => own.url)).size, 4);
  await together[0].asUser('ada').say('mine');
  assert.equal((await together[1].asUser('ada').messages()).length, 0);
  await Promise.all(together.map((own) => own.stop()));
});

test('a snapshot is restored', async () => {
  await withGuildhall({ world }, async (own) => {
    const ada = own.asUser('ada');
    await ada.say('one');
    await own.snapshot();
    await ada.say('two');
    await own.restore();
    assert.deepEqual((await ada.messages()).map((m) => m.content), ['one']);
  })();
});

test('the server ends with its test, also if the test is killed', async () => {
  const script = `import { startGuildhall } from ${JSON.stringify(new URL('../index.js', import.meta.url).href)};
    const hall = await startGuildhall({ world: ${JSON.stringify(world)} });
    console.log(hall.url + ' ' + hall.data);
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout.on('data', (text) => { printed += text; });
  await eventually(() => printed.includes('\n'));
  const [url, data] = printed.trim().split(' ');
  assert.ok((await fetch(`${url}/healthz`)).ok && existsSync(data));
  child.kill('SIGKILL');
  await eventually(() => fetch(`${url}/healthz`).then(() => false, () => true));
  await eventually(() => !existsSync(data));
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
