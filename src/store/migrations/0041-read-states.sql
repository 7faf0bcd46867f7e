-- How far people have read. There is a row only where somebody acknowledged or wrote something.
-- owner: platform/read_states
-- world: no, because how far somebody has read is private
-- export: no, because it holds no more than ids
create table read_states (
    user_id bigint not null references users (id) on delete cascade,
    kind bigint not null,      -- the interface's type: 0 a channel
    entity_id bigint not null, -- the channel, the guild or the account itself
    guild_id bigint not null default 0, -- of a channel
    last_id bigint not null,
    mentions bigint not null default 0, -- said by hand, of what comes up to last_id
    pins_at bigint,
    flags bigint,
    last_viewed bigint,
    primary key (user_id, kind, entity_id)
) {clustered};

create index read_states_by_entity on read_states (entity_id);

-- owner: platform/read_states
-- world: no, because how far somebody has read is private
-- export: no, because it holds no more than ids
create table read_versions (
    user_id {id} references users (id) on delete cascade,
    version bigint not null
);

-- Whom messages call: kind 0 everybody, 1 a role, 2 an account. Only the newest of a channel are
-- kept, and nobody's count: what is unread is counted when somebody connects.
-- owner: platform/read_states
-- deletion: guild_id, message_id: they go with their channel, which has few
-- world: no, because it is made from the messages
create table mention_notes (
    channel_id bigint not null references channels (id) on delete cascade,
    message_id bigint not null,
    kind bigint not null,
    target_id bigint not null,
    guild_id bigint not null,
    primary key (channel_id, message_id, kind, target_id)
) {clustered};

create index mention_notes_by_target on mention_notes (target_id, message_id) where kind = 2;
create index mention_notes_by_guild on mention_notes (guild_id, message_id) where kind < 2;

-- Mentions that somebody does not want to see any more.
-- owner: platform/read_states
-- world: no, because how far somebody has read is private
-- export: no, because it holds no more than ids
create table mentions_hidden (
    user_id bigint not null references users (id) on delete cascade,
    message_id bigint not null references messages (id) on delete cascade,
    primary key (user_id, message_id)
) {clustered};

create index mentions_hidden_by_message on mentions_hidden (message_id);
