-- Reactions: which emoji a message has, how often each was used, and by whom.
alter table messages add column reacted bigint not null default 0; -- it may have reactions

-- message_id 0: taken off its message; those who used it go in steps.
-- owner: platform/reactions
-- world: messages.reactions
create table reactions (
    id {id},
    message_id bigint not null,
    emoji_key text not null,
    emoji_id bigint,
    name text not null,
    animated bigint not null default 0
);

create index reactions_by_message on reactions (message_id);

-- A row for each lane of the store that has counted: many react to one message at once.
-- owner: platform/reactions
create table reaction_counts (
    reaction_id bigint not null,
    lane bigint not null,
    normal bigint not null,
    burst bigint not null,
    primary key (reaction_id, lane)
) {clustered};

-- owner: platform/reactions
-- deletion: channel_id: they go with their message
-- deletion: user_id: stays, because reactions stay
-- world: messages.reactions
-- export: no, because it holds no more than ids
create table reaction_users (
    reaction_id bigint not null,
    burst bigint not null,
    user_id bigint not null,
    primary key (reaction_id, burst, user_id)
) {clustered};
