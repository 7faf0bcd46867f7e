-- What newcomers of a guild are asked, and what they answered.
-- owner: platform/onboarding
-- world: guilds.onboarding
create table guild_onboarding (
    guild_id bigint primary key,
    version bigint not null, -- another one with every change
    enabled smallint not null,
    mode smallint not null,
    prompts text not null,         -- JSON
    default_channels text not null -- JSON: ids
);
-- owner: platform/onboarding
-- deletion: user_id: they go when the account leaves the guild
-- world: no, because answers to onboarding stay behind
-- export: no, because the guild asked for it
create table onboarding_answers (
    guild_id bigint not null,
    user_id bigint not null,
    options text not null,       -- JSON: ids
    prompts_seen text not null,  -- JSON
    responses_seen text not null,
    primary key (guild_id, user_id)
);
