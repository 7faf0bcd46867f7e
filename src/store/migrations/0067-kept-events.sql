-- Where one server keeps its events, for sessions that outlive it when it is killed: what each
-- transaction announced, as the log of several servers on PostgreSQL is. There are no others.
-- postgres:
comment on table log is 'what each transaction announced';
-- sqlite:
-- owner: store
create table log (
    position integer primary key,
    body blob not null
);
-- owner: cluster
create table nodes (
    node bigint primary key not null,
    identity bigint not null,
    state bigint not null
);
