// voice_audio_js.js - a voice bot on @discordjs/voice that is controlled by lines.
//
//   node voice_audio_js.js API TOKEN SHARDS
//
// Prints "ready", "connection STATE", "heard USER FRAME", "said WORD"; reads "join CHANNEL",
// "hear USER" (answered when the SSRC of USER is known), "say WORD COUNT" and "end". A frame is a word and a number.
const { once } = require('node:events');
const { Readable } = require('node:stream');
const { Client, GatewayIntentBits: Intent } = require('discord.js');
const voice = require('@discordjs/voice');

const [api, token] = process.argv.slice(2);
const client = new Client({ rest: { api }, intents: [Intent.Guilds, Intent.GuildVoiceStates] });
const say = (...words) => process.stdout.write(words.join(' ') + '\n');
const guild = () => client.guilds.cache.first();
const player = voice.createAudioPlayer();
const announced = new Set(); // SSRCs announced on this connection
let connection;

const commands = {
  join: async (name) => {
    const channel = guild().channels.cache.find((c) => c.name === name);
    connection = voice.joinVoiceChannel({
      channelId: channel.id,
      guildId: guild().id,
      adapterCreator: guild().voiceAdapterCreator,
      selfDeaf: false,
    });
    connection.subscribe(player);
    connection.receiver.ssrcMap.on('update', (was, now) => announced.add(now.userId));
    let last;
    connection.on('stateChange', (was, now) => {
      if (now.status === last) return;
      if (now.status === 'ready') connection.setSpeaking(true);
      else announced.clear();
      say('connection', (last = now.status));
    });
    connection.on('error', (e) => say('trouble', e.message));
    // As in the library's guide: a connection that does not recover within five seconds is
    // destroyed.
    connection.on(voice.VoiceConnectionStatus.Disconnected, () =>
      Promise.race([
        voice.entersState(connection, voice.VoiceConnectionStatus.Signalling, 5_000),
        voice.entersState(connection, voice.VoiceConnectionStatus.Connecting, 5_000),
      ]).catch(() => connection.destroy()));
  },
  receive: async (name) => {
    const id = (await guild().members.search({ query: name })).first().id;
    const { receiver } = connection;
    if (!receiver.subscriptions.has(id))
      receiver
        .subscribe(id, { end: { behavior: voice.EndBehaviorType.Manual } })
        .on('data', (frame) => {
          if (!frame.equals(Buffer.from([0xf8, 0xff, 0xfe]))) say('heard', name, frame.toString());
        });
    while (!announced.has(id)) await once(receiver.ssrcMap, 'update');
    say('hears', name);
  },
  say: async (word, count) => {
    const frames = Array.from({ length: Number(count) }, (_, i) => Buffer.from(`${word}-${i}`));
    const resource = voice.createAudioResource(Readable.from(frames), {
      inputType: voice.StreamType.Opus,
    });
    player.once(voice.AudioPlayerStatus.Idle, () => say('said', word));
    player.play(resource);
  },
  end: async () => {
    connection?.destroy();
    await client.destroy();
    process.exit(0);
  },
};

client.once('clientReady', () => say('ready'));
client.on('error', (e) => say('trouble', e.message));
player.on('error', (e) => say('error', e.message));
client.login(token).catch((e) => {
  say('error', e.message);
  process.exit(1);
});
require('readline')
  .createInterface({ input: process.stdin })
  .on('line', (line) => {
    const [name, ...rest] = line.trim().split(' ');
    commands[name](...rest).catch((e) => say('error', e.message));
  });
