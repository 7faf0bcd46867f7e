// mistakes_js.js - a discord.js bot with the mistakes that bot authors make most often.
//
//   node mistakes_js.js API TOKEN FACTS
//
// Makes the mistakes that need no user, prints "ready", then answers interactions wrongly until it
// is killed. FACTS: JSON with ids of the world.
const { Client, GatewayIntentBits: Intent, REST, Routes } = require('discord.js');

const [api, token, facts] = process.argv.slice(2);
const world = JSON.parse(facts);
const client = new Client({ rest: { api, retries: 0 }, intents: [Intent.Guilds, Intent.GuildMessages] });
const pause = (ms) => new Promise((go) => setTimeout(go, ms));
const raw = (path, init = {}) => fetch(`${api}/v10${path}`, {
  ...init, headers: { Authorization: `Bot ${token}`, 'Content-Type': 'application/json', ...init.headers },
});

// Mistakes that the bot makes by itself. Each is refused.
const mistakes = [
  async () => (await client.channels.fetch(world.readonly)).send('Hello'),
  async () => (await client.channels.fetch(world.talk)).messages.delete(world.message),
  async () => client.rest.get(Routes.channelMessages(world.hidden)),
  async () => client.guilds.fetch(world.other_guild),
  async () => (await (await client.guilds.fetch(world.guild)).members.fetch(world.bob)).roles.add(world.high_role),
  async () => (await client.channels.fetch(world.talk)).send({ content: '' }),
  async () => (await client.channels.fetch(world.talk)).send('a'.repeat(2100)),
  async () => (await client.channels.fetch(world.talk)).send({ embeds: [{ title: 'b'.repeat(257) }] }),
  async () => client.rest.patch(Routes.channelMessage(world.talk, world.message), { body: { content: 'x' } }),
  async () => (await client.channels.fetch(world.talk)).send('1').then((m) => m.react('no-emoji')),
  async () => client.rest.post(Routes.channelMessages('1234567890123456'), { body: { content: 'x' } }),
  async () => client.rest.post(Routes.channelMessages('undefined'), { body: { content: 'x' } }),
  async () => client.application.commands.create({ name: 'Upper Case', description: 'x' }),
  async () => client.rest.put(Routes.applicationCommands(world.other_application), { body: [] }),
  async () => client.rest.get('/users/@me/relationships'),
  async () => client.rest.post(`/webhooks/${world.webhook}/wrong-token`, { body: { content: 'x' }, auth: false }),
  async () => new REST({ api: `${api}/v10`, retries: 0 }).setToken(token).get('/users/@me'),
  async () => new REST({ api, retries: 0 }).setToken('wrong').get('/users/@me'),
  async () => client.channels.fetch(world.guild),
  async () => client.rest.get(Routes.channel(String(Number(world.talk)))),
  async () => { await raw('/users/@me', { headers: { Authorization: `Bot ${undefined}` } }); throw new Error('401'); },
  async () => { // gets an empty list
    await (await client.guilds.fetch(world.guild)).members.fetch();
    throw new Error('no members');
  },
  async () => { // ignores the rate limit
    while ((await raw(`/channels/${world.talk}/typing`, { method: 'POST' })).status !== 429);
    throw new Error('429');
  },
];

// Commands that answer wrongly.
const answers = {
  late: async (i) => { await pause(3100); await i.reply('late'); },
  twice: async (i) => Promise.all([i.reply('one'), i.reply('two')]),
  early: async (i) => { await client.rest.patch(Routes.webhookMessage(world.application, i.token, '@original'), { body: { content: 'x' }, auth: false }).catch(() => {}); await i.reply('x'); },
  long: async (i) => i.reply('c'.repeat(2100)),
  silent: async () => {},
};

client.on('interactionCreate', (i) => answers[i.commandName](i).catch(() => {}));
client.on('error', () => {});
client.once('clientReady', async () => {
  await client.application.commands.set(Object.keys(answers).map((name) => ({ name, description: name })));
  await Promise.all(mistakes.map((make) => make().then(
    () => process.stdout.write(`not refused: ${make}\n`), () => {})));
  process.stdout.write('ready\n');
});
client.login(token);
