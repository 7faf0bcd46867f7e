// voice_js.js - a discord.js bot that reads voice states and moves members, controlled by lines.
//
//   node voice_js.js API TOKEN SHARDS
//
// Prints "ready IN-VOICE", "voice USER FROM TO mute=…", "regions IDS", "state …"; reads
// "move USER CHANNEL", "mute USER", "disconnect USER", "regions", "state USER", "join CHANNEL"
// and "end".
const { Client, GatewayIntentBits: Intent } = require('discord.js');

const [api, token] = process.argv.slice(2);
const client = new Client({ rest: { api }, intents: [Intent.Guilds, Intent.GuildVoiceStates] });
const say = (...words) => process.stdout.write(words.join(' ') + '\n');
const guild = () => client.guilds.cache.first();
const member = async (name) => {
  const state = guild().voiceStates.cache.find((s) => s.member?.user.username === name);
  return state ? state.member : (await guild().members.search({ query: name })).first();
};
const location = (channel) => channel?.name ?? 'none';

const commands = {
  move: async (name, channel) =>
    (await member(name)).voice.setChannel(guild().channels.cache.find((c) => c.name === channel)),
  mute: async (name) => (await member(name)).voice.setMute(true, 'too loud'),
  disconnect: async (name) => (await member(name)).voice.disconnect(),
  regions: async () => say('regions', [...(await client.fetchVoiceRegions()).keys()].join()),
  state: async (name) => {
    const s = await guild().voiceStates.fetch((await member(name)).id, { force: true });
    say('state', location(s.channel), `mute=${s.serverMute}`, `self=${s.selfMute}`);
  },
  join: async (channel) => {
    const id = guild().channels.cache.find((c) => c.name === channel).id;
    guild().shard.send({ op: 4, d: { guild_id: guild().id, channel_id: id, self_mute: false } });
  },
  end: async () => {
    await client.destroy();
    process.exit(0);
  },
};

client.once('clientReady', () => {
  const there = guild().voiceStates.cache.map((s) => location(s.channel));
  say('ready', there.join() || 'nobody');
});
client.on('voiceStateUpdate', (was, now) =>
  say('voice', now.member.user.username, location(was.channel), location(now.channel),
      `mute=${now.serverMute}`));
client.ws.on('VOICE_SERVER_UPDATE', (d) => say('server', d.token.length, String(d.endpoint)));
client.on('error', (e) => say('error', e.message));
client.login(token).catch((e) => {
  say('error', e.message);
  process.exit(1);
});
require('readline')
  .createInterface({ input: process.stdin })
  .on('line', (line) => {
    const [name, ...rest] = line.trim().split(' ');
    commands[name](...rest).catch?.((e) => say('error', e.message));
  });
