-- Commands of apps: their definitions, who may use them where, how often they are used.
-- owner: commands
-- world: commands
create table commands (
    id {id},
    application_id bigint not null references applications (id) on delete cascade,
    guild_id bigint not null default 0, -- 0: global
    type bigint not null,
    name text not null,
    version bigint not null,
    default_member_permissions bigint,
    nsfw bigint not null default 0,
    contexts bigint not null,          -- set of bits: where it can be used
    integration_types bigint not null, -- set of bits: how it must be installed
    locales bigint not null default 0, -- set of bits: languages that it has words in
    used_day bigint not null default 0, -- when it was last used, in days since 1970
    hidden bigint not null default 0,  -- the definition has parts that nobody is shown
    plain text not null,               -- JSON, as it is listed to those who have no words of their own
    unique (application_id, guild_id, type, name)
);

create index commands_by_scope on commands (application_id, guild_id, id);
create index commands_by_use on commands (application_id, used_day);
create index commands_by_guild on commands (guild_id) where guild_id <> 0;

-- The commands of a scope as lists and indexes show them, in one piece: their texts, and
-- numbers to choose from them by.
-- owner: commands
-- world: no, because it is made from the commands
create table command_lists (
    application_id bigint not null references applications (id) on delete cascade,
    guild_id bigint not null, -- 0: global
    entries bytea not null,
    texts text not null,
    primary key (application_id, guild_id)
);

-- All of a command, as JSON. Apart from it, because lists and indexes seldom need it.
-- owner: commands
create table command_definitions (
    command_id {id} references commands (id) on delete cascade,
    definition text not null
);

-- target_id: a command, or an application for all its commands without rows of their own.
-- owner: commands
-- world: no, because each server decides who may use a command
create table command_permissions (
    guild_id bigint not null references guilds (id) on delete cascade,
    target_id bigint not null,
    entity_id bigint not null, -- role, user or channel; the guild: everyone; the guild - 1: all channels
    type bigint not null,      -- 1 role, 2 user, 3 channel
    application_id bigint not null references applications (id) on delete cascade,
    permission bigint not null,
    position bigint not null,
    primary key (guild_id, target_id, entity_id, type)
) {clustered};

create index command_permissions_by_target on command_permissions (target_id);
create index command_permissions_by_entity on command_permissions (entity_id, guild_id);
create index command_permissions_by_application on command_permissions (application_id);

-- Commands made in the last day, also those that are gone again.
-- owner: commands
-- world: no, because it counts what was made in a day
create table command_creates (
    application_id bigint not null references applications (id) on delete cascade,
    guild_id bigint not null, -- 0: global
    id bigint not null,
    primary key (application_id, guild_id, id)
) {clustered};

-- owner: commands
create table command_uses (
    command_id bigint not null references commands (id) on delete cascade,
    day bigint not null, -- since 1970
    uses bigint not null,
    primary key (command_id, day)
) {clustered};

-- When what an index shows last changed: of a guild, an account, an application, a channel.
-- owner: commands
create table command_indexes (
    id {id},
    version bigint not null,
    told_at bigint not null default 0 -- applications: when guilds last heard of it
);
