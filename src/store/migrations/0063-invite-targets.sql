-- What invites give and whom they are for.
alter table invites add column role_ids text; -- JSON
alter table invites add column flags bigint not null default 0;
alter table invites add column targets text; -- JSON: the only accounts that may use it
alter table invites add column targets_at bigint; -- microseconds
