-- Auto moderation: a guild's rules, and which version of them is in force (0: none is).
-- owner: platform/automod
-- world: guilds.automod
create table automod_rules (
    id {id},
    guild_id bigint not null,
    creator_id bigint not null,
    name text not null,
    event_type bigint not null,
    trigger_type bigint not null,
    enabled bigint not null,
    actions text not null,
    metadata text not null,
    exempt_roles text not null,
    exempt_channels text not null
);

create index automod_rules_by_guild on automod_rules (guild_id);

alter table guilds add column automod_version bigint not null default 0;

-- The last four times that somebody wrote the same, where a rule counts them.
-- owner: platform/automod
-- deletion: user_id: the next message of the account replaces old ones
-- world: no, because it is about the last minutes
-- export: no, because it holds for seconds
create table automod_echoes (
    guild_id bigint not null,
    user_id bigint not null,
    hash bigint not null,
    first_at bigint not null,
    second_at bigint not null,
    third_at bigint not null,
    fourth_at bigint not null,
    primary key (guild_id, user_id, hash)
) {clustered};
