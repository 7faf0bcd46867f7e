-- How often commands were used is forgotten by a job from now on; it begins with what is there.
insert into jobs (kind, key, due, data)
    select distinct 'command_uses', c.application_id, 0, ''
    from command_uses u join commands c on c.id = u.command_id;
