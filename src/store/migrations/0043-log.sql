-- Where several servers share the database: what they tell each other, and who they are.
-- postgres:
-- Which connections are servers', by the locks that they hold (store/postgres_peers.c).
create view server_connections as
    select pid, objid::bigint as identity from pg_locks
    where locktype = 'advisory' and objsubid = 2 and granted
        and database = (select oid from pg_database where datname = current_database())
        and classid::bigint = ((7166183 # hashtext(current_schema()))::bigint & 4294967295);

-- A row is all that one transaction announces. Its position is taken with the commit; a body
-- that is null says that the transaction with this position came to nothing.
create sequence log_position;
-- owner: store
create table log (
    position bigint primary key,
    body bytea
) partition by range (position);

-- Parts have a million positions each, so that what is old can go without being looked at.
create function log_make_part(part bigint) returns void language plpgsql as $$
begin
    execute format('create table if not exists log_%s (like log including all)', part);
    execute format('alter table log_%s alter column body set storage external', part);
    execute format('alter table log attach partition log_%s for values from (%s) to (%s)',
        part, part * 1000000, (part + 1) * 1000000);
end $$;
select log_make_part(0);

-- owner: store
create table log_parts (part bigint primary key, made_at timestamptz not null);
insert into log_parts values (0, clock_timestamp());

-- Gives up rather than keep writers waiting, who may be in the table.
create function log_drop_part(old bigint) returns void language plpgsql as $$
begin
    set local lock_timeout = '100ms';
    execute format('drop table if exists log_%s', old);
    delete from log_parts where part = old;
end $$;

-- state: 1 it serves, 2 it drains, 3 it was silent for too long.
-- owner: cluster
create table nodes (
    node bigint primary key,
    identity bigint not null,
    name text not null,
    state bigint not null,
    seen_at timestamptz not null,
    begun_at timestamptz not null,
    ids_until bigint not null,
    position bigint not null,
    sessions bigint not null,
    version text not null,
    settings text not null,
    address text not null
);
