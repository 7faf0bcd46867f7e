/* demo.c - finds the guild and channel that `guildhall demo` opens in the browser. */
#include "platform/worlds/worlds.h"

static const char FIND_DEMO_IDS[] =
    "select g.id, c.id from guilds g join channels c on c.guild_id = g.id "
    "where g.name = 'The Workshop' and c.name = 'general' order by g.id, c.id limit 1";

static enum err read_demo_ids(struct tx *tx, void *arg)
{
    struct demo_guild_ids *ret = arg;
    struct rows row;
    bool found;
    enum err e = tx_one(tx, FIND_DEMO_IDS, NO_BIND, &row, &found);

    *ret = (struct demo_guild_ids){ 0 };
    if (!e && found)
        *ret = (struct demo_guild_ids){ row_id(&row, 0), row_id(&row, 1) };
    return e;
}

enum err demo_guild_ids_read(struct store *store, struct demo_guild_ids *ret)
{
    return store_run_transaction_and_wait(store, STORE_READ, NULL, read_demo_ids, ret);
}
