-- Somebody may have put a hundred thousand direct channels aside: the open ones are found
-- without them.
create index recipients_by_open on recipients (user_id, closed);
drop index recipients_by_user;
