-- Forwards: what a message was when another one took it along (JSON, an object without its end:
-- its files come last, with addresses that are made when they are shown).
alter table messages add column snapshot text;

-- Copies of messages share their files; snapshot: of what the message took along.
alter table attachments add column file_id bigint not null default 0;
alter table attachments add column snapshot bigint not null default 0;
update attachments set file_id = id;

create index attachments_by_file on attachments (file_id);
