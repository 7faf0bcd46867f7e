-- What a guild shows to those who are not in it yet, its own code for invites, and what it has
-- stopped for a while.
-- owner: platform/onboarding
-- world: guilds.welcome_screen
create table guild_welcome_screens (
    guild_id bigint primary key,
    enabled smallint not null,
    description text,
    channels text not null -- JSON
);
alter table guilds add column widget_enabled smallint not null default 0;
alter table guilds add column widget_channel_id bigint;
alter table guilds add column vanity_code text;
alter table guilds add column vanity_uses bigint not null default 0;
alter table guilds add column invites_disabled_until bigint; -- microseconds
alter table guilds add column dms_disabled_until bigint;
create unique index guilds_by_vanity_code on guilds (vanity_code);
