-- Where somebody has entered an account with its password: keyed hashes of addresses.
-- owner: platform/accounts
-- world: no, because links and secrets stay behind
-- export: no, because it is a secret
create table known_addresses (
    user_id bigint not null references users (id) on delete cascade,
    address bytea not null,
    seen_at bigint not null,
    primary key (user_id, address)
) {clustered};
