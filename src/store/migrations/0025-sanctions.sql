-- What moderators did to members who left: it holds when they come back.
-- owner: platform/members
-- deletion: user_id: stays, because it holds when the account comes back
-- world: no, because it holds for members who are not there
-- export: no, because it belongs to the guild
create table member_sanctions (
    guild_id bigint not null references guilds (id) on delete cascade,
    user_id bigint not null references users (id) on delete cascade,
    timed_out_until bigint,
    mute bigint not null,
    deaf bigint not null,
    primary key (guild_id, user_id)
) {clustered};

create index member_sanctions_by_user on member_sanctions (user_id);
