/* fill_store.c - fills a store with any number of rows of every kind. */
#include "fill_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"

/* SQL for the numbers of a range; statements end in "from n". */
#define NUMBERS " with recursive n (i) as (select %d union all select i + 1 from n where i < %d) "

/* First id of each kind of row. */
enum { THREADS = 10000000, DIRECTS = 20000000, GUILDS = 30000000, ENTRIES = 40000000 };

struct group group_new(struct world *w)
{
    struct group c = { .world = w,
                       .ada = world_client(w, "ada"),
                       .robot = world_bot(w, "robot"),
                       .wanderer = world_bot(w, "wanderer") };

    c.hall = world_test_guild(w, c.ada);
    test_guild_add_with(&c.hall, c.robot, 9, PERMISSIONS_ALL);
    return c;
}

/* --- rows that stay ------------------------------------------------------------------- */

static void add_members(struct group *c, int from, int to)
{
    world_sql(c->world, "insert into users (id, username)" NUMBERS "select i, 'person' || i from n",
              from, to);
    world_sql(c->world,
              "insert into members (guild_id, user_id, joined_at)" NUMBERS "select %s, i, i from n",
              from, to, c->hall.id);
    world_sql(c->world, "insert into bans (guild_id, user_id)" NUMBERS "select %s, i from n", from,
              to, c->hall.id);
    world_sql(c->world,
              "insert into audit_log (id, guild_id, user_id, target_id, action)" NUMBERS
              "select i + %d, %s, %s, i, 22 from n",
              from, to, ENTRIES, c->hall.id, c->ada->id);
    world_sql(c->world, "update guilds set member_count = %d where id = %s", to + 2, c->hall.id);
}

static void insert_messages(struct group *c, const char *channel, int from, int to)
{
    unsigned long long first = snowflake_from_ms(clock_us() / 1000 - 3600 * 1000);

    /* Gives each channel its own range of ids. */
    first += (unsigned long long)c->stacks++ * 1000000;
    world_sql(c->world,
              "insert into messages (id, channel_id, author_id, content)" NUMBERS
              "select %llu + i, %s, %s, 'hello' from n",
              from, to, first, channel, c->ada->id);
    snprintf(c->message, sizeof c->message, "%llu", first + (unsigned)to);
}

static void add_threads(struct group *c, int from, int to)
{
    world_sql(c->world,
              "insert into channels (id, type, guild_id, parent_id, name, thread_archived, "
              "thread_archived_at)" NUMBERS "select i + %d, 11, %s, %s, 'thread', 1, i from n",
              from, to, THREADS, c->hall.id, c->hall.channel);
}

static void add_directs(struct group *c, int from, int to)
{
    world_sql(c->world, "insert into channels (id, type)" NUMBERS "select i + %d, 1 from n", from,
              to, DIRECTS);
    world_sql(c->world,
              "insert into recipients (channel_id, user_id, since)" NUMBERS
              "select i + %d, i, 0 from n union all select i + %d, %s, 0 from n",
              from, to, DIRECTS, DIRECTS, c->robot->id);
    world_sql(c->world,
              "insert into direct_channels (low_id, high_id, channel_id)" NUMBERS
              "select i, %s, i + %d from n",
              from, to, c->robot->id, DIRECTS);
}

static void add_guilds(struct group *c, int from, int to)
{
    world_sql(c->world,
              "insert into guilds (id, name, owner_id)" NUMBERS "select i + %d, 'Room', %s from n",
              from, to, GUILDS, c->ada->id);
    world_sql(c->world,
              "insert into roles (id, guild_id, name)" NUMBERS
              "select i + %d, i + %d, '@everyone' from n",
              from, to, GUILDS, GUILDS);
    world_sql(c->world,
              "insert into members (guild_id, user_id, joined_at)" NUMBERS
              "select i + %d, %s, i from n",
              from, to, GUILDS, c->wanderer->id);
}

/* --- rows that are deleted ------------------------------------------------------------ */

/* Each round deletes one guild; all of them together have as many rows as every other kind. */
static void insert_large_guild_to_be_deleted(struct group *c, struct group_spare *s, int size)
{
    struct test_guild spare = world_test_guild(c->world, c->ada);

    snprintf(s->guild, sizeof s->guild, "%s", spare.id);
    world_sql(c->world,
              "insert into members (guild_id, user_id, joined_at)" NUMBERS "select %s, i, i from n",
              1, size / GROUP_ROUNDS, spare.id);
}

