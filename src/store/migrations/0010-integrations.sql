-- Accounts of other platforms: who has them, and which guilds follow them.

-- An integration of a platform's account. revoked_at: since when the platform
-- refuses us; asked_at: when somebody last asked for a sync.
alter table integrations add column account_id text;
alter table integrations add column role_id bigint;
alter table integrations add column enable_emoticons bigint not null default 0;
alter table integrations add column expire_behavior bigint not null default 0;
alter table integrations add column expire_grace_period bigint not null default 7;
alter table integrations add column syncing bigint not null default 0;
alter table integrations add column synced_at bigint;
alter table integrations add column asked_at bigint;
alter table integrations add column revoked_at bigint;
alter table integrations add column subscriber_count bigint not null default 0;
alter table integrations add column round bigint not null default 0;

create unique index integrations_by_account on integrations (type, account_id, guild_id);

-- Who subscribes, as the platform last said. round: of the sync that saw them.
-- owner: integrations
create table integration_subscribers (
    integration_id bigint not null references integrations (id) on delete cascade,
    subscriber_id text not null,
    round bigint not null,
    primary key (integration_id, subscriber_id)
) {clustered};

create index integration_subscribers_by_account on integration_subscribers (subscriber_id);
create index integration_subscribers_by_round on integration_subscribers (integration_id, round);

-- Members that an integration has to do with. lapsed_at: since when they no
-- longer subscribe; joined: they came through it.
-- owner: integrations
-- deletion: user_id: the next sync deletes it
-- world: no, because a sync makes it again
-- export: no, because it holds no more than ids
create table integration_members (
    integration_id bigint not null references integrations (id) on delete cascade,
    user_id bigint not null,
    guild_id bigint not null,
    lapsed_at bigint,
    joined bigint not null default 0,
    primary key (integration_id, user_id),
    foreign key (guild_id, user_id) references members (guild_id, user_id) on delete cascade
) {clustered};

create index integration_members_by_member on integration_members (guild_id, user_id);
create index integration_members_lapsed on integration_members (lapsed_at)
    where lapsed_at is not null;

-- An app in a group of people.
-- owner: platform/oauth2
-- deletion: user_id: stays, because it says who added the application to the group
-- world: no, because people allow an app again what it may do
-- export: no, because it belongs to the application
create table channel_integrations (
    id {id},
    channel_id bigint not null references channels (id) on delete cascade,
    application_id bigint not null references applications (id) on delete cascade,
    scopes text not null default '[]',
    user_id bigint,
    created_at bigint not null,
    unique (channel_id, application_id)
);

create index channel_integrations_by_application on channel_integrations (application_id);

-- An account of another platform belongs to one person at a time. secret: the
-- platform's, encrypted.
-- owner: integrations
-- world: platform_accounts
-- export: connections
create table connections (
    user_id bigint not null references users (id) on delete cascade,
    type text not null,
    id text not null,
    name text not null,
    verified bigint not null default 1,
    revoked bigint not null default 0,
    visibility bigint not null default 1,
    metadata_visibility bigint not null default 1,
    friend_sync bigint not null default 0,
    show_activity bigint not null default 1,
    two_way_link bigint not null default 0,
    is_partner bigint not null default 0,
    secret bytea,
    created_at bigint not null,
    primary key (user_id, type, id),
    unique (type, id)
);

-- Whom a connected account knows on its platform, where friend_sync is on.
-- owner: integrations
-- world: platform_accounts
-- export: no, because it holds no more than ids
create table connection_friends (
    user_id bigint not null,
    type text not null,
    id text not null,
    friend_id text not null,
    primary key (user_id, type, id, friend_id),
    foreign key (user_id, type, id) references connections (user_id, type, id) on delete cascade
) {clustered};

create index connection_friends_by_friend on connection_friends (type, friend_id);

-- Links under way: what the platform has to send back.
-- owner: integrations
-- deletion: user_id: it expires after minutes
-- world: no, because it is valid for minutes
-- export: no, because it is a secret
create table connection_states (
    digest bytea primary key not null,
    user_id bigint not null references users (id) on delete cascade,
    type text not null,
    expires_at bigint not null
) {clustered};

create index connection_states_by_expiry on connection_states (expires_at);

-- The local platforms: their accounts, who subscribes to whom, who knows whom.
-- owner: integrations
create table platform_account (
    type text not null,
    id text not null,
    name text not null,
    has_programme bigint not null default 0,
    is_partner bigint not null default 0,
    link_code_digest bytea,
    link_code_expires_at bigint,
    primary key (type, id)
) {clustered};

create index platform_account_by_code on platform_account (link_code_digest);

-- owner: integrations
create table platform_subscription (
    type text not null,
    account_id text not null,
    subscriber_id text not null,
    name text not null default '',
    tier text not null default '',
    since bigint not null,
    until bigint,
    primary key (type, account_id, subscriber_id),
    foreign key (type, account_id) references platform_account (type, id) on delete cascade
) {clustered};

-- owner: integrations
create table platform_friend (
    type text not null,
    account_id text not null,
    friend_id text not null,
    primary key (type, account_id, friend_id),
    foreign key (type, account_id) references platform_account (type, id) on delete cascade
) {clustered};

-- What an app can say about people, and what it said.
alter table applications add column role_connections_metadata text not null default '[]';

-- owner: integrations
-- world: no, because apps tell it again
-- export: no, because apps tell it
create table role_connections (
    user_id bigint not null references users (id) on delete cascade,
    application_id bigint not null references applications (id) on delete cascade,
    platform_name text,
    platform_username text,
    metadata text not null default '{}',
    primary key (user_id, application_id)
) {clustered};
