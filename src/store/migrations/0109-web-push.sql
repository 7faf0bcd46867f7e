-- expand: web push subscriptions of browsers

-- A subscription belongs to a login and ends with it.
-- owner: platform/web_push
-- world: no, because it belongs to one browser
-- export: no, because the URL is a secret of one browser
create table web_push_subscriptions (
    token_id bytea primary key not null references tokens (id) on delete cascade,
    user_id bigint not null,
    endpoint text not null,         -- URL of the push service
    receiver_key bytea not null,    -- P-256 point of the browser, uncompressed
    auth_secret bytea not null,     -- shared with the browser
    created_at bigint not null,
    failures bigint not null default 0 -- consecutive messages that the push service did not accept
) {clustered};

create index web_push_subscriptions_by_user on web_push_subscriptions (user_id);