static void insert_large_role_to_be_deleted(struct group *c, struct group_spare *s, int size)
{
    snprintf(s->role, sizeof s->role, "%s", test_guild_role(&c->hall, 1, 0));
    world_sql(c->world,
              "insert into member_roles (guild_id, user_id, role_id)" NUMBERS
              "select guild_id, user_id, %s from n join members on guild_id = %s and user_id = i",
              1, size, s->role, c->hall.id);
}

static void insert_large_channel_to_be_deleted(struct group *c, struct group_spare *s, int size)
{
    snprintf(s->channel, sizeof s->channel, "%llu", (unsigned long long)snowflake_new());
    world_sql(c->world, "insert into channels (id, guild_id, type, name) values (%s, %s, 0, 'x')",
              s->channel, c->hall.id);
    insert_messages(c, s->channel, 1, size);
}

/* Members that are banned together and wrote as many messages as there are rows of every other
 * kind. */
static void insert_members_for_bulk_ban(struct group *c, struct group_spare *s, int size, int round)
{
    int count = size / 10 < GROUP_SPAMMERS ? size / 10 : GROUP_SPAMMERS;
    int last = size - 10 - round * count;
    size_t n = 0;

    for (int i = 0; i < count; i++)
        n += (size_t)snprintf(s->spammers + n, sizeof s->spammers - n, "%s'%d'", i ? "," : "",
                              last - i);
    world_sql(c->world, "delete from bans where guild_id = %s and user_id between %d and %d",
              c->hall.id, last - count + 1, last);
    insert_messages(c, c->hall.channel, 1, size);
    world_sql(c->world,
              "update messages set author_id = %d - id %% %d where channel_id = %s and "
              "id between %s - %d and %s",
              last, count, c->hall.channel, c->message, size - 1, c->message);
}

static void add_spares(struct group *c, int size)
{
    for (int i = 0; i < GROUP_ROUNDS; i++) {
        struct group_spare *s = &c->spares[i];

        insert_large_guild_to_be_deleted(c, s, size);
        insert_large_role_to_be_deleted(c, s, size);
        insert_large_channel_to_be_deleted(c, s, size);
        snprintf(s->leaver, sizeof s->leaver, "%d", size - 3 - i);
        insert_members_for_bulk_ban(c, s, size, i);
    }
}

void group_grow(struct group *c, int size)
{
    int from = c->size + 1;

    add_members(c, from, size);
    add_threads(c, from, size);
    add_directs(c, from, size);
    add_guilds(c, from, size);
    add_spares(c, size);
    insert_messages(c, c->hall.channel, from, size);
    c->size = size;
    snprintf(c->member, sizeof c->member, "%d", size - 1);
    snprintf(c->banned, sizeof c->banned, "%d", size - 2);
}

/* --- texts of requests ---------------------------------------------------------------- */

const char *group_text(const struct group *c, const char *text)
{
    const struct group_spare *spare = &c->spares[c->round];
    const struct {
        const char *key, *value;
    } words[] = {
        { "{guild}", c->hall.id },
        { "{channel}", c->hall.channel },
        { "{message}", c->message },
        { "{spare_guild}", spare->guild },
        { "{spare_channel}", spare->channel },
        { "{spare_role}", spare->role },
        { "{member}", c->member },
        { "{leaver}", spare->leaver },
        { "{spammers}", spare->spammers },
        { "{banned}", c->banned },
        { "{direct}", "20000077" },
    };
    struct buf b;

    buf_init(&b, 4096);
    while (*text) {
        size_t i = 0;

        while (i < COUNT_OF(words) && strncmp(text, words[i].key, strlen(words[i].key)) != 0)
            i++;
        if (i == COUNT_OF(words)) {
            buf_add_char(&b, *text++);
            continue;
        }
        buf_add_str(&b, str_of(words[i].value));
        text += strlen(words[i].key);
    }
    const char *made = str_dup_cstring(world_arena(c->world), buf_as_str(&b));
    buf_clear(&b);
    return made;
}
