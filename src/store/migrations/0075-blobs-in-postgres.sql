-- expand: servers of the version before have no such tables.
-- With --blobs postgres: the bytes of files, in parts. settled: the row that it belongs to is committed.
-- postgres:
-- owner: store
create table blobs (
    name text primary key,
    size bigint not null,
    put_at timestamptz not null default clock_timestamp(),
    settled boolean not null default false
);
create index blobs_unsettled on blobs (put_at) where not settled;
-- owner: store
create table blob_parts (
    name text not null references blobs (name) on delete cascade,
    part bigint not null,
    bytes bytea not null,
    primary key (name, part)
);
alter table blob_parts alter column bytes set storage external;
