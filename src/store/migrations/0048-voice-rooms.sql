-- What a voice channel tells of itself: its status, and since when somebody is in it.
create table voice_rooms (
    channel_id bigint primary key,
    guild_id bigint not null,
    status text,
    started_at bigint -- seconds; null while nobody is there
);
create index voice_rooms_by_guild on voice_rooms (guild_id);
