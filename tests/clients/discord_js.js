// discord_js.js - a discord.js bot that is controlled by lines.
//
//   node discord_js.js API TOKEN SHARDS
//
// Prints "ready NAMES", "heard TEXT", "members N", "resumed"; reads "members",
// "drop" (its sockets are cut) and "end".
const { Client, GatewayIntentBits: Intent } = require('discord.js');

const [api, token, shards] = process.argv.slice(2);
const client = new Client({
  rest: { api },
  shards: Number(shards) > 1 ? [...Array(Number(shards)).keys()] : undefined,
  shardCount: Number(shards),
  intents: [Intent.Guilds, Intent.GuildMembers, Intent.GuildMessages, Intent.MessageContent],
});
const say = (...words) => process.stdout.write(words.join(' ') + '\n');
const names = () => client.guilds.cache.map((g) => g.name).sort().join();

// Aborts the sockets of the shard manager like a broken network.
function drop() {
  for (const shard of client.ws._ws.strategy.shards.values()) shard.connection.terminate();
}

const commands = {
  drop,
  members: async () => say('members', (await client.guilds.cache.first().members.fetch()).size),
  end: async () => {
    await client.destroy();
    process.exit(0);
  },
};

client.once('clientReady', () => say('ready', names()));
client.on('messageCreate', (m) => say('heard', m.content));
client.on('shardResume', () => say('resumed'));
client.on('error', (e) => say('error', e.message));
client.login(token).catch((e) => {
  say('error', e.message);
  process.exit(1);
});
require('readline')
  .createInterface({ input: process.stdin })
  .on('line', (line) => commands[line.trim()]());
