-- Where several servers share the database: which of them has a session. identity 0: none, it is
-- put away in parked_sessions.
-- owner: gateway_source
-- deletion: user_id: they go with their session
-- world: no, because sessions are of the server that has them
-- export: no, because it is about a connection of a client
create table session_homes (
    number bigint primary key not null,
    user_id bigint not null,
    identity bigint not null
);
create index session_homes_by_identity on session_homes (identity);
