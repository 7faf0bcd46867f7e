// integrations_js.js - a discord.js bot that lists and deletes integrations.
//
//   node integrations_js.js API TOKEN
//
// Prints "ready", "listed TYPE NAME ACCOUNT …", "deleted NAME", "changed", "error …"; reads
// "list", "delete NAME" and "end".
const { Client, GatewayIntentBits: Intent } = require('discord.js');

const [api, token] = process.argv.slice(2);
const client = new Client({ rest: { api }, intents: [Intent.Guilds, Intent.GuildIntegrations] });
const say = (...words) => process.stdout.write(words.join(' ') + '\n');
const all = () => client.guilds.cache.first().fetchIntegrations();

function describe(i) {
  const platform = i.syncedAt
    ? [i.syncing, i.expireBehavior, i.expireGracePeriod, i.enableEmoticons ?? false, i.revoked,
       i.syncedAt instanceof Date, i.role?.name ?? 'none'].join('/')
    : [i.application?.name, i.scopes?.join('+')].join('/');
  say('listed', i.type, i.name, i.account.id, i.user?.username ?? 'nobody', platform);
}

const commands = {
  list: async () => {
    for (const i of (await all()).values()) describe(i);
    say('end of list');
  },
  delete: async (name) => {
    await (await all()).find((i) => i.name === name).delete('no longer needed');
    say('deleted', name);
  },
  end: async () => {
    await client.destroy();
    process.exit(0);
  },
};

client.once('clientReady', () => say('ready'));
client.on('guildIntegrationsUpdate', () => say('changed'));
client.on('error', (e) => say('error', e.message));
client.login(token);
require('readline')
  .createInterface({ input: process.stdin })
  .on('line', (line) => {
    const [command, ...rest] = line.trim().split(' ');
    commands[command](rest.join(' ')).catch((e) => say('error', e.message));
  });
