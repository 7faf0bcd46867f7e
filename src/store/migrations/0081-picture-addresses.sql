-- expand: servers of the version before show what webhooks say with the webhook's own picture.
-- Pictures of webhooks' messages that lie elsewhere: the name they are shown by, and where they are.
-- owner: platform/accounts
-- world: messages.avatar_url
-- export: no, because it is about webhooks
create table picture_addresses (
    owner_id bigint not null references webhooks (id) on delete cascade,
    hash text not null,
    url text not null,
    since bigint not null, -- microseconds
    primary key (owner_id, hash)
);
