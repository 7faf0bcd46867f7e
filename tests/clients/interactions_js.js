// interactions_js.js - a discord.js app with a command for each kind
// of callback.
//
//   node interactions_js.js API TOKEN
//
// Registers its commands, prints "ready", then handles interactions until it is killed.
const {
  ActionRowBuilder, ApplicationCommandType, ButtonBuilder, ButtonStyle, Client,
  ContextMenuCommandBuilder, GatewayIntentBits: Intent, MessageFlags, ModalBuilder,
  SlashCommandBuilder, StringSelectMenuBuilder, TextInputBuilder, TextInputStyle,
} = require('discord.js');

const [api, token] = process.argv.slice(2);
const client = new Client({ rest: { api }, intents: [Intent.Guilds] });
const say = (...words) => process.stdout.write(words.join(' ') + '\n');
const cities = ['Oslo', 'Osaka', 'Lima'];

const slash = (name) => new SlashCommandBuilder().setName(name).setDescription(`Tests ${name}`);
const everything = slash('all').addSubcommandGroup((group) =>
  group.setName('kinds').setDescription('Kinds').addSubcommand((sub) =>
    sub.setName('of').setDescription('Of options')
      .addStringOption((o) => o.setName('text').setDescription('x').setRequired(true))
      .addIntegerOption((o) => o.setName('whole').setDescription('x').setMinValue(1))
      .addBooleanOption((o) => o.setName('truth').setDescription('x'))
      .addUserOption((o) => o.setName('who').setDescription('x'))
      .addChannelOption((o) => o.setName('where').setDescription('x'))
      .addRoleOption((o) => o.setName('role').setDescription('x'))
      .addMentionableOption((o) => o.setName('any').setDescription('x'))
      .addNumberOption((o) => o.setName('number').setDescription('x'))
      .addStringOption((o) => o.setName('pick').setDescription('x')
        .addChoices({ name: 'First', value: '1st' }, { name: 'Second', value: '2nd' }))
      .addAttachmentOption((o) => o.setName('file').setDescription('x'))));
const commands = [
  slash('reply').addStringOption((o) => o.setName('text').setDescription('x').setRequired(true)),
  slash('defer'), slash('regret'), slash('follow'), slash('secret'), slash('buttons'), slash('form'), slash('silent'),
  slash('broken'),
  slash('find').addStringOption((o) => o.setName('city').setDescription('x').setAutocomplete(true)),
  everything,
  new ContextMenuCommandBuilder().setName('Wave').setType(ApplicationCommandType.User),
  new ContextMenuCommandBuilder().setName('Quote this').setType(ApplicationCommandType.Message),
];

const row = (...parts) => new ActionRowBuilder().addComponents(...parts);
const form = () => new ModalBuilder().setCustomId('form').setTitle('A form').addComponents(
  row(new TextInputBuilder().setCustomId('name').setLabel('Name').setStyle(TextInputStyle.Short)));
const buttons = () => [
  row(new ButtonBuilder().setCustomId('ok').setLabel('OK').setStyle(ButtonStyle.Primary),
    new ButtonBuilder().setCustomId('ask').setLabel('Ask').setStyle(ButtonStyle.Secondary),
    new ButtonBuilder().setCustomId('later').setLabel('Later').setStyle(ButtonStyle.Secondary)),
  row(new StringSelectMenuBuilder().setCustomId('pick').setMaxValues(2)
    .addOptions({ label: 'A', value: 'a' }, { label: 'B', value: 'b' })),
];

function values(o) {
  return [
    `${o.getSubcommandGroup()} ${o.getSubcommand()}`, o.getString('text'), o.getInteger('whole'),
    o.getBoolean('truth'), o.getUser('who')?.username, o.getMember('who')?.id === o.getUser('who')?.id,
    o.getChannel('where')?.name, o.getRole('role')?.name, o.getMentionable('any')?.user?.username,
    o.getNumber('number'), o.getString('pick'), o.getAttachment('file')?.name,
  ].join('|');
}

const answers = {
  reply: (i) => i.reply(`You said ${i.options.getString('text')}`),
  async regret(i) {
    await i.deferReply();
    await i.deleteReply();
  },
  async defer(i) {
    await i.deferReply();
    await i.editReply('Done');
  },
  async follow(i) {
    const { resource } = await i.reply({ content: 'One', withResponse: true });
    const two = await i.followUp('Two');
    await i.followUp({ content: `Three after ${resource.message.content}`, flags: MessageFlags.Ephemeral });
    await i.webhook.editMessage(two, 'Two, edited');
  },
  secret: (i) => i.reply({ content: 'Only for you', flags: MessageFlags.Ephemeral }),
  buttons: (i) => i.reply({ content: 'Choose', components: buttons() }),
  form: (i) => i.showModal(form()),
  silent: () => {},
  broken: (i) => i.reply('').catch((e) => i.reply(`Refused with ${e.code}, then answered`)),
  all: (i) => i.reply(values(i.options)),
  Wave: (i) => i.reply(`Waves at ${i.targetUser.username}, a member: ${i.targetMember !== null}`),
  'Quote this': (i) => i.reply(`> ${i.targetMessage.content}`),
  find: (i) => i.reply(`Found ${i.options.getString('city')}`),
  ok: (i) => i.update({ content: `Pressed by ${i.user.username}`, components: [] }),
  ask: (i) => i.showModal(form()),
  async later(i) {
    await i.deferUpdate();
    await i.editReply({ content: 'Changed later' });
  },
  pick: (i) => i.reply(`Chose ${i.values.join()}`),
};

client.on('interactionCreate', async (i) => {
  try {
    if (i.isAutocomplete()) {
      const typed = i.options.getFocused();
      await i.respond(cities.filter((c) => c.startsWith(typed)).map((c) => ({ name: c, value: c.toLowerCase() })));
    } else if (i.isModalSubmit()) {
      const text = `Hello ${i.fields.getTextInputValue('name')}`;
      await (i.isFromMessage() ? i.update({ content: text, components: [] }) : i.reply(text));
    } else {
      await answers[i.isMessageComponent() ? i.customId : i.commandName](i);
    }
  } catch (e) {
    say('error', e.message.replaceAll('\n', ' '));
  }
});
client.once('clientReady', async () => {
  await client.application.commands.set(commands);
  say('ready');
});
client.on('error', (e) => say('error', e.message));
client.login(token).catch((e) => {
  say('error', e.message);
  process.exit(1);
});
