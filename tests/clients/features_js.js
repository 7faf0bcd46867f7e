// features_js.js - a discord.js bot that uses threads, posts, stickers, polls, entitlements and forwards.
//
//   node features_js.js API TOKEN
const { ChannelType, Client, Events, GatewayIntentBits: Intent, MessageType } = require('discord.js');

const [api, token] = process.argv.slice(2);
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);
const client = new Client({
  rest: { api },
  intents: [Intent.Guilds, Intent.GuildMessages, Intent.GuildExpressions, Intent.GuildMessagePolls, Intent.MessageContent],
});
const say = (...words) => process.stdout.write(words.join(' ') + '\n');
const received = (event) => new Promise((resolve) => client.once(event, (...facts) => resolve(facts)));

async function openThreads(guild, channel) {
  let received = received(Events.ThreadCreate);
  const thread = await channel.threads.create({ name: 'aside', type: ChannelType.PublicThread });
  say('thread', (await received)[0].name, (await thread.send('in it')).content);
  received = received(Events.ThreadUpdate);
  await thread.setArchived(true);
  say('archived', (await received)[1].archived);
  const forum = guild.channels.cache.find((c) => c.type === ChannelType.GuildForum);
  const post = await forum.threads.create({ name: 'idea', message: { content: 'first' } });
  say('post', (await post.fetchStarterMessage()).content);
}

async function stick(guild, channel) {
  let received = received(Events.GuildStickerCreate);
  const sticker = await guild.stickers.create({ file: PNG, name: 'wave', tags: 'hand' });
  say('sticker', (await received)[0].name);
  const message = await channel.send({ stickers: [sticker] });
  say('stuck', message.stickers.first().name);
  received = received(Events.GuildStickerDelete);
  await sticker.delete();
  say('unstuck', (await received)[0].name);
}

async function ask(channel) {
  const answers = [{ text: 'one', emoji: '\u{1F525}' }, { text: 'two' }];
  const message = await channel.send({
    poll: { question: { text: 'Which?' }, answers, duration: 2, allowMultiselect: false },
  });
  say('poll', message.poll.question.text, message.poll.answers.map((a) => a.text).join());
  const received = new Promise((resolve) => client.on(Events.MessageCreate, (m) => {
    if (m.type === MessageType.PollResult) resolve(m.type);
  }));
  const ended = await message.poll.end();
  say('ended', ended.poll.resultsFinalized, await received);
}

async function entitle(guild) {
  const sku = (await client.application.fetchSKUs()).first();
  let received = received(Events.EntitlementCreate);
  const given = await client.application.entitlements.createTest({ sku: sku.id, guild });
  const skus = await client.application.entitlements.fetch({ guild });
  say('granted', (await received)[0].id === skus.first().id && sku.name);
  received = received(Events.EntitlementUpdate);
  await given.consume();
  say('used', (await received)[1].consumed);
  received = received(Events.EntitlementDelete);
  await client.application.entitlements.deleteTest(given);
  await received;
  say('taken', 'back');
}

async function goThrough() {
  const guild = client.guilds.cache.first();
  const channel = guild.channels.cache.find((c) => c.type === ChannelType.GuildText);
  await openThreads(guild, channel);
  await stick(guild, channel);
  await ask(channel);
  await entitle(guild);
  const message = await channel.send('hello');
  const forward = await message.forward(channel);
  say('forward', forward.messageSnapshots.first().content);
}

client.once('clientReady', async () => {
  say('ready');
  await goThrough().catch((e) => say('error', e.message));
  await client.destroy();
  process.exit(0);
});
client.login(token).catch((e) => {
  say('error', e.message);
  process.exit(1);
});
