/* bot.mjs - the bot that the examples test, and its world. */
import { Client } from 'discord.js';

export const world = {
  users: [{ username: 'ada' }],
  applications: [{ name: 'Dice', owner: 'ada', bot: 'dice' }],
  guilds: [{
    name: 'Test',
    owner: 'ada',
    channels: [{ name: 'general' }],
    members: [{ user: 'dice' }],
    applications: [{ application: 'Dice', by: 'ada' }],
  }],
};

/** Starts the bot against a server; returns a function that stops it. */
export async function bot(hall) {
  const client = new Client({ intents: ['Guilds', 'GuildMessages', 'MessageContent'], rest: { api: hall.api } });
  client.on('messageCreate', async (m) => {
    if (m.content === 'ping') await m.reply({ content: 'pong', embeds: [{ title: 'Answer' }] });
  });
  const ready = new Promise((done) => { client.once('clientReady', done); });
  await client.login(hall.token('dice'));
  await ready;
  return () => client.destroy();
}
