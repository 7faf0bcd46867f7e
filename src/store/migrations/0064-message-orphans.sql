-- Messages did not always take their polls, votes and reactions along: a job removes what is left.
insert into jobs (kind, key, due, data)
    select 'message-orphans', 0, 0, '' where exists (select 1 from polls)
    or exists (select 1 from reactions) or exists (select 1 from reaction_users);
