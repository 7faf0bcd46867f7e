-- Links that people were mailed. Their tokens follow from the server's key and the salt, and
-- are not kept; a link that was used has no salt any more.
-- owner: platform/accounts
-- world: no, because links and secrets stay behind
-- export: no, because it is a secret
create table mailed_links (
    user_id bigint not null references users (id) on delete cascade,
    purpose bigint not null, -- 1 the address is verified, 2 a new password
    address text not null,
    salt bytea,
    expires_at bigint not null,
    primary key (user_id, purpose)
) {clustered};

-- How many mails a mailbox was sent within the hour, by a keyed hash of its address.
-- owner: platform/accounts
create table mailboxes (
    address bytea primary key,
    since bigint not null,
    mails bigint not null
);
create index mailboxes_by_since on mailboxes (since);
