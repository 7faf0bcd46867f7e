// rare_features_js.js - a discord.js bot that uses rare features: thread members, tags of posts,
// announcements, sounds, application emoji, guild counts, automod actions and polls.
//
//   node rare_features_js.js API TOKEN
const { ChannelType, Client, Events, GatewayIntentBits: Intent, MessageFlags } = require('discord.js');

const [api, token] = process.argv.slice(2);
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);
const FRAME = Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0x64]), Buffer.alloc(413)]);
const MP3 = Buffer.concat(Array(10).fill(FRAME));
const client = new Client({
  rest: { api },
  intents: [
    Intent.Guilds, Intent.GuildMembers, Intent.GuildMessages, Intent.GuildExpressions, Intent.GuildWebhooks,
    Intent.GuildMessageReactions, Intent.GuildMessagePolls, Intent.AutoModerationExecution,
  ],
});
const say = (...words) => process.stdout.write(words.join(' ') + '\n');

/** Waits for the first event that matches; other events of its kind may arrive before. */
function received(event, meant = () => true) {
  return new Promise((resolve) => {
    const listen = (...facts) => {
      if (!meant(...facts)) return;
      client.off(event, listen);
      resolve(facts);
    };
    client.on(event, listen);
  });
}

async function fillThread(guild, channel) {
  const thread = await channel.threads.create({ name: 'aside', type: ChannelType.PublicThread });
  let received = received(Events.ThreadMembersUpdate, (added) => added.has(guild.ownerId));
  await thread.members.add(guild.ownerId);
  say('joined', (await received)[2].name, (await thread.members.fetch()).size);
  received = received(Events.ThreadMembersUpdate, (_, removed) => removed.has(guild.ownerId));
  await thread.members.remove(guild.ownerId);
  say('removed', (await received)[2].memberCount);
  received = received(Events.ThreadMembersUpdate, (_, removed) => removed.has(client.user.id));
  await thread.leave();
  say('left', (await received)[2].memberCount);
}

async function tagPosts(forum) {
  let received = received(Events.ChannelUpdate, (_, now) => now.id === forum.id && now.availableTags.length === 1);
  await forum.setAvailableTags([{ name: 'bug' }]);
  const tag = (await received)[1].availableTags[0];
  const post = await forum.threads.create({ name: 'idea', message: { content: 'first' }, appliedTags: [tag.id] });
  say('tagged', tag.name, post.appliedTags[0] === tag.id);
  received = received(Events.ThreadUpdate, (_, now) => now.id === post.id && now.appliedTags.length === 0);
  await post.setAppliedTags([]);
  say('untagged', (await received)[1].appliedTags.length); // the reply may have emptied the earlier one too
}

async function publish(guild, channel) {
  const events = guild.channels.cache.find((c) => c.type === ChannelType.GuildAnnouncement);
  let received = received(Events.WebhooksUpdate, (c) => c.id === channel.id);
  await events.addFollower(channel);
  await received;
  const message = await events.send('extra');
  received = received(Events.MessageCreate, (m) => m.flags.has(MessageFlags.IsCrosspost));
  await message.crosspost();
  const [copy] = await received;
  say('news', copy.channelId === channel.id, copy.reference.messageId === message.id);
}

async function ring(guild) {
  let received = received(Events.GuildSoundboardSoundCreate);
  const sound = await guild.soundboardSounds.create({ file: MP3, name: 'ding', contentType: 'audio/mpeg' });
  say('sound', (await received)[0].name, (await guild.soundboardSounds.fetch()).size);
  received = received(Events.GuildSoundboardSoundUpdate);
  await sound.edit({ name: 'dong', volume: 0.5 });
  say('louder', (await received)[1].name, (await received)[1].volume);
  received = received(Events.GuildSoundboardSoundDelete);
  await sound.delete();
  say('silent', (await received)[0].soundId === sound.soundId);
}

async function useOwnEmoji(channel) {
  const { emojis } = client.application;
  const made = await emojis.create({ attachment: PNG, name: 'own' });
  const message = await channel.send(`${made}`);
  const received = received(Events.MessageReactionAdd, (reaction) => reaction.message.id === message.id);
  await message.react(made);
  say('own', (await emojis.fetch()).first().name, (await received)[0].emoji.id === made.id);
  say('renamed', (await emojis.edit(made, { name: 'mine' })).name);
  await emojis.delete(made);
  say('own', (await emojis.fetch()).size);
}

async function inspectNumbers(guild) {
  const preview = await client.fetchGuildPreview(guild);
  say('preview', preview.name, preview.approximateMemberCount);
  const counts = await guild.roles.fetchMemberCounts();
  say('counts', counts.get(guild.roles.cache.find((r) => r.name === 'all').id));
  say('prunes', await guild.members.prune({ dry: true, days: 30 }));
  say('pruned', await guild.members.prune({ days: 30, count: false }));
}

async function guard(guild) {
  const rule = await guild.autoModerationRules.create({ name: 'Cats', eventType: 1, triggerType: 1,
    triggerMetadata: { keywordFilter: ['cat'] }, actions: [{ type: 1 }], enabled: true });
  const received = received(Events.AutoModerationActionExecution, (done) => done.ruleId === rule.id);
  say('guarded');
  const [done] = await received;
  say('stopped', done.matchedKeyword, done.action.type);
}

async function ask(channel) {
  const answers = [{ text: 'one' }, { text: 'two' }];
  const message = await channel.send({ poll: { question: { text: 'Which?' }, answers, duration: 2 } });
  const mine = (answer) => answer.poll.message.id === message.id;
  const added = received(Events.MessagePollVoteAdd, mine), removed = received(Events.MessagePollVoteRemove, mine);
  say('asked');
  say('voted', (await added)[0].text);
  say('unvoted', (await removed)[0].text);
}

async function goThrough() {
  const guild = client.guilds.cache.first();
  const channel = guild.channels.cache.find((c) => c.type === ChannelType.GuildText);
  await fillThread(guild, channel);
  await tagPosts(guild.channels.cache.find((c) => c.type === ChannelType.GuildForum));
  await publish(guild, channel);
  await ring(guild);
  await useOwnEmoji(channel);
  await inspectNumbers(guild);
  await guard(guild);
  await ask(channel);
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
