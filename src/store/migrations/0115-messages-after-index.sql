-- expand: a server of the version before does not index messages with higher ids than indexed_to; the next version does
-- On SQLite, messages with higher ids than indexed_to are not indexed yet, so that a new message needs no row in
-- message_unindexed. On PostgreSQL it does, because several nodes do not commit messages in the order of their ids.
-- sqlite:
-- owner: platform/messages
create table message_index_progress (
    indexed_to bigint not null
);

insert into message_index_progress (indexed_to) select coalesce(max(id), 0) from messages;

drop trigger message_written;
drop trigger message_rewritten;

-- A message with a lower id is written by an import, or by a request that created its id before the job ran.
create trigger message_written after insert on messages
when new.ephemeral_for is null and new.id <= (select indexed_to from message_index_progress) begin
    insert into message_unindexed (message_id, times) values (new.id, 1);
end;

create trigger message_rewritten after update of content, embeds, pinned, attachment_count on messages
when new.ephemeral_for is null and new.id <= (select indexed_to from message_index_progress) begin
    insert into message_unindexed (message_id, times) values (new.id, 1)
        on conflict (message_id) do update set times = times + 1;
end;
-- postgres:
comment on table message_unindexed is 'messages that the search index does not contain, or in an older version';
-- both:
