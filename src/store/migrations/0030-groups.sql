-- Groups of somebody are counted without a look at all of their direct channels.
alter table recipients add column in_group bigint not null default 0;
update recipients set in_group = 1 where channel_id in (select id from channels where type = 3);
create index recipients_by_group on recipients (user_id) where in_group = 1;

-- Starting threads has a slow mode of its own beside writing.
alter table slow_modes add column thread_at bigint not null default 0;
