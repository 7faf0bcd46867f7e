-- expand: saved messages (bookmarks) of accounts
-- owner: platform/saved_messages
-- deletion: message_id: a deleted message is not shown, and the next save of the account deletes the row
-- world: no, because bookmarks are private
-- export: saved_messages
create table saved_messages (
    user_id bigint not null,
    message_id bigint not null,
    channel_id bigint not null,
    saved_at bigint not null,
    due_at bigint,              -- null: without a reminder
    primary key (user_id, message_id)
) {clustered};

create index saved_messages_by_channel on saved_messages (channel_id);
