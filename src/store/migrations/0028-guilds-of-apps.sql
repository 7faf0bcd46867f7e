-- The guilds of an app, a page at a time: they are told of its commands in steps.
drop index integrations_by_application;
create index integrations_of_application on integrations (application_id, guild_id);
