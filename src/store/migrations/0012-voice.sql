-- Who is in voice, and on which node; calls in private channels.

-- A process that holds voice states says now and then that it lives. What is left of
-- one that no longer does is cleared by the others, or by itself when it is back.
-- owner: voice
create table voice_nodes (
    node bigint primary key not null,
    expires_at bigint not null
) {clustered};

-- Server mute and deafness are the member's. The voice token is made from the user's
-- id, this salt and the server's key, and kept nowhere.
-- owner: voice
-- deletion: guild_id, channel_id, user_id: people leave voice by the hooks guild_ending, channel_ending and member_leaving
-- world: no, because nobody is in voice after an import
-- export: no, because it holds for seconds
create table voice_states (
    guild_id bigint not null, -- 0 in private calls
    user_id bigint not null references users (id) on delete cascade,
    channel_id bigint not null,
    session_id text not null,
    session_number bigint not null, -- names the session among the gateway's subjects
    node bigint not null,
    region text not null,
    salt bytea not null,
    live bigint not null default 0, -- a voice socket is open
    self_mute bigint not null default 0,
    self_deaf bigint not null default 0,
    self_video bigint not null default 0,
    self_stream bigint not null default 0,
    suppress bigint not null default 0,
    request_to_speak_at bigint,
    connected_at bigint not null,
    active_at bigint not null,
    primary key (guild_id, user_id)
) {clustered};

create index voice_states_by_channel on voice_states (channel_id);
create index voice_states_by_user on voice_states (user_id);
create index voice_states_by_session on voice_states (session_id);

-- owner: voice
-- deletion: message_id: a call ends with its channel
-- world: no, because nobody is in voice after an import
create table calls (
    channel_id bigint primary key not null references channels (id) on delete cascade,
    message_id bigint not null,
    region text not null
) {clustered};

-- owner: voice
-- deletion: user_id: it ends with the call
-- world: no, because nobody is in voice after an import
-- export: no, because it holds for seconds
create table call_ringing (
    channel_id bigint not null references calls (channel_id) on delete cascade,
    user_id bigint not null,
    primary key (channel_id, user_id)
) {clustered};

-- What a message of type CALL tells about its call, as JSON.
alter table messages add column call text;

-- Since when nobody speaks on a stage; null: somebody does.
alter table stage_instances add column silent_since bigint;
