-- What is said. A message's time is in its id.
-- owner: platform/messages
-- deletion: author_id, application_id: stay, because others read what was written
-- world: messages
-- export: messages
create table messages (
    id {id},
    channel_id bigint not null references channels (id) on delete cascade,
    author_id bigint not null,
    type bigint not null default 0,
    content text not null default '',
    edited_at bigint,
    tts bigint not null default 0,
    mention_everyone bigint not null default 0,
    mentions text not null default '[]',      -- JSON array of user ids
    mention_roles text not null default '[]', -- JSON array of role ids
    embeds text not null default '[]',        -- JSON, as sent out
    components text not null default '[]',    -- JSON, as sent out
    pinned bigint not null default 0,
    pinned_at bigint,
    flags bigint not null default 0,
    nonce text,                               -- JSON, as sent
    webhook_id bigint,
    webhook_name text,
    webhook_avatar text,
    application_id bigint,
    interaction text,                         -- JSON, as sent out
    interaction_metadata text,                -- JSON, as sent out
    ephemeral_for bigint,                     -- only this account sees it
    attachment_count bigint not null default 0,
    reference_message_id bigint,
    reference_channel_id bigint,
    reference_guild_id bigint
);

create index messages_by_channel on messages (channel_id, id);
create index messages_by_author on messages (author_id, id);
create index messages_pinned on messages (channel_id, id) where pinned = 1;

-- When members last wrote to a channel that makes them wait.
-- owner: platform/channels
-- deletion: user_id: stays until the channel is deleted; no index finds it
-- world: no, because waiting times are over soon
-- export: no, because it holds for seconds
create table slow_modes (
    channel_id bigint not null references channels (id) on delete cascade,
    user_id bigint not null references users (id) on delete cascade,
    last_at bigint not null,
    primary key (channel_id, user_id)
) {clustered};

-- owner: platform/messages
-- world: no, because files stay behind
-- export: attachments
create table attachments (
    id {id},
    message_id bigint not null references messages (id) on delete cascade,
    channel_id bigint not null,
    filename text not null,
    description text,
    content_type text,
    size bigint not null,
    width bigint,
    height bigint
);

create index attachments_by_message on attachments (message_id);
