-- What the server's key files are recognised by: a database is of no use with other keys.
-- owner: api
create table server_keys (
    name text primary key,
    digest text not null
);
