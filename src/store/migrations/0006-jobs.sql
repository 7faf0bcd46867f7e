-- What happens by itself, and when.
-- owner: api
create table jobs (
    kind text not null,
    key bigint not null,
    due bigint not null,
    data text not null,
    primary key (kind, key)
) {clustered};

create index jobs_by_due on jobs (due);
