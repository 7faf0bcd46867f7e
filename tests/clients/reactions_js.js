// reactions_js.js - a discord.js bot that uses reactions and emoji, and prints a line for each step.
//
//   node reactions_js.js API TOKEN
const { Client, Events, GatewayIntentBits: Intent } = require('discord.js');

const [api, token] = process.argv.slice(2);
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);
const client = new Client({
  rest: { api },
  intents: [Intent.Guilds, Intent.GuildMessages, Intent.GuildMessageReactions, Intent.GuildExpressions],
});
const say = (...words) => process.stdout.write(words.join(' ') + '\n');
const received = (event) => new Promise((resolve) => client.once(event, (...facts) => resolve(facts)));

async function goThrough() {
  const guild = client.guilds.cache.first();
  let received = received(Events.GuildEmojiCreate);
  const emoji = await guild.emojis.create({ attachment: PNG, name: 'party' });
  say('emojis', 0, 1, (await received)[0].name);
  const channel = guild.channels.cache.find((c) => c.isTextBased());
  let message = await channel.send('hello');
  for (const one of ['\u{1F44D}', emoji]) {
    received = received(Events.MessageReactionAdd);
    await message.react(one);
    const [reaction, user] = await received;
    say('added', reaction.emoji.name, user.username);
  }
  message = await channel.messages.fetch({ message: message.id, force: true });
  say('shown', ...message.reactions.cache.map(
    (r) => `${r.emoji.name}=${r.count}${r.me ? 'True' : 'False'}`));
  const users = await message.reactions.resolve(emoji.id).users.fetch();
  say('users', ...users.map((u) => u.username));
  received = received(Events.MessageReactionRemove);
  await message.reactions.resolve(emoji.id).users.remove(client.user.id);
  say('removed', (await received)[0].emoji.name);
  received = received(Events.MessageReactionRemoveEmoji);
  await message.reactions.resolve('\u{1F44D}').remove();
  say('cleared', (await received)[0].emoji.name);
  await message.react(emoji);
  received = received(Events.MessageReactionRemoveAll);
  await message.reactions.removeAll();
  say('empty', (await received)[0].id === message.id ? 'True' : 'False');
  say('renamed', (await emoji.edit({ name: 'parties' })).name);
  received = received(Events.GuildEmojiDelete);
  await emoji.delete();
  await received;
  say('left', guild.emojis.cache.size);
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
