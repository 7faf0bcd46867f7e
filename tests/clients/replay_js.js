// replay_js.js - a small discord.js bot that the replay test records and replays.
//
//   node replay_js.js API TOKEN [changed]
//
// With "changed" it answers differently, leaves out a call and makes another one.
const { ActionRowBuilder, ButtonBuilder, Client } = require('discord.js');

const [api, token, changed] = process.argv.slice(2);
const client = new Client({ intents: ['Guilds', 'GuildMessages', 'MessageContent'], rest: { api } });

client.on('messageCreate', async (m) => {
  if (m.content !== 'ping') return;
  await m.reply(changed ? 'PONG' : 'pong');
  if (changed) await m.channel.sendTyping();
  else await m.react('👍');
});
client.on('interactionCreate', async (i) => {
  if (i.isButton()) {
    await i.update({ content: `${i.user.username} says ${i.component.label}`, components: [] });
    return;
  }
  const button = new ButtonBuilder().setCustomId('yes').setLabel('Yes').setStyle(1);
  await i.deferReply();
  await i.editReply({ content: 'Tea?', components: [new ActionRowBuilder().addComponents(button)] });
});
client.once('clientReady', () => client.application.commands.set([{ name: 'tea', description: 'Ask' }]));
client.login(token);
