-- What applications offer, and who has it. Nothing is sold: world files declare it, and
-- applications grant it to try things out.
-- owner: platform/entitlements
-- world: applications.skus
create table skus (
    id {id},
    application_id bigint not null references applications (id) on delete cascade,
    type bigint not null, -- 2 durable, 3 consumable, 5 subscription, 6 group of subscriptions
    name text not null,
    slug text not null,
    flags bigint not null
);

create index skus_by_application on skus (application_id, id);

-- owner: platform/entitlements
-- world: applications.entitlements
-- export: no, because it belongs to the application
create table entitlements (
    id {id},
    application_id bigint not null,
    sku_id bigint not null,
    sku_type bigint not null,
    user_id bigint not null,
    guild_id bigint, -- null: it is the user's
    test bigint not null, -- granted through the interface, not by a world file
    starts_at bigint,
    ends_at bigint,
    deleted_at bigint,
    consumed bigint not null
);

create index entitlements_by_application on entitlements (application_id, id);
create index entitlements_by_user on entitlements (user_id, application_id, id);
create index entitlements_by_guild on entitlements (guild_id, application_id, id);
create index entitlements_by_sku on entitlements (sku_id, user_id, id);
