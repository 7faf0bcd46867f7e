-- Where people meet: guilds, their roles, members and channels.
-- owner: platform/guilds
-- deletion: owner_id: an account that owns a guild cannot be deleted
-- world: guilds
-- export: no, because it belongs to the guild
create table guilds (
    id {id},
    name text not null,
    owner_id bigint not null references users (id),
    icon text,
    banner text,
    splash text,
    discovery_splash text,
    home_header text,
    description text,
    features text not null default '[]', -- JSON array of text
    afk_channel_id bigint,
    afk_timeout bigint not null default 300,
    system_channel_id bigint,
    system_channel_flags bigint not null default 0,
    rules_channel_id bigint,
    public_updates_channel_id bigint,
    safety_alerts_channel_id bigint,
    verification_level bigint not null default 0,
    default_message_notifications bigint not null default 0,
    explicit_content_filter bigint not null default 0,
    preferred_locale text not null default 'en-US',
    premium_progress_bar_enabled bigint not null default 0,
    member_count bigint not null default 0
);

create index guilds_by_owner on guilds (owner_id);

-- owner: platform/guilds
-- world: guilds.roles
create table roles (
    id {id},
    guild_id bigint not null references guilds (id) on delete cascade,
    name text not null,
    color bigint not null default 0,
    secondary_color bigint,
    tertiary_color bigint,
    permissions bigint not null default 0,
    position bigint not null default 0,
    hoist bigint not null default 0,
    managed bigint not null default 0,
    mentionable bigint not null default 0,
    flags bigint not null default 0,
    icon text,
    unicode_emoji text,
    bot_id bigint,
    integration_id bigint
);

create index roles_by_guild on roles (guild_id, position);

-- owner: platform/members
-- world: guilds.members
-- export: guilds
create table members (
    guild_id bigint not null references guilds (id) on delete cascade,
    user_id bigint not null references users (id) on delete cascade,
    nick text,
    avatar text,
    banner text,
    bio text,
    joined_at bigint not null,
    premium_since bigint,
    deaf bigint not null default 0,
    mute bigint not null default 0,
    pending bigint not null default 0,
    timed_out_until bigint,
    flags bigint not null default 0,
    is_temporary bigint not null default 0,
    primary key (guild_id, user_id)
) {clustered};

create index members_by_user on members (user_id, guild_id);

-- owner: platform/members
-- world: guilds.members
-- export: no, because it belongs to the guild
create table member_roles (
    guild_id bigint not null,
    user_id bigint not null,
    role_id bigint not null references roles (id) on delete cascade,
    primary key (guild_id, user_id, role_id),
    foreign key (guild_id, user_id) references members (guild_id, user_id) on delete cascade
) {clustered};

create index member_roles_by_role on member_roles (role_id);

-- Guild channels and private ones; columns that a type has no use for stay at
-- their defaults. Threads have a parent and keep what only they have in
-- thread_* columns.
-- owner: platform/channels
-- deletion: owner_id: stays, because others read the threads that an account began
-- deletion: application_id: stays, because the group remains when the application is gone
-- world: guilds.channels, directs, groups
-- export: no, because the messages there are exported
create table channels (
    id {id},
    guild_id bigint references guilds (id) on delete cascade,
    type bigint not null,
    name text,
    topic text,
    position bigint not null default 0,
    parent_id bigint,
    nsfw bigint not null default 0,
    rate_limit_per_user bigint not null default 0,
    bitrate bigint not null default 64000,
    user_limit bigint not null default 0,
    rtc_region text,
    video_quality_mode bigint not null default 1,
    last_message_id bigint,
    flags bigint not null default 0,
    owner_id bigint,
    application_id bigint,
    icon text,
    default_auto_archive_duration bigint,
    thread_archived bigint not null default 0,
    thread_archived_at bigint,
    thread_archive_minutes bigint not null default 1440,
    thread_locked bigint not null default 0,
    thread_message_count bigint not null default 0
);

create index channels_by_guild on channels (guild_id);
create index channels_by_parent on channels (parent_id);

