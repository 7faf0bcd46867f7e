-- What messages are found by. Triggers note what is new or changed, whoever writes it; a job puts
-- the noted ones into the index, many at a time, so that writing a message costs one small row.
-- owner: platform/messages
-- world: no, because it is made from the messages
create table message_unindexed (
    message_id {id} references messages (id) on delete cascade,
    times bigint not null
);

insert into message_unindexed (message_id, times)
    select id, 1 from messages where ephemeral_for is null;

-- sqlite:
-- owner: platform/search
create virtual table message_index using fts5 (
    words, tokenize = "ascii tokenchars '_'", detail = none, columnsize = 0
);

create trigger message_written after insert on messages when new.ephemeral_for is null begin
    insert into message_unindexed (message_id, times) values (new.id, 1);
end;

create trigger message_rewritten after update of content, embeds, pinned, attachment_count
on messages when new.ephemeral_for is null begin
    insert into message_unindexed (message_id, times) values (new.id, 1)
        on conflict (message_id) do update set times = times + 1;
end;

create trigger message_removed after delete on messages when old.ephemeral_for is null begin
    delete from message_index where rowid = old.id;
end;
-- postgres:
-- owner: platform/search
create table message_index (
    rowid bigint primary key references messages (id) on delete cascade,
    words tsvector not null
);

create index message_index_words on message_index using gin (words);

-- The row is changed in any case: a job that indexes it at the same time must be tried again.
create function message_note_unindexed() returns trigger language plpgsql as $$
begin
    insert into message_unindexed (message_id, times) values (new.id, 1)
        on conflict (message_id) do update set times = message_unindexed.times + 1;
    return null;
end
$$;

create trigger message_written after insert on messages for each row
    when (new.ephemeral_for is null) execute function message_note_unindexed();

create trigger message_rewritten after update of content, embeds, pinned, attachment_count
    on messages for each row
    when (new.ephemeral_for is null) execute function message_note_unindexed();
-- both:
