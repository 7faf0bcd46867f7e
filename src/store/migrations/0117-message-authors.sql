-- expand: on SQLite, the table message_authors replaces an index of messages
-- On SQLite, half of the pages that a commit of messages changed belonged to the index by author. A job now adds many
-- messages at once to message_authors: all up to the id filed_to. Newer ones are found in messages.
-- sqlite:
-- owner: platform/messages
-- deletion: author_id, message_id: a trigger deletes the row together with the message
-- world: no, because it is made from the messages
-- export: no, because it is made from the messages
create table message_authors (
    author_id bigint not null,
    message_id bigint not null,
    primary key (author_id, message_id)
) {clustered};

-- In the order of the index, so that nothing is sorted in memory.
insert into message_authors (author_id, message_id)
    select author_id, id from messages indexed by messages_by_author order by author_id, id;

-- owner: platform/messages
create table message_author_progress (
    filed_to bigint not null
);

insert into message_author_progress select coalesce(max(id), 0) from messages;

drop index messages_by_author;

-- A message with a lower id is written by an import, or by a request that created its id before the job ran.
create trigger message_filed after insert on messages
when new.id <= (select filed_to from message_author_progress) begin
    insert into message_authors (author_id, message_id) values (new.author_id, new.id);
end;

create trigger message_unfiled after delete on messages begin
    delete from message_authors where author_id = old.author_id and message_id = old.id;
end;

-- The plus sign makes SQLite find these rows by filed_to and not by another condition, which may match all messages.
create view unfiled_messages as
    select author_id, +id as id from messages where id > (select filed_to from message_author_progress);

create view authored_messages as
    select author_id, message_id as id from message_authors
    union all select author_id, +id from messages where id > (select filed_to from message_author_progress);
-- postgres:
create view message_authors as select author_id, id as message_id from messages;
create view unfiled_messages as select author_id, id from messages where false;
create view authored_messages as select author_id, id from messages;
-- both:
