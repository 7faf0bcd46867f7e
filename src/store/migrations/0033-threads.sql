-- Who is in a thread. What a thread counts is read from these rows and from the channel's tails,
-- so that those who write at once do not meet in one row.
-- owner: platform/channels
-- deletion: guild_id: they go with their thread
-- deletion: user_id: they go when the account leaves the guild
-- world: guilds.channels.people
-- export: no, because it holds no more than ids
create table thread_members (
    thread_id bigint not null references channels (id) on delete cascade,
    user_id bigint not null references users (id) on delete cascade,
    guild_id bigint not null,
    joined_at bigint not null,
    flags bigint not null default 0,
    muted bigint not null default 0,
    mute_until bigint,
    mute_window bigint,
    primary key (thread_id, user_id)
) {clustered};

create index thread_members_by_user on thread_members (user_id, guild_id, thread_id);

-- Who started a thread is in it.
insert into thread_members (thread_id, user_id, guild_id, joined_at, flags)
    select c.id, c.owner_id, c.guild_id, (c.id / 4194304 + 1420070400000) * 1000, 1
    from channels c join members m on m.guild_id = c.guild_id and m.user_id = c.owner_id
    where c.type between 10 and 12;

-- thread_begun: it has a first message that is not counted. thread_deleted: messages that were.
alter table channels add column thread_begun bigint not null default 0;
alter table channels add column thread_deleted bigint not null default 0;
alter table channels add column thread_invitable bigint not null default 1;
alter table channels add column default_thread_slowmode bigint not null default 0;

-- What only forums and media channels have, and the tags of their threads (JSON).
alter table channels add column available_tags text;
alter table channels add column default_reaction text;
alter table channels add column default_sort_order bigint;
alter table channels add column default_forum_layout bigint not null default 0;
alter table channels add column default_tag_setting text;
alter table channels add column applied_tags text;

-- Archived threads by channel and kind, the newest first.
create index channels_by_archive on channels (parent_id, type, thread_archived_at, id)
    where thread_archived = 1;

alter table messages add column position bigint;
