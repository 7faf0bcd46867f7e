// seyfert_js.js - a seyfert bot that is controlled by the same lines as discord_js.js.
//
//   node seyfert_js.js API TOKEN SHARDS
//
// Only the port of API is used for the gateway, because seyfert always connects to the default port
// of https. Seyfert loses data that arrives together with the upgrade response.
const https = require('node:https');
const { ApiHandler, Logger, ShardManager } = require('seyfert');

const [api, token, shards] = process.argv.slice(2);
const { origin, port } = new URL(api);
https.globalAgent.defaultPort = Number(port);
Logger.customize(() => undefined); // standard output is for the test's lines
const GUILDS = 1, MEMBERS = 2, MESSAGES = 512, CONTENT = 32768;
const say = (...words) => process.stdout.write(words.join(' ') + '\n');
const guilds = new Map();
let manager, ready = 0;

const events = {
  RAW_GUILD_CREATE: (d) => guilds.set(d.id, d.name),
  GUILDS_READY: () => {
    if (++ready === Number(shards)) say('ready', [...guilds.values()].sort().join());
  },
  MESSAGE_CREATE: (d) => say('heard', d.content),
  GUILD_MEMBERS_CHUNK: (d) => say('members', d.members.length),
  RESUMED: () => say('resumed'),
};

const commands = {
  drop: () => manager.forEach((shard) => shard.websocket.internal.socket.destroy()),
  members: () =>
    manager.send(0, { op: 8, d: { guild_id: [...guilds.keys()][0], query: '', limit: 0 } }),
  end: () => process.exit(0),
};

async function main() {
  const rest = new ApiHandler({ token, domain: origin });
  manager = new ShardManager({
    token,
    info: await rest.proxy.gateway.bot.get(),
    intents: GUILDS | MEMBERS | MESSAGES | CONTENT,
    totalShards: Number(shards),
    handlePayload: (_, packet) => events[packet.t]?.(packet.d),
  });
  await manager.spawnShards();
}

main().catch((e) => {
  say('error', e.message);
  process.exit(1);
});
require('readline')
  .createInterface({ input: process.stdin })
  .on('line', (line) => commands[line.trim()]());
