/* seeds.c - large random worlds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channel_events.h"
#include "files.h"
#include "tools/seeds/world_objects.h"
#include "test_guild.h"
#include "waits.h"
#include "world_files.h"

static void ignore_progress_of_seeding(void *arg, int64_t done, int64_t total)
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

static void seeded_world_contains_the_requested_counts(struct world *w)
{
    expect(seed_find_option_error(&small) == NULL);
    expect(write_seed_data(guildhall_get_store(world_server(w)), &small, ignore_progress_of_seeding,
                           NULL) == OK);

    expect(world_number(w, "select count(*) from users") == 300);
    expect(world_number(w, "select count(*) from guilds") == 7);
    expect(world_number(w, "select count(*) from members") == 400);
    expect(world_number(w, "select count(*) from roles") == 7 * 4);
    expect(world_number(w, "select count(*) from channels") == 7 * 6);
    expect(world_number(w, "select count(*) from channels where type = 2") == 7);
    expect(world_number(w, "select count(*) from relationships") == 1000);
    expect(world_number(w, "select count(*) from messages") == 90);
}

static void seeded_world_is_consistent(struct world *w)
{
    expect(write_seed_data(guildhall_get_store(world_server(w)), &small, ignore_progress_of_seeding,
                           NULL) == OK);

    /* Counts and last messages are correct, owners are members, friendships are mutual. */
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
    /* The id before a guild's id is unused. */
    expect(world_number(w, "select count(*) from guilds g where exists (select 1 from roles "
                           "where id = g.id - 1) or exists (select 1 from channels "
                           "where id = g.id - 1) or exists (select 1 from users "
                           "where id = g.id - 1)") == 0);
}

static void same_random_seed_gives_the_same_world(struct world *w)
{
    struct elsewhere other = elsewhere_open(w);
    struct seed_options another = small;

    another.random = 5;
    expect(write_seed_data(guildhall_get_store(world_server(w)), &small, ignore_progress_of_seeding,
                           NULL) == OK);
    expect(write_seed_data(other.store, &small, ignore_progress_of_seeding, NULL) == OK);
    struct str here = world_exported_here(w), there = world_exported(w, other.store);
    /* The same seed conflicts when used twice; another one can be added. */
    enum err again = write_seed_data(other.store, &small, ignore_progress_of_seeding, NULL);
    enum err during = write_seed_data(other.store, &another, ignore_progress_of_seeding, NULL);
    elsewhere_close(&other);
    expect_same(here, there);
    expect(again == ERR_STORE_CONFLICT && during == OK);
}

static void impossible_seed_options_are_refused(struct world *w)
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
        { { .users = 10, .friends = 25 }, true }, /* 5 users with 5 friends each */
        { { .users = 10, .friends = 26 }, false },
        { { .users = 10, .messages = 1 }, false },
        { { .users = 10, .guilds = 1, .members = 1, .messages = 1 }, false },
        { { .users = 10, .guilds = 1, .members = 1, .messages = 1, .channels_per_guild = 1 },
          true },
    };

    (void)w;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect((seed_find_option_error(&cases[i].o) == NULL) == cases[i].fine);
}

static void smallest_and_fullest_worlds_can_be_seeded(struct world *w)
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
        expect(seed_find_option_error(&worlds[i]) == NULL);
        expect(write_seed_data(guildhall_get_store(world_server(w)), &worlds[i],
                               ignore_progress_of_seeding, NULL) == OK);
    }
    expect(world_number(w, "select count(*) from members") == 61);
    expect(world_number(w, "select count(*) from relationships") == 50);
    expect(world_number(w, "select count(*) from messages") == 2);
}

/* The messages of a seed have lower ids than those that are filed and indexed. */
static void seeded_messages_are_found_if_the_server_had_messages(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);

    say_text(ada, v.channel, "one");
    expect_soon((world_wait(w, 1), world_number(w, "select count(*) from unfiled_messages") +
                                           world_count_unindexed_messages(w) ==
                                       0));
    expect(write_seed_data(guildhall_get_store(world_server(w)), &small, ignore_progress_of_seeding,
                           NULL) == OK);
    expect(world_number(w, "select count(*) from authored_messages") == 91);
    client_get(ada, "/guilds/%s/messages/search?content=one", v.id);
    expect_soon((world_wait(w, 1), world_number(w, "select count(*) from message_index") == 91));
}

const struct test seeds_tests[] = {
    TEST(seeded_world_contains_the_requested_counts),
    TEST(seeded_world_is_consistent),
    TEST(same_random_seed_gives_the_same_world),
    TEST(impossible_seed_options_are_refused),
    TEST(smallest_and_fullest_worlds_can_be_seeded),
    TEST(seeded_messages_are_found_if_the_server_had_messages),
    { 0 },
};
