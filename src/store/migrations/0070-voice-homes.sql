-- Where several servers share the database: which of them carries a room of voice, a channel or a
-- stream. identity 0: none, until one is there that can.
-- owner: voice
create table voice_homes (
    room_id bigint primary key not null,
    identity bigint not null
);
create index voice_homes_by_identity on voice_homes (identity);
-- postgres:
-- Where clients reach the voice that a server carries; empty: it carries none, or no more.
alter table nodes add column voice text not null default '';
