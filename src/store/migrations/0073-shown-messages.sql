-- What answers show of a message, as text: platform/messages/shown.c. Null: it is put together from
-- the other columns, as that of messages from before.
alter table messages add column shown text;
