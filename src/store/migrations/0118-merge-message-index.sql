-- expand: a server of the version before merges the segments of the search index more rarely; searches are slower then
-- Segments of the search index are merged by a job in small steps, no longer by the transactions that write messages.
-- sqlite:
insert into message_index (message_index, rank) values ('automerge', 0);
-- With this number of segments of similar size, a transaction merges all of them nevertheless.
insert into message_index (message_index, rank) values ('crisismerge', 64);
-- postgres:
comment on table message_index is 'the words of messages and other terms, for search';