-- owner: platform/channels
-- world: guilds.channels.overwrites
create table overwrites (
    channel_id bigint not null references channels (id) on delete cascade,
    target_id bigint not null,
    type bigint not null, -- 0 role, 1 member
    allow bigint not null default 0,
    deny bigint not null default 0,
    primary key (channel_id, target_id)
) {clustered};

create index overwrites_by_target on overwrites (target_id);

-- The people of a private channel. closed: not in this person's list now.
-- owner: platform/channels
-- deletion: user_id: stays, because the other person still reads the messages
-- world: directs, groups
-- export: channels
create table recipients (
    channel_id bigint not null references channels (id) on delete cascade,
    user_id bigint not null references users (id) on delete cascade,
    nick text,
    closed bigint not null default 0,
    since bigint not null,
    primary key (channel_id, user_id)
) {clustered};

create index recipients_by_user on recipients (user_id);

-- Two people have one direct channel, whoever opens it.
-- owner: platform/channels
-- world: directs, groups
create table direct_channels (
    low_id bigint not null,
    high_id bigint not null,
    channel_id bigint not null references channels (id) on delete cascade,
    primary key (low_id, high_id)
) {clustered};

-- owner: platform/members
-- deletion: user_id: stays, because a guild bans accounts whether they exist or not
-- world: guilds.bans
-- export: no, because it belongs to the guild
create table bans (
    guild_id bigint not null references guilds (id) on delete cascade,
    user_id bigint not null,
    reason text,
    primary key (guild_id, user_id)
) {clustered};

-- owner: platform/invites
-- world: no, because an invite is made again where it is needed
create table invites (
    code text primary key not null,
    type bigint not null, -- 0 guild, 1 group, 2 friend
    guild_id bigint references guilds (id) on delete cascade,
    channel_id bigint references channels (id) on delete cascade,
    inviter_id bigint,
    created_at bigint not null,
    expires_at bigint,
    max_age bigint not null,
    max_uses bigint not null,
    uses bigint not null default 0,
    is_temporary bigint not null default 0,
    target_type bigint,
    target_user_id bigint,
    target_application_id bigint
) {clustered};

create index invites_by_guild on invites (guild_id);
create index invites_by_channel on invites (channel_id);
create index invites_by_inviter on invites (inviter_id);

-- A webhook's token is made from its id, this salt and the server's key.
-- owner: platform/webhooks
-- deletion: user_id, application_id: stay, because the guild manages its webhooks
-- world: guilds.webhooks
-- export: no, because it belongs to the guild
create table webhooks (
    id {id},
    guild_id bigint not null references guilds (id) on delete cascade,
    channel_id bigint not null references channels (id) on delete cascade,
    user_id bigint,
    application_id bigint,
    name text,
    avatar text,
    salt bytea not null
);

create index webhooks_by_channel on webhooks (channel_id);
create index webhooks_by_guild on webhooks (guild_id);

-- owner: voice
-- world: guilds.stages
create table stage_instances (
    id {id},
    guild_id bigint not null references guilds (id) on delete cascade,
    channel_id bigint not null unique references channels (id) on delete cascade,
    topic text not null,
    privacy_level bigint not null,
    discoverable_disabled bigint not null default 0
);

-- owner: platform/guilds
-- deletion: user_id: stays, because a guild reads what was done
-- world: no, because a log is of the server that wrote it
-- export: no, because it belongs to the guild
create table audit_log (
    id {id},
    guild_id bigint not null references guilds (id) on delete cascade,
    user_id bigint,
    target_id bigint,
    action bigint not null,
    reason text,
    changes text not null default '[]',
    options text
);

create index audit_log_by_guild on audit_log (guild_id, id);

-- What people set for themselves.
-- owner: platform/accounts
-- world: no, because settings and notes are private
-- export: settings
create table user_settings (
    user_id bigint primary key not null references users (id) on delete cascade,
    document text not null
) {clustered};

-- owner: platform/accounts
-- world: no, because settings and notes are private
-- export: notes
create table notes (
    user_id bigint not null references users (id) on delete cascade,
    target_id bigint not null,
    note text not null,
    primary key (user_id, target_id)
) {clustered};
