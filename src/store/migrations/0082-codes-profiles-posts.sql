-- expand: servers of the version before give no code a channel, and show no pronouns.
-- Where a code of the scope webhook.incoming makes its webhook.
alter table authorization_codes add column webhook_channel_id bigint;
-- What people say of themselves besides.
alter table users add column pronouns text not null default '';
alter table users add column theme_colors text; -- a list of two
-- Posts have a list of tags, if only an empty one.
update channels set applied_tags = '[]' where type = 11 and applied_tags is null
    and parent_id in (select id from channels where type in (15, 16));
