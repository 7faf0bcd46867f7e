/* seeds.c - large random worlds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "tools/seeds/seed.h"
#include "test_guild.h"
#include "waits.h"
#include "world_files.h"

static void no_progress(void *arg, int64_t done, int64_t total)
{
    (void)arg, (void)done, (void)total;
}

static const struct seed_options small = { .users = 300,
                                           .guilds = 7,
                                           .members = 400,
                                           .channels_per_guild = 6,
                                           .roles_per_guild = 3,
                                           .friends = 500,
                                           .messages = 90,
                                           .random = 4 };

static void a_seeded_world_has_what_was_asked_for(struct world *w)
{
    expect(seed_problem(&small) == NULL);
    expect(world_seed(guildhall_store(world_server(w)), &small, no_progress, NULL) == OK);

    expect(world_number(w, "select count(*) from users") == 300);
    expect(world_number(w, "select count(*) from guilds") == 7);
    expect(world_number(w, "select count(*) from members") == 400);
    expect(world_number(w, "select count(*) from roles") == 7 * 4);
    expect(world_number(w, "select count(*) from channels") == 7 * 6);
    expect(world_number(w, "select count(*) from channels where type = 2") == 7);
    expect(world_number(w, "select count(*) from relationships") == 1000);
    expect(world_number(w, "select count(*) from messages") == 90);
}

static void a_seeded_world_fits_together(struct world *w)
{
    expect(world_seed(guildhall_store(world_server(w)), &small, no_progress, NULL) == OK);

    /* Counts and last messages are true, owners are members, friends are mutual. */
    expect(world_number(w, "select count(*) from guilds g where member_count <> "
                           "(select count(*) from members m where m.guild_id = g.id)") == 0);
    expect(world_number(w,
                        "select count(*) from guilds g where not exists (select 1 from members m "
                        "where m.guild_id = g.id and m.user_id = g.owner_id)") == 0);
    expect(world_number(w, "select count(*) from relationships r where not exists (select 1 from "
                           "relationships o where o.user_id = r.target_id "
                           "and o.target_id = r.user_id)") == 0);
    expect(world_number(w, "select count(*) from channels c where coalesce(last_message_id, 0) <> "
                           "coalesce((select max(id) from messages m where m.channel_id = c.id), "
                           "0)") == 0);
    expect(world_number(w, "select count(*) from member_roles mr join roles r on r.id = mr.role_id "
                           "where r.guild_id <> mr.guild_id") == 0);
    /* The id before a guild's is nobody's. */
    expect(world_number(w, "select count(*) from guilds g where exists (select 1 from roles "
                           "where id = g.id - 1) or exists (select 1 from channels "
                           "where id = g.id - 1) or exists (select 1 from users "
                           "where id = g.id - 1)") == 0);
}

static void the_same_number_gives_the_same_world(struct world *w)
{
    struct elsewhere other = elsewhere_open(w);
    struct seed_options another = small;

    another.random = 5;
    expect(world_seed(guildhall_store(world_server(w)), &small, no_progress, NULL) == OK);
    expect(world_seed(other.store, &small, no_progress, NULL) == OK);
    struct str here = world_exported_here(w), there = world_exported(w, other.store);
    /* Twice the same cannot be, another may come beside it. */
    enum err again = world_seed(other.store, &small, no_progress, NULL);
    enum err beside = world_seed(other.store, &another, no_progress, NULL);
    elsewhere_close(&other);
    expect_same(here, there);
    expect(again == ERR_STORE_CONFLICT && beside == OK);
}

static void impossible_worlds_are_refused(struct world *w)
{
    static const struct {
        struct seed_options o;
        bool fine;
    } cases[] = {
        { { .users = 10, .guilds = 5, .members = 5 }, true },
        { { .users = 10, .guilds = 5, .members = 4 }, false },
        { { .users = 10, .guilds = 5, .members = 50 }, true },
        { { .users = 10, .guilds = 5, .members = 51 }, false },
        { { .users = 10, .members = 1 }, false },
        { { .users = 10, .friends = 25 }, true }, /* reach 5 of the first 5 */
        { { .users = 10, .friends = 26 }, false },
        { { .users = 10, .messages = 1 }, false },
        { { .users = 10, .guilds = 1, .members = 1, .messages = 1 }, false },
        { { .users = 10, .guilds = 1, .members = 1, .messages = 1, .channels_per_guild = 1 },
          true },
    };

    (void)w;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect((seed_problem(&cases[i].o) == NULL) == cases[i].fine);
}

static void full_and_tiny_worlds_are_made_too(struct world *w)
{
    static const struct seed_options worlds[] = {
        { .users = 10, .guilds = 5, .members = 50, .random = 1 },
        { .users = 10, .guilds = 10, .members = 10, .friends = 25, .random = 2 },
        { .users = 1, .random = 3 },
        { .users = 2,
          .guilds = 1,
          .members = 1,
          .channels_per_guild = 5,
          .messages = 2,
          .random = 4 },
    };

    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++) {
        expect(seed_problem(&worlds[i]) == NULL);
        expect(world_seed(guildhall_store(world_server(w)), &worlds[i], no_progress, NULL) == OK);
    }
    expect(world_number(w, "select count(*) from members") == 61);
    expect(world_number(w, "select count(*) from relationships") == 50);
    expect(world_number(w, "select count(*) from messages") == 2);
}

const struct test seeds_tests[] = {
    TEST(a_seeded_world_has_what_was_asked_for), TEST(a_seeded_world_fits_together),
    TEST(the_same_number_gives_the_same_world),  TEST(impossible_worlds_are_refused),
    TEST(full_and_tiny_worlds_are_made_too),     { 0 },
};
