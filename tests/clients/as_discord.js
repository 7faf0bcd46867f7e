// as_discord.js - a bot that knows nothing but its token, with one of several libraries.
//
//   TOKEN=… node as_discord.js discord.js|discord.js-12|discord.js-13|eris|eris-0.16
//
// Prints "ready NAMES", "heard TEXT" and "file STATUS TEXT"; answers "!ping" with an embed and a file,
// fetches that file by its URL, and with discord.js 14 joins the voice channel ("voice HOST").
const https = require('https');

const [name] = process.argv.slice(2);
const library = require(name);
const say = (...words) => process.stdout.write(words.join(' ') + '\n');
const embed = { title: 'pong', fields: [{ name: 'library', value: name }] };

function fetchFile(url) {
  https.get(url, (response) => {
    const pieces = [];
    response.on('data', (piece) => pieces.push(piece));
    response.on('end', () => say('file', response.statusCode, Buffer.concat(pieces)));
  });
}

const discordJs = {
  make: () => {
    const flags = library.GatewayIntentBits ?? library.Intents.FLAGS;
    const intents = Object.keys(flags)
      .filter((key) => /^(guilds|guild_?messages|message_?content|guild_?voice_?states)$/i.test(key))
      .map((key) => flags[key]);
    return new library.Client({ intents });
  },
  names: (client) => client.guilds.cache.map((guild) => guild.name),
  answer: async (message) => {
    const file = { attachment: Buffer.from(name), name: 'library.txt' };
    const sent = await message.channel.send(
      name === 'discord.js-12' ? { embed, files: [file] } : { embeds: [embed], files: [file] });
    fetchFile(sent.attachments.first().url);
    await sent.react('👍');
  },
};
const eris = {
  make: () => new library.Client(`Bot ${process.env.TOKEN}`, {
    intents: ['guilds', 'guildMessages', 'messageContent'].filter((i) => library.Constants.Intents[i]),
    restMode: true,
  }),
  names: (client) => client.guilds.map((guild) => guild.name),
  answer: async (message) => {
    const sent = await message.channel.createMessage(
      { embed, embeds: [embed] }, { name: 'library.txt', file: Buffer.from(name) });
    fetchFile(sent.attachments[0].url ?? sent.attachments.values().next().value.url);
    await sent.addReaction('👍');
  },
};

function joinVoice(client) {
  const voice = require('@discordjs/voice');
  const channel = client.channels.cache.find((c) => c.name === 'lounge');
  const connection = voice.joinVoiceChannel({
    channelId: channel.id, guildId: channel.guild.id, adapterCreator: channel.guild.voiceAdapterCreator,
  });
  client.ws.on('VOICE_SERVER_UPDATE', (update) => say('endpoint', update.endpoint));
  voice.entersState(connection, voice.VoiceConnectionStatus.Ready, 60_000)
    .then(() => say('voice ready'), (e) => say('error', e.message));
}

const adapter = name.startsWith('eris') ? eris : discordJs;
const client = adapter.make();
const readyEvent = name === 'discord.js' ? 'clientReady' : 'ready';
const messageEvent = name === 'discord.js-12' ? 'message' : 'messageCreate';
client.once(readyEvent, () => {
  say('ready', adapter.names(client).join());
  if (name === 'discord.js') joinVoice(client);
});
client.on(messageEvent, (message) => {
  if (message.author.bot) return;
  say('heard', message.content);
  if (message.content === '!ping') adapter.answer(message).catch((e) => say('error', e.message));
});
client.on('error', (e) => say('error', e.message));
Promise.resolve(adapter === eris ? client.connect() : client.login(process.env.TOKEN)).catch((e) => {
  say('error', e.message);
  process.exit(1);
});
