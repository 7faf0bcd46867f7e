-- Where several servers share the database: which of them has a session. identity 0: none, it is
-- put away in parked_sessions.
create table session_homes (
    number bigint primary key not null,
    user_id bigint not null,
    identity bigint not null
);
create index session_homes_by_identity on session_homes (identity);
