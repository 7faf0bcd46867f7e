// as_discord.js - a bot that knows nothing but its token, with one of several libraries.
//
//   TOKEN=… node as_discord.js LIBRARY
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

const oceanic = {
  make: () => new library.Client({
    auth: `Bot ${process.env.TOKEN}`, gateway: { intents: ['GUILDS', 'GUILD_MESSAGES', 'MESSAGE_CONTENT'] },
  }),
  names: (client) => client.guilds.map((guild) => guild.name),
  answer: async (message, client) => {
    const file = { name: 'library.txt', contents: Buffer.from(name) };
    const sent = await client.rest.channels.createMessage(message.channelID, { embeds: [embed], files: [file] });
    fetchFile(sent.attachments.first().url);
    await sent.createReaction('👍');
  },
};
const dysnomia = {
  make: () => new library.Client(`Bot ${process.env.TOKEN}`, {
    gateway: { intents: ['guilds', 'guildMessages', 'messageContent'] }, restMode: true,
  }),
  names: (client) => client.guilds.map((guild) => guild.name),
  answer: async (message) => {
    const file = { filename: 'library.txt', file: Buffer.from(name) };
    const sent = await message.channel.createMessage({ embeds: [embed], attachments: [file] });
    fetchFile([...sent.attachments.values()][0].url);
    await sent.addReaction('👍');
  },
};
/** Detritus emits one object per event; it logs in with run(). */
const detritus = {
  make: () => {
    const client = new library.ShardClient(process.env.TOKEN, { gateway: { intents: ['GUILDS', 'GUILD_MESSAGES'] } });
    const { on } = client;
    client.once = (event, work) => on.call(client, 'guildCreate', work); // the guilds come after "gatewayReady"
    client.on = (event, work) => on.call(client, event, (got) => work(got.message ?? got));
    return client;
  },
  names: (client) => client.guilds.map((guild) => guild.name),
  answer: async (message) => {
    const sent = await message.reply({ embed, file: { filename: 'library.txt', value: Buffer.from(name) } });
    fetchFile(sent.attachments.first().url);
    await sent.react('👍');
  },
  login: (client) => client.run(),
};
/** CloudStorm is a gateway without a cache, SnowTransfer its client for the REST interface. */
const cloudstorm = {
  make: () => {
    const { SnowTransfer } = require('snowtransfer');
    const rest = new SnowTransfer(process.env.TOKEN);
    const client = new library.Client(process.env.TOKEN, {
      intents: ['GUILDS', 'GUILD_MESSAGES', 'MESSAGE_CONTENT'], snowtransferInstance: rest,
    });
    client.on('event', ({ t: event, d: data }) => {
      if (event === 'GUILD_CREATE') client.guildNames = [data.name];
      if (event === 'GUILD_CREATE') client.emit('firstGuild');
      if (event === 'MESSAGE_CREATE') client.emit('messageCreate', data);
    });
    const { once } = client;
    client.once = (event, work) => once.call(client, 'firstGuild', work);
    return Object.assign(client, { restOfTest: rest });
  },
  names: (client) => client.guildNames,
  answer: async (message, { restOfTest: rest }) => {
    const file = { name: 'library.txt', file: Buffer.from(name) };
    const sent = await rest.channel.createMessage(message.channel_id, { embeds: [embed], files: [file] });
    fetchFile(sent.attachments[0].url);
    await rest.channel.createReaction(message.channel_id, sent.id, encodeURIComponent('👍'));
  },
  login: (client) => client.connect(),
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

const adapters = {
  eris, 'eris-0.16': eris, 'oceanic.js': oceanic, '@projectdysnomia/dysnomia': dysnomia,
  'detritus-client': detritus, cloudstorm,
};
const adapter = adapters[name] ?? discordJs;
const client = adapter.make();
const readyEvent = name === 'discord.js' ? 'clientReady' : 'ready';
const messageEvent = name === 'discord.js-12' ? 'message' : 'messageCreate';
const logIn = adapter.login ?? ((c) => (c.login ? c.login(process.env.TOKEN) : c.connect()));
client.once(readyEvent, () => {
  say('ready', adapter.names(client).join());
  if (name === 'discord.js') joinVoice(client);
});
client.on(messageEvent, (message) => {
  if (message.author.bot) return;
  say('heard', message.content);
  if (message.content === '!ping') adapter.answer(message, client).catch((e) => say('error', e.message));
});
client.on('error', (e) => say('error', e.message));
Promise.resolve(logIn(client)).catch((e) => {
  say('error', e.message);
  process.exit(1);
});
