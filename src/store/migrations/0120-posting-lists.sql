-- expand: a server of the version before adds messages to the first posting list of a term, which this version reads, too
-- On SQLite, FTS5 merges the posting list of a term, the list of its messages, in one step. So long lists are split;
-- this table counts about one in 256 messages of each term, by a digest of the term.
-- sqlite:
-- owner: platform/search
-- world: no, because it is made from the messages
create table message_index_terms (
    digest {id},
    counted bigint not null
);

-- The messages that were counted. An edit must not count a message again.
-- owner: platform/search
-- world: no, because it is made from the messages
create table message_index_counted (
    message_id bigint not null references messages (id) on delete cascade,
    digest bigint not null,
    primary key (message_id, digest)
) {clustered};

-- The terms with several lists.
create index message_index_long_terms on message_index_terms (digest, counted) where counted >= 400;
-- postgres:
comment on index message_index_words is 'PostgreSQL splits long posting lists itself';
-- both:
