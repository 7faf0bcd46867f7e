-- A world that is being moved into this database: from where (at most one row), and how much of each
-- table is here. No server starts while there is a row; they go when all is here (store/move.h).
-- owner: store
create table move_source (
    id bigint primary key not null,
    source text not null,
    void bigint not null default 0 -- the source has changed since: to be begun anew
);

-- owner: store
create table move_tables (
    name text primary key not null,
    row_count bigint not null,
    digest bytea not null,   -- the sum of all rows' digests
    last_key bytea not null, -- of the last row, in the order of the source
    checked bigint not null  -- 1: all of it is here, and the same
);
