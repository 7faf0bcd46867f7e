-- A guild that is being removed: nothing finds it, and what hangs on it goes in steps.
alter table guilds add column removed bigint not null default 0;

-- Where the end of a guild or a channel has to look for what it leaves behind.
create index attachments_by_channel on attachments (channel_id, id);
create index direct_channels_by_channel on direct_channels (channel_id);
create index stage_instances_by_guild on stage_instances (guild_id);
create index emojis_by_guild on emojis (guild_id);
create index sounds_by_guild on sounds (guild_id);
create index command_lists_by_guild on command_lists (guild_id) where guild_id <> 0;
create index command_creates_by_guild on command_creates (guild_id) where guild_id <> 0;
