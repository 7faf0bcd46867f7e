-- An application is marked when it is deleted, and goes in steps.
alter table applications add column removed bigint not null default 0;

create index role_connections_by_application on role_connections (application_id);
create index authorization_codes_by_application on authorization_codes (application_id);

-- Direct channels of a bot, a page at a time.
drop index recipients_by_open;
create index recipients_by_person on recipients (user_id, closed, channel_id);
