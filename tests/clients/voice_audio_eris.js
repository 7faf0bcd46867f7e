// voice_audio_eris.js - an eris voice bot that is controlled by the same lines as voice_audio_js.js.
//
//   node voice_audio_eris.js API TOKEN SHARDS
//
// Only the port of API is used, because eris always uses https.
const { once } = require('node:events');
const https = require('node:https');
const Eris = require('eris');

const [api, token] = process.argv.slice(2);
const agent = new https.Agent();
agent.defaultPort = Number(new URL(api).port);
const bot = new Eris(`Bot ${token}`, {
  intents: ['guilds', 'guildVoiceStates'],
  opusOnly: true,
  rest: { agent, domain: '127.0.0.1', baseURL: '/api/v10' },
});
const say = (...words) => process.stdout.write(words.join(' ') + '\n');
const guild = () => bot.guilds.find(() => true);
const names = new Map();
let connection;

const commands = {
  join: async (name) => {
    connection = await bot.joinVoiceChannel(guild().channels.find((c) => c.name === name).id);
    connection.on('error', (e) => say('error', e.message));
    connection.on('disconnect', () => say('connection disconnected'));
    connection.receive('opus').on('data', (frame, id) => {
      if (names.has(id) && frame.length > 3) say('heard', names.get(id), Buffer.from(frame));
    });
    connection.setSpeaking(1);
    say('connection ready');
  },
  receiveValue: async (name) => {
    const [member] = await guild().searchMembers(name);
    names.set(member.id, name);
    while (!Object.values(connection.ssrcUserMap).includes(member.id))
      await once(connection, 'speakingStart');
    say('hears', name);
  },
  say: async (word, count) => {
    for (let i = 0; i < Number(count); i++) {
      connection.sendAudioFrame(Buffer.from(`${word}-${i}`));
      await new Promise((done) => setTimeout(done, 5));
    }
    say('said', word);
  },
  end: async () => {
    bot.disconnect({ reconnect: false });
    process.exit(0);
  },
};

bot.once('ready', () => say('ready'));
bot.on('error', (e) => say('error', e.message));
bot.connect();
require('readline')
  .createInterface({ input: process.stdin })
  .on('line', (line) => {
    const [name, ...rest] = line.trim().split(' ');
    commands[name](...rest).catch((e) => say('error', e.message));
  });
