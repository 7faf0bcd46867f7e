-- expand: joins and leaves per day for the insights of a guild
-- owner: platform/members
-- world: no, because it is a statistic of this server
create table guild_days (
    guild_id bigint not null,
    day bigint not null,        -- days since 1970, UTC
    joins bigint not null,
    leaves bigint not null,
    primary key (guild_id, day)
) {clustered};
