// discord_js_commands.js - a discord.js bot that registers commands, controlled by
// lines.
//
//   node discord_js_commands.js API TOKEN SHARDS
//
// Prints "ready NAMES", then for each line it reads "saw JSON" or "error TEXT", and "told ID"
// for permissions that changed.
const {
  ApplicationCommandType: Type,
  Client,
  ContextMenuCommandBuilder,
  GatewayIntentBits: Intent,
  PermissionFlagsBits: Right,
  SlashCommandBuilder,
} = require('discord.js');

const [api, token] = process.argv.slice(2);
const client = new Client({ rest: { api }, intents: [Intent.Guilds] });
const say = (...words) => process.stdout.write(words.join(' ') + '\n');
const commands = () => client.application.commands;
let extra;

const paint = new SlashCommandBuilder()
  .setName('paint')
  .setNameLocalizations({ de: 'malen', fr: null })
  .setDescription('Paints')
  .setDefaultMemberPermissions(Right.ManageGuild)
  .addSubcommand((sub) =>
    sub
      .setName('wall')
      .setDescription('A wall')
      .addStringOption((o) =>
        o
          .setName('color')
          .setDescription('Which')
          .setRequired(true)
          .addChoices(
            { name: 'Red', value: 'red', name_localizations: { de: 'Rot' } },
            { name: 'Blue', value: 'blue' },
          ),
      )
      .addNumberOption((o) => o.setName('size').setDescription('How large').setMinValue(0.5)),
  )
  .addSubcommandGroup((group) =>
    group
      .setName('more')
      .setDescription('More')
      .addSubcommand((sub) =>
        sub
          .setName('thing')
          .setDescription('A thing')
          .addChannelOption((o) => o.setName('where').setDescription('Where').addChannelTypes(0, 5))
          .addIntegerOption((o) => o.setName('n').setDescription('N').setAutocomplete(true))
          .addAttachmentOption((o) => o.setName('file').setDescription('File')),
      ),
  );
const wave = new ContextMenuCommandBuilder().setName('Wave At').setType(Type.User);
const quote = new ContextMenuCommandBuilder().setName('Quote It').setType(Type.Message);
const all = [paint, wave, quote];

const shown = (c) => ({ id: c.id, name: c.name, description: c.description, version: c.version });
const many = (set) => ({
  names: [...set.values()].map((c) => c.name),
  versions: [...set.values()].map((c) => c.version),
});

const actions = {
  set: async () => many(await commands().set(all)),
  create: async () => {
    extra = await commands().create({ name: 'extra', description: 'Extra' });
    return shown(extra);
  },
  edit: async () => shown(await commands().edit(extra, { description: 'Changed' })),
  fetch: async () => shown(await commands().fetch(extra.id, { force: true })),
  delete: async () => {
    await commands().delete(extra);
    return (await commands().fetch({ withLocalizations: true, force: true })).size;
  },
  guild: async (id) => {
    const here = (await client.guilds.fetch(id)).commands;
    await here.set([paint]);
    const one = await here.create({ name: 'local', description: 'Here' });
    await here.edit(one, { nameLocalizations: { de: 'hier' } });
    await here.create({ name: 'gone', description: 'Gone' }).then((c) => here.delete(c));
    return many(await here.fetch());
  },
  permissions: async (id) => {
    const here = (await client.guilds.fetch(id)).commands;
    return [...(await here.permissions.fetch()).values()].flat();
  },
  refuse: async () => {
    try {
      await commands().create({ name: 'Not Good', description: 'x' });
    } catch (e) {
      return { status: e.status, code: e.code, text: e.message };
    }
    return null;
  },
};

client.once('clientReady', async () => {
  await client.application.fetch();
  say('ready', client.guilds.cache.map((g) => g.name).sort().join());
});
client.on('applicationCommandPermissionsUpdate', (p) => say('told', p.id));
client.login(token).catch((e) => {
  say('error', e.message);
  process.exit(1);
});
require('readline')
  .createInterface({ input: process.stdin })
  .on('line', async (line) => {
    const [name, ...rest] = line.trim().split(' ');
    if (name === 'end') {
      await client.destroy();
      process.exit(0);
    }
    actions[name](...rest).then(
      (saw) => say('saw', JSON.stringify(saw)),
      (e) => say('error', e.stack.replaceAll('\n', ' ')),
    );
  });
