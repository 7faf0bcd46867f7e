-- What somebody wants to hear of a guild. guild_id 0: of private channels.
-- owner: platform/guild_settings
-- world: no, because settings and notes are private
-- export: no, because clients keep it
create table user_guild_settings (
    user_id bigint not null references users (id) on delete cascade,
    guild_id bigint not null,
    version bigint not null,
    suppress_everyone bigint not null, -- these two once more, for counts of mentions
    suppress_roles bigint not null,
    settings text not null, -- JSON, as sent out
    primary key (user_id, guild_id)
) {clustered};

create index user_guild_settings_by_guild on user_guild_settings (guild_id);

-- owner: platform/guild_settings
-- world: no, because settings and notes are private
-- export: no, because clients keep it
create table notification_settings (
    user_id {id} references users (id) on delete cascade,
    flags bigint not null
);
