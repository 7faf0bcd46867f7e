-- Keys, sounds and streams of those who are in voice.

-- A key belongs to a login and goes with it.
-- owner: voice
-- deletion: user_id: it goes with its token
-- world: no, because nobody is in voice after an import
-- export: no, because it is a secret
create table voice_keys (
    token_id bytea not null references tokens (id) on delete cascade,
    key_version bigint not null,
    user_id bigint not null references users (id) on delete cascade,
    point bytea not null, -- compressed
    primary key (token_id, key_version)
) {clustered};

create unique index voice_keys_by_point on voice_keys (point);
create index voice_keys_by_user on voice_keys (user_id);

-- Emoji and sounds of guilds, as far as effects in voice show them.
-- owner: platform/emojis
-- deletion: user_id: stays, because it says who uploaded an emoji
-- world: guilds.emojis
-- export: no, because it belongs to the guild
create table emojis (
    id {id},
    guild_id bigint not null references guilds (id) on delete cascade,
    name text not null,
    animated bigint not null default 0
);

-- owner: platform/sounds
-- deletion: user_id: stays, because it says who uploaded a sound
-- world: guilds.sounds
-- export: no, because it belongs to the guild
create table sounds (
    id {id},
    guild_id bigint not null references guilds (id) on delete cascade,
    name text not null,
    volume double precision not null default 1,
    emoji_id bigint,
    emoji_name text
);

-- A stream belongs to its owner's voice state and ends with it.
-- owner: voice
-- deletion: owner_id, guild_id, channel_id: a stream ends with the voice state of its owner
-- world: no, because nobody is in voice after an import
-- export: no, because it holds for seconds
create table streams (
    owner_id bigint primary key not null references users (id) on delete cascade,
    guild_id bigint not null, -- 0 in private calls
    channel_id bigint not null,
    rtc_server_id bigint not null,
    region text not null,
    paused bigint not null default 0,
    notified bigint not null default 0,
    preview text,             -- hash and extension
    video text,
    uploaded_at bigint not null default 0
) {clustered};

-- Sessions that take part, the owner's own among them. Tokens are made from the salt.
-- owner: voice
-- deletion: user_id: it ends when its person leaves voice
-- world: no, because nobody is in voice after an import
-- export: no, because it holds for seconds
create table stream_sessions (
    owner_id bigint not null references streams (owner_id) on delete cascade,
    user_id bigint not null,
    session_id text not null,
    session_number bigint not null,
    salt bytea not null,
    joined_at bigint not null,
    primary key (owner_id, user_id)
) {clustered};

create index stream_sessions_by_user on stream_sessions (user_id);
