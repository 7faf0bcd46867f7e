/* recent.c - what was just read of a guild, for whoever looks at it next.
 *
 * After a restart everybody connects at once, and all members of a guild are told of
 * the same roles and channels. Each thread keeps those of the last few guilds that it
 * read, as long as nothing at all was written since. */
#include <pthread.h>

#include "base/mem.h"
#include "gateway_source/gateway_source.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"

enum { KEPT = 8, LARGEST = 256 * 1024 };

struct recent {
    snowflake guild_id;
    uint64_t version;
    struct arena *arena;
    struct guild_parts parts;
};

struct recents {
    struct recent all[KEPT];
    unsigned next; /* whose place is taken */
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t of_thread;

static void recents_free(void *arg)
{
    struct recents *r = arg;

    for (size_t i = 0; i < KEPT; i++)
        arena_free(r->all[i].arena);
    mem_free(r);
}

static void make_key(void)
{
    pthread_key_create(&of_thread, recents_free);
}

static struct recents *recents_here(void)
{
    pthread_once(&once, make_key);
    struct recents *r = pthread_getspecific(of_thread);
    if (!r) {
        r = mem_new(sizeof *r);
        pthread_setspecific(of_thread, r);
    }
    return r;
}

static struct recent *recent_find(struct recents *here, snowflake guild_id)
{
    for (size_t i = 0; i < KEPT; i++)
        if (here->all[i].guild_id == guild_id)
            return &here->all[i];
    return &here->all[here->next++ % KEPT];
}

static enum err read_parts(struct tx *tx, snowflake guild_id, struct guild_parts *ret)
{
    enum err e = guild_roles(tx, guild_id, &ret->roles);

    return e ? e : guild_channels(tx, guild_id, &ret->channels, &ret->threads);
}

enum err guild_parts(struct tx *tx, snowflake guild_id, struct guild_parts *ret)
{
    uint64_t version = tx_version(tx);

    if (!version)
        return read_parts(tx, guild_id, ret);
    struct recent *r = recent_find(recents_here(), guild_id);
    if (r->guild_id == guild_id && r->version == version) {
        *ret = r->parts;
        return OK;
    }
    r->guild_id = 0;
    if (r->arena && arena_used(r->arena) <= LARGEST) {
        arena_reset(r->arena);
    } else {
        arena_free(r->arena);
        r->arena = arena_new();
    }
    struct arena *before = tx_use_arena(tx, r->arena);
    enum err e = read_parts(tx, guild_id, &r->parts);
    tx_use_arena(tx, before);
    if (e)
        return e;
    r->version = version;
    if (arena_used(r->arena) <= LARGEST)
        r->guild_id = guild_id;
    *ret = r->parts;
    return OK;
}
