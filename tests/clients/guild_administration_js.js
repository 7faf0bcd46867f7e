// guild_administration_js.js - a discord.js bot that administers a guild.
//
//   node guild_administration_js.js API TOKEN
const { once } = require('node:events');
const { Client, GatewayIntentBits: Intent } = require('discord.js');

const [api, token] = process.argv.slice(2);
const client = new Client({ rest: { api }, intents: [Intent.Guilds] });
const say = (...words) => process.stdout.write(words.join(' ') + '\n');

async function keepTemplate(guild) {
  const made = await guild.createTemplate('Base', 'Plain');
  const fetched = await client.fetchGuildTemplate(made.code);
  say('template', fetched.name, fetched.serializedGuild.roles[1].name, fetched.usageCount);
  say('synced', (await made.sync()).unSynced);
  await made.delete();
  say((await guild.fetchTemplates()).size === 0 ? 'gone' : 'still there');
}

async function askNewcomers(guild) {
  const options = [{ title: 'One', emoji: '\u{1F525}', roles: [], channels: [] }];
  const made = await guild.editOnboarding({ prompts: [{ title: 'Which?', options }] });
  const prompt = (await guild.fetchOnboarding()).prompts.first();
  say('onboarding', made.prompts.first().title, prompt.options.first().title);
}

async function showItself(guild) {
  const talk = guild.channels.cache.first();
  const welcomeChannels = [{ channel: talk, description: 'Talk', emoji: '\u{1F525}' }];
  const screen = await guild.editWelcomeScreen({ enabled: true, description: 'Hello', welcomeChannels });
  // The library reads this from the guild's features, which an event updates.
  while (!guild.features.includes('WELCOME_SCREEN_ENABLED')) await once(client, 'guildUpdate');
  say('welcome', screen.description, (await guild.fetchWelcomeScreen()).enabled);
  await guild.setWidgetSettings({ enabled: true, channel: talk });
  const { enabled } = await guild.fetchWidgetSettings();
  say('widget', enabled, (await guild.fetchWidget()).presenceCount);
  const stopped = await guild.setIncidentActions({ invitesDisabledUntil: new Date(Date.now() + 3600e3) });
  say('incidents', stopped.invitesDisabledUntil > new Date());
}

async function planAndGuard(guild) {
  const scheduledStartTime = new Date(Date.now() + 3600e3);
  const event = await guild.scheduledEvents.create({ name: 'Walk', scheduledStartTime,
    scheduledEndTime: new Date(Date.now() + 7200e3), privacyLevel: 2, entityType: 3,
    entityMetadata: { location: 'The park' } });
  say('event', (await guild.scheduledEvents.fetch(event.id)).entityMetadata.location);
  const rule = await guild.autoModerationRules.create({ name: 'Cats', eventType: 1, triggerType: 1,
    triggerMetadata: { keywordFilter: ['cat'] }, actions: [{ type: 1 }] });
  say('rule', (await guild.autoModerationRules.fetch(rule.id)).triggerMetadata.keywordFilter[0]);
  const thread = await guild.channels.cache.first().threads.create({ name: 'Side' });
  const { entries } = await guild.fetchAuditLogs();
  const target = (action) => entries.find((entry) => entry.action === action).target.name;
  say('log', target(100), target(140), target(110), thread.name);
  say('sounds', (await guild.soundboardSounds.fetch()).size);
}

async function goThrough() {
  const guild = client.guilds.cache.first();
  await keepTemplate(guild);
  await askNewcomers(guild);
  await showItself(guild);
  await planAndGuard(guild);
  say('vanity', (await guild.fetchVanityData()).code);
}

client.once('clientReady', async () => {
  say('ready');
  await goThrough().catch((e) => say('error', e.message));
  await client.destroy();
  process.exit(0);
});
client.login(token).catch((e) => {
  say('error', e.message);
  process.exit(1);
});
