-- expand: servers of the version before do not look at it.
-- Servers that are missed while their sessions may still be kept by others, and since when.
-- owner: gateway_source
create table past_servers (
    identity bigint primary key not null,
    missed_ms bigint not null
);
