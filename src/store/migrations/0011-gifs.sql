-- GIFs that people search for, and what they made of them.
-- owner: gifs
create table gifs (
    n {id},
    id text not null unique,
    title text not null,
    description text not null,
    tags text not null,       -- JSON array, as imported
    source text not null,     -- the page it came from; may be empty
    media text not null,      -- "gif 498x280;mp4 640x360": what there is, and its size
    created_at bigint not null
);

-- What a list is ordered by, apart from the words: it changes with every choice.
-- owner: gifs
create table gif_scores (
    n {id},
    locale text not null,     -- "*": everywhere
    language text not null,   -- the first part of it
    rating bigint not null,   -- 0 g, 1 pg, 2 pg13, 3 r
    weight double precision not null,
    heat double precision not null default 0, -- log2 of the sum of 2^(time of a choice in days)
    foreign key (n) references gifs (n) on delete cascade
);

create index gif_scores_hot on gif_scores (locale, heat) where heat > 0;
create index gif_scores_hot_language on gif_scores (language, heat) where heat > 0;
create index gif_scores_all_hot on gif_scores (heat) where heat > 0;
create index gif_scores_all_weight on gif_scores (weight, n);
create index gif_scores_weight on gif_scores (locale, weight, n);
create index gif_scores_weight_language on gif_scores (language, weight, n);

-- owner: gifs
create table gif_tags (
    tag text not null,
    gif bigint not null references gifs (n) on delete cascade,
    primary key (tag, gif)
) {clustered};

create index gif_tags_of on gif_tags (gif);

-- For each cap of ratings: how many GIFs a tag has, and its best one.
-- owner: gifs
create table gif_tag_counts (
    cap bigint not null,
    tag text not null,
    initial text not null,    -- its first character
    gifs bigint not null,
    best bigint not null,
    primary key (cap, tag)
) {clustered};

create index gif_tag_counts_by_size on gif_tag_counts (cap, gifs desc, tag);
create index gif_tag_counts_by_initial on gif_tag_counts (cap, initial, gifs desc, tag);

-- Who chose what a moment ago: a choice counts once in ten minutes.
-- owner: gifs
-- world: no, because it counts for a while what people chose
-- export: no, because it is answered and forgotten
create table gif_picks (
    user_id bigint not null,
    gif bigint not null,
    at bigint not null,
    primary key (user_id, gif)
) {clustered};

create index gif_picks_by_age on gif_picks (at);

-- What was searched for before something was chosen.
-- owner: gifs
create table gif_terms (
    n {id},
    locale text not null,
    term text not null,
    initial text not null,
    heat double precision not null,
    third_at bigint not null default 0, -- when the third latest account used it; 0: too few have
    unique (locale, term)
);

create index gif_terms_hot on gif_terms (locale, heat) where third_at > 0;
create index gif_terms_shown on gif_terms (locale, term) where third_at > 0;
create index gif_terms_by_initial on gif_terms (locale, initial, heat) where third_at > 0;

-- owner: gifs
-- deletion: user_id: a job deletes old ones
-- world: no, because it counts for a while what people chose
-- export: no, because it is answered and forgotten
create table gif_term_users (
    term bigint not null references gif_terms (n) on delete cascade,
    user_id bigint not null,
    at bigint not null,
    primary key (term, user_id)
) {clustered};

create index gif_term_users_by_age on gif_term_users (at);
create index gif_term_users_by_term on gif_term_users (term, at);

-- owner: gifs
create table gif_pairs (
    term bigint not null references gif_terms (n) on delete cascade,
    gif bigint not null references gifs (n) on delete cascade,
    clicks bigint not null,
    primary key (term, gif)
) {clustered};

create index gif_pairs_by_gif on gif_pairs (gif, clicks);
create index gif_pairs_by_term on gif_pairs (term, clicks);

-- The words themselves, split and folded before they get here.
-- sqlite:
-- owner: gifs
create virtual table gif_index using fts5 (title, tags, description, tokenize = 'ascii', prefix = '2 3');
-- postgres:
-- Beginnings are found by comparing bytes.
alter table gif_tag_counts alter column tag type text collate "C";
alter table gif_terms alter column term type text collate "C";

-- owner: gifs
create table gif_index (
    n bigint primary key references gifs (n) on delete cascade,
    words tsvector not null
);

create index gif_index_words on gif_index using gin (words);
-- both:
