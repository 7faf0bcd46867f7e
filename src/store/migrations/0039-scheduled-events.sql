-- Events that guilds plan. Times that are other than the rest are in the row, as JSON.
-- owner: platform/scheduled_events
-- deletion: channel_id: they leave their channel by the hook channel_ending
-- world: guilds.scheduled_events
create table scheduled_events (
    id {id},
    guild_id bigint not null,
    channel_id bigint,
    creator_id bigint,
    name text not null,
    description text,
    image text,
    start_at bigint not null,
    end_at bigint,
    status bigint not null,
    entity_type bigint not null,
    location text,
    recurrence text,
    exceptions text not null default '[]',
    users bigint not null default 0,
    empty_since bigint not null default 0,
    ended_at bigint not null default 0
);

create index scheduled_events_by_guild on scheduled_events (guild_id, status);
create index scheduled_events_by_channel on scheduled_events (channel_id);

-- Who wants to come; exception_id 0: to all of them.
-- owner: platform/scheduled_events
-- deletion: user_id: stays, because events count them
-- world: guilds.scheduled_events
-- export: no, because it holds no more than ids
create table scheduled_event_users (
    event_id bigint not null,
    exception_id bigint not null,
    user_id bigint not null,
    response bigint not null,
    primary key (event_id, exception_id, user_id)
) {clustered};

create index scheduled_event_users_by_user on scheduled_event_users (user_id, event_id);

alter table stage_instances add column scheduled_event_id bigint;
