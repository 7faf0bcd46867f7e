-- expand: servers of the version before neither read nor write what is new.
-- Servers of two versions share the database while it is upgraded. Steps that those of the version
-- before can live with, so that one of these may start although it does not know them:
-- owner: store
create table expanded_steps (
    number bigint primary key not null
);
-- postgres:
-- The last step that the node's program knows, and how it writes frames; 0: it does not say.
alter table nodes add column schema bigint not null default 0;
alter table nodes add column frames bigint not null default 0;
