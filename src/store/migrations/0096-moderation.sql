-- expand: the operator bans addresses, and people report messages to the operator
-- owner: api
create table address_bans (
    id {id},
    range text not null unique, -- "192.0.2.0/24"
    reason text not null,
    created_at bigint not null
);

-- owner: platform/reports
-- deletion: message_id, channel_id, guild_id: stay, because the operator reads them
-- world: no, because reports are for the operator of this server
-- export: reports, as far as the person made them
create table reports (
    id {id},
    reporter_id bigint,          -- null: the account was erased
    message_id bigint not null,
    channel_id bigint not null,
    guild_id bigint not null,    -- 0: a private channel
    author_id bigint not null,
    reason text not null,
    comment text not null,       -- of the reporter
    snapshot text not null,      -- the message as it was, JSON
    closed_at bigint,
    closed_by bigint,            -- the user of the machine
    resolution text              -- of the operator
);

create unique index reports_by_reporter on reports (reporter_id, message_id);
create index reports_by_author on reports (author_id, id);
create index reports_open on reports (id) where closed_at is null;
create index reports_closed on reports (closed_at) where closed_at is not null;
