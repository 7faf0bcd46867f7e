-- Who works on a job; 0: nobody, or it was scheduled anew since it was taken.
alter table jobs add column taken bigint not null default 0;
