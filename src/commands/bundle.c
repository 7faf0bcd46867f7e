/* bundle.c - the commands of a scope in one row, as lists and indexes show them. */
#include "commands/bundle.h"

enum { LARGEST = 16 * 1024 * 1024 };

struct bundle bundle_read(struct arena *arena, snowflake application_id, snowflake guild_id,
                          struct str entries, struct str texts)
{
    size_t count = entries.n / sizeof(struct bundle_entry);
    struct bundle_entry *copy = arena_raw(arena, entries.n + 1);

    if (entries.n)
        memcpy(copy, entries.p, entries.n); /* which need not be aligned */
    return (struct bundle){ application_id, guild_id, copy, count, texts };
}

static const char FIND_BUNDLE[] =
    "select entries, texts from command_lists where application_id = $1 and guild_id = $2";

enum err bundle_find(struct tx *tx, snowflake application_id, snowflake guild_id,
                     struct bundle *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, FIND_BUNDLE, BIND(v_id(application_id), v_id(guild_id)), &row, &found);

    *ret = (struct bundle){ .application_id = application_id, .guild_id = guild_id };
    if (!e && found)
        *ret = bundle_read(tx_arena(tx), application_id, guild_id, row_bytes(&row, 0),
                           row_text(&row, 1));
    return e;
}

/* --- writing -------------------------------------------------------------------------- */

static const char COMMANDS_OF[] =
    "select id, default_member_permissions, locales, type, nsfw, contexts, integration_types, "
    "plain from commands where application_id = $1 and guild_id = $2 order by id";

static void add(const struct rows *r, struct buf *entries, struct buf *texts)
{
    struct str text = row_text(r, 7);
    struct bundle_entry entry;

    memset(&entry, 0, sizeof entry); /* no bytes of whatever was there before */
    entry.id = row_id(r, 0);
    entry.default_member_permissions = row_null(r, 1) ? BUNDLE_ANYBODY : row_id(r, 1);
    entry.locales = (uint64_t)row_int(r, 2);
    entry.length = (uint32_t)text.n;
    entry.type = (uint8_t)row_int(r, 3);
    entry.nsfw = (uint8_t)row_int(r, 4);
    entry.contexts = (uint8_t)row_int(r, 5);
    entry.integration_types = (uint8_t)row_int(r, 6);
    if (texts->n)
        buf_add_char(texts, ',');
    buf_add(entries, &entry, sizeof entry);
    buf_add_str(texts, text);
}

static const char DROP_BUNDLE[] =
    "delete from command_lists where application_id = $1 and guild_id = $2";
static const char SET_BUNDLE[] =
    "insert into command_lists (application_id, guild_id, entries, texts) "
    "values ($1, $2, $3, $4) on conflict (application_id, guild_id) do update set "
    "entries = excluded.entries, texts = excluded.texts";

enum err bundle_write(struct tx *tx, snowflake application_id, snowflake guild_id)
{
    struct value app = v_id(application_id), guild = v_id(guild_id);
    struct buf entries, texts;
    struct rows rows;

    enum err e = tx_query(tx, COMMANDS_OF, BIND(app, guild), &rows);
    if (e)
        return e;
    buf_init(&entries, LARGEST);
    buf_init(&texts, LARGEST);
    while (rows_next(&rows))
        add(&rows, &entries, &texts);
    e = rows_end(&rows);
    if (!e && entries.n)
        e = tx_exec(tx, SET_BUNDLE,
                    BIND(app, guild, v_bytes(buf_str(&entries)), v_text(buf_str(&texts))), NULL);
    else if (!e)
        e = tx_exec(tx, DROP_BUNDLE, BIND(app, guild), NULL);
    buf_clear(&entries);
    buf_clear(&texts);
    return e;
}
