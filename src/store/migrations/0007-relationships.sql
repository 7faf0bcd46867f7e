-- Friend requests of the last day: who asks many and is hardly ever answered is a spammer.
-- owner: platform/relationships
-- world: no, because it counts requests of the last days
-- export: no, because it holds no more than ids
create table friend_requests (
    user_id bigint not null references users (id) on delete cascade,
    target_id bigint not null references users (id) on delete cascade,
    sent_at bigint not null,
    accepted bigint not null default 0,
    primary key (user_id, target_id)
) {clustered};

create index friend_requests_by_target on friend_requests (target_id);

-- Friends in one game: a row for each side, as with relationships.
-- owner: platform/relationships
-- world: no, because games tell it again
-- export: no, because it holds no more than ids
create table game_relationships (
    user_id bigint not null references users (id) on delete cascade,
    target_id bigint not null references users (id) on delete cascade,
    application_id bigint not null references applications (id) on delete cascade,
    type bigint not null, -- 1 friend, 3 incoming, 4 outgoing
    since bigint not null,
    primary key (user_id, target_id, application_id)
) {clustered};

create index game_relationships_by_application on game_relationships (application_id, user_id);
create index game_relationships_by_target on game_relationships (target_id);

-- Whom somebody might know: a row for each reason to think so.
-- owner: platform/relationships
-- world: no, because it is found again
-- export: no, because it holds no more than ids
create table friend_suggestions (
    user_id bigint not null references users (id) on delete cascade,
    suggested_id bigint not null references users (id) on delete cascade,
    source text not null, -- contacts, reverse, mutual, or the type of a connection
    name text,            -- of the other, over there
    contact_name text,    -- what the owner calls the other
    mutual_friends bigint, -- where it was asked for
    score bigint not null,
    primary key (user_id, suggested_id, source)
) {clustered};

create index friend_suggestions_by_suggested on friend_suggestions (suggested_id);

-- Suggestions that somebody does not want to see again for a while.
-- owner: platform/relationships
-- world: no, because it is found again
-- export: no, because it holds no more than ids
create table dismissed_suggestions (
    user_id bigint not null references users (id) on delete cascade,
    suggested_id bigint not null references users (id) on delete cascade,
    until bigint not null,
    primary key (user_id, suggested_id)
) {clustered};

create index dismissed_suggestions_by_suggested on dismissed_suggestions (suggested_id);

-- Names of old that had four digits behind them; kept only where accounts were brought along.
-- owner: platform/relationships
-- world: no, because it is found again
-- export: no, because it is a copy of the name
create table legacy_tags (
    name text not null,
    discriminator bigint not null,
    user_id bigint not null references users (id) on delete cascade,
    primary key (name, discriminator)
) {clustered};

create index legacy_tags_by_user on legacy_tags (user_id);

-- Address books that people brought. Of a number only a keyed digest is kept.
alter table users add column phone text;
create unique index users_by_phone on users (phone);

-- owner: platform/contacts
-- world: no, because address books are private
-- export: no, because it is about other people
create table contact_lists (
    user_id bigint primary key not null references users (id) on delete cascade,
    name text not null,
    friend_sync bigint not null default 1,
    allowed_in_suggestions bigint not null default 2, -- 1 mutual contacts, 2 anyone with the contact
    synced_at bigint
) {clustered};

-- owner: platform/contacts
-- world: no, because address books are private
-- export: no, because it is about other people
create table contacts (
    user_id bigint not null references users (id) on delete cascade,
    digest bytea not null,
    name text,
    primary key (user_id, digest)
) {clustered};

create index contacts_by_digest on contacts (digest);

-- What lets somebody ask many suggested people at once.
-- owner: platform/relationships
-- world: no, because it is valid for minutes
-- export: no, because it is a secret
create table bulk_add_tokens (
    digest bytea primary key not null,
    user_id bigint not null references users (id) on delete cascade,
    user_ids text not null,
    expires_at bigint not null
) {clustered};

create index bulk_add_tokens_by_user on bulk_add_tokens (user_id);
create index bulk_add_tokens_by_expiry on bulk_add_tokens (expires_at);
