-- A guild's roles come in this order whenever somebody connects.
create index roles_in_order on roles (guild_id, position, id desc);
drop index roles_by_guild;

-- How many sessions a bot has begun, on which day (since 1970).
-- owner: gateway_source
-- world: no, because sessions are of the server that has them
-- export: no, because it is about a connection of a client
create table session_starts (
    bot_id bigint primary key not null references users (id) on delete cascade,
    day bigint not null,
    starts bigint not null
) {clustered};
