-- Sessions of a server that was stopped, until the next one runs and their clients come back.
-- owner: gateway_source
-- deletion: user_id: they expire
-- world: no, because sessions are of the server that has them
-- export: no, because it is about a connection of a client
create table parked_sessions (
    number bigint primary key not null,
    user_id bigint not null,
    until_ms bigint not null,
    body bytea not null
);

-- At most one row; open: 1 when nothing has happened since they were written.
-- owner: gateway_source
create table parking (
    id bigint primary key not null,
    open bigint not null
);
