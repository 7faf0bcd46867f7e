-- What a voice channel tells of itself: its status, and since when somebody is in it.
-- owner: voice
-- deletion: channel_id, guild_id: deleted by the hooks channel_ending and guild_ending
-- world: no, because nobody is in voice after an import
create table voice_rooms (
    channel_id bigint primary key,
    guild_id bigint not null,
    status text,
    started_at bigint -- seconds; null while nobody is there
);
create index voice_rooms_by_guild on voice_rooms (guild_id);
