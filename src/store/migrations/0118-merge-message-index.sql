-- expand: a server of the version before merges the segments of the search index more rarely; searches are slower then
-- Segments of the search index are merged by a job in small steps, no longer by the transactions that write messages.
-- sqlite:
insert into message_index (message_index, rank) values ('automerge', 0);
