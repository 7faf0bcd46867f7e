-- What newcomers of a guild are asked before they may take part, and what they answered.
-- owner: platform/join_requests
-- world: guilds.member_form
create table member_forms (
    guild_id {id} references guilds (id) on delete cascade,
    enabled bigint not null,
    version bigint not null, -- when it was changed last
    description text,
    form_fields text not null -- JSON
);

-- owner: platform/join_requests
-- deletion: user_id: they go when the account leaves the guild
-- world: guilds.join_requests
-- export: no, because the guild asked for it
create table join_requests (
    id {id},
    guild_id bigint not null references guilds (id) on delete cascade,
    user_id bigint not null,
    status bigint not null, -- 1 submitted, 2 rejected, 3 approved
    created_at bigint not null,
    reviewed_at bigint,
    reviewed_by bigint,
    rejection_reason text,
    responses text not null -- JSON
);

create unique index join_requests_by_user on join_requests (guild_id, user_id);
create index join_requests_by_status on join_requests (guild_id, status, id);
create index members_pending on members (guild_id, user_id) where pending = 1;
