-- The last message of a channel and how many there were, where many write at once: a
-- row for each of those who do. Where one writes at a time the channel's own row has it.
-- owner: platform/channels
-- world: no, because it is made from the messages
create table channel_tails (
    channel_id bigint not null references channels (id) on delete cascade,
    lane bigint not null,
    last_message_id bigint not null,
    messages bigint not null,
    primary key (channel_id, lane)
) {clustered};

-- postgres:
-- Each message changes a row: with room on the page nothing else has to change.
alter table channel_tails set (fillfactor = 50);
