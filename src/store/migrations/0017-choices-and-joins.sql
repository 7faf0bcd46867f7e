-- Choices as they came; a job counts them, many at a time.
-- owner: gifs
-- deletion: user_id: a job counts and deletes them
-- world: no, because it counts for a while what people chose
-- export: no, because it is answered and forgotten
create table gif_choices (
    n {id},
    user_id bigint not null,
    gif bigint not null,
    locale text not null,
    term text not null,       -- empty: the choice counts for the GIF only
    at bigint not null
);

-- The coldest first: what nobody uses any more goes.
create index gif_terms_by_heat on gif_terms (heat);

-- How somebody came to a guild. 2: through an integration; 0: otherwise.
alter table members add column join_source bigint not null default 0;
