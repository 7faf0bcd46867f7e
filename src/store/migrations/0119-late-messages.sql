-- expand: a server of the version before does not index a message with a low id, such as that of an import
-- On SQLite, message_insert does what these triggers did, because a trigger makes SQLite copy each page that the
-- insertion of a message changes.
-- sqlite:
drop trigger message_written;
drop trigger message_filed;
-- postgres:
comment on table message_unindexed is 'messages that the search index does not contain, or in an older version';
-- both:
