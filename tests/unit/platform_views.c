/* platform_views.c - views of guilds, with many threads at once. */
#include "unit.h"

#include <pthread.h>
#include <sched.h>

#include "base/mem.h"
#include "platform/guilds/views.h"

enum { GUILDS = 3, READERS = 3, CHANGES = 100000, PAUSE = 500 };

/* What is stored of a guild, and what clients were told of: versions, in place of an
 * owner. A change is stored, then noted, then told. */
static atomic_uint_fast64_t stored[GUILDS], told[GUILDS], mistakes, found;
static atomic_bool over;

static snowflake guild_of(size_t i)
{
    return 1000 + i;
}

/* Reads the store and keeps what it found, as view_get does. */
static void read_and_keep(size_t i)
{
    uint64_t moment = view_moment(guild_of(i));
    struct kept_view *k = mem_new(sizeof *k);

    k->view = (struct guild_view){ .guild_id = guild_of(i), .owner_id = atomic_load(&stored[i]) };
    atomic_init(&k->holders, 1);
    sched_yield();
    views_keep(k, moment);
    view_release(&k->view);
}

static void *read_on(void *arg)
{
    size_t at = (size_t)(uintptr_t)arg;

    while (!atomic_load(&over)) {
        size_t i = at++ % GUILDS;
        uint64_t heard = atomic_load(&told[i]);
        const struct guild_view *v = view_peek(guild_of(i));

        if (!v) {
            read_and_keep(i);
            continue;
        }
        atomic_fetch_add(&found, 1);
        if (v->guild_id != guild_of(i) || v->owner_id < heard)
            atomic_fetch_add(&mistakes, 1);
        view_release(v);
    }
    return NULL;
}

/* Between changes views are found, or else the test would prove nothing. */
static void wait_for_a_find(void)
{
    uint64_t before = atomic_load(&found);

    while (atomic_load(&found) == before)
        sched_yield();
}

static void nobody_sees_a_state_older_than_what_was_told(void **unused)
{
    pthread_t readers[READERS];

    (void)unused;
    for (size_t i = 0; i < READERS; i++)
        pthread_create(&readers[i], NULL, read_on, (void *)(uintptr_t)i);
    for (size_t n = 0; n < CHANGES; n++) {
        size_t i = n % GUILDS;
        struct announcement change = { .event = EVENT_GUILD_UPDATE, .to = to_guild(guild_of(i)) };
        uint64_t version = atomic_fetch_add(&stored[i], 1) + 1;

        views_note(&change);
        atomic_store(&told[i], version);
        if (n % PAUSE == 0)
            wait_for_a_find();
    }
    atomic_store(&over, true);
    for (size_t i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    assert_int_equal(atomic_load(&mistakes), 0);
    views_forget();
    assert_int_equal(views_count(), 0);
}

static void keep(snowflake guild)
{
    struct kept_view *k = mem_new(sizeof *k);

    k->view.guild_id = guild;
    atomic_init(&k->holders, 1);
    views_keep(k, view_moment(guild));
    view_release(&k->view);
}

static bool survives(enum event event, struct subject to)
{
    struct announcement a = { .event = event, .to = to };
    const struct guild_view *v;

    keep(7);
    views_note(&a);
    v = view_peek(7);
    view_release(v);
    views_forget();
    return v != NULL;
}

static void only_what_changes_a_view_drops_it(void **unused)
{
    (void)unused;
    assert_false(survives(EVENT_GUILD_UPDATE, to_guild(7)));
    assert_false(survives(EVENT_GUILD_DELETE, to_guild(7)));
    assert_false(survives(EVENT_GUILD_ROLE_CREATE, to_guild(7)));
    assert_false(survives(EVENT_GUILD_ROLE_UPDATE, to_guild(7)));
    assert_false(survives(EVENT_GUILD_ROLE_DELETE, to_guild(7)));
    assert_false(survives(EVENT_CHANNEL_CREATE, to_viewers(7, 9)));
    assert_false(survives(EVENT_CHANNEL_UPDATE, to_viewers(7, 9)));
    assert_false(survives(EVENT_CHANNEL_DELETE, to_entitled(7, 9, 1)));
    assert_false(survives(EVENT_THREAD_CREATE, to_viewers(7, 9)));
    assert_false(survives(EVENT_THREAD_UPDATE, to_viewers(7, 9)));
    assert_false(survives(EVENT_THREAD_DELETE, to_viewers(7, 9)));
    assert_true(survives(EVENT_GUILD_MEMBER_ADD, to_guild(7)));
    assert_true(survives(EVENT_GUILD_UPDATE, to_guild(8)));
    assert_true(survives(EVENT_GUILD_DELETE, to_user(7)));
    assert_true(survives(EVENT_CHANNEL_CREATE, to_channel(7)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_sees_a_state_older_than_what_was_told),
        cmocka_unit_test(only_what_changes_a_view_drops_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
