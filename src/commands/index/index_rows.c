/* index_rows.c - queries of command indexes: applications, bundles, uses, versions. */
#include "commands/index/index.h"

#include "base/mem.h"
#include "commands/index/index_invalidation.h"
#include "model/fields/ids.h"
#include "model/fields/rows.h"

#define OF_GUILD \
    "(select application_id from integrations where guild_id = $1 and type = 'service')"
#define OF_USER        "(select application_id from authorizations where user_id = $1 and installed = 1)"
#define OF_APPLICATION "(select id from applications where id = $1)"
#define OF_GROUP       "(select application_id from channel_integrations where channel_id = $1)"

/* Declares one query per kind of index, because struct sql accepts only string literals. */
#define DECLARE_QUERIES(name_, begin_, end_)                                                \
    static const char name_##_guild[] = begin_ OF_GUILD end_;                               \
    static const char name_##_user[] = begin_ OF_USER end_;                                 \
    static const char name_##_application[] = begin_ OF_APPLICATION end_;                   \
    static const char name_##_group[] = begin_ OF_GROUP end_;                               \
    static const struct sql name_[] = {                                                     \
        { &name_##_guild }, { &name_##_user }, { &name_##_application }, { &name_##_group } \
    }

#define APPLICATION_COLUMNS \
    "a.id, a.name, a.description, a.icon, coalesce(a.bot_id, 0), a.flags, v.version"
#define VERSION_OF "left join command_indexes v on v.id = a.id "

DECLARE_QUERIES(applications_sql,
                "select " APPLICATION_COLUMNS " from applications a " VERSION_OF
                "where a.removed = 0 and a.id in ",
                " order by a.id");
/* The condition on scopes excludes apps without the scope applications.commands, which have no
 * commands in the guild. */
static const char applications_of_guild[] =
    "select " APPLICATION_COLUMNS
    " from integrations i join applications a on a.id = i.application_id " VERSION_OF
    "where i.guild_id = $1 and i.type = 'service' and a.removed = 0 and " INTEGRATION_HAS_COMMANDS(
        "i") " order by i.application_id";

static const struct activity_config *new_activity_config(struct arena *arena)
{
    static const struct str platforms[] = { STR_INIT("web"), STR_INIT("android"), STR_INIT("ios") };
    struct activity_config *c = arena_alloc(arena, sizeof *c);

    c->supported_platforms = (struct list){ (void *)platforms, COUNT_OF(platforms) };
    return c;
}

static void index_application_from_row(const struct rows *r, void *ret)
{
    struct command_index_application *a = ret;
    uint64_t flags = (uint64_t)row_int(r, 5);

    *a = (struct command_index_application){
        .id = row_id(r, 0),
        .name = row_text(r, 1),
        .description = row_text(r, 2),
        .icon = row_optional_text(r, 3),
        .flags = flags & ~(uint64_t)APPLICATION_FLAGS_PRIVATE,
        .active = flags & APPLICATION_ACTIVE,
        .version = row_id(r, 6),
    };
    if (row_id(r, 4))
        a->bot_id = opt_id_or_null(row_id(r, 4));
    if (flags & APPLICATION_EMBEDDED)
        a->embedded_activity_config = new_activity_config(tx_arena(r->tx));
}

static struct sql applications_query_of_index_kind(enum command_index_kind kind)
{
    return kind == INDEX_GUILD ? SQL(applications_of_guild) : applications_sql[kind];
}

enum err read_command_index_applications(struct tx *tx, enum command_index_kind kind, snowflake key,
                                         struct list *ret)
{
    *ret = (struct list){ 0 };
    return tx_read_list(tx, applications_query_of_index_kind(kind), BIND(v_id(key)),
                        sizeof(struct command_index_application), index_application_from_row, ret);
}

/* Guild commands are found only for guild indexes: the key of other indexes is not a guild id, so
 * it matches no guild. */
DECLARE_QUERIES(bundles_sql,
                "select application_id, guild_id, entries, texts from command_lists "
                "where guild_id in (0, $1) and application_id in ",
                " order by application_id, guild_id");

enum err read_command_index_bundles(struct tx *tx, enum command_index_kind kind, snowflake key,
                                    struct rows *ret)
{
    enum err e = tx_query(tx, bundles_sql[kind], BIND(v_id(key)), ret);

    /* texts need not stay valid after the next row is read, because they are copied first */
    ret->lent = true;
    return e;
}

bool command_index_bundles_read_next(struct rows *rows, struct command_bundle *ret,
                                     enum err *ret_error)
{
    if (!rows_next(rows))
        return false;
    *ret_error = command_bundle_decode_columns(rows->tx, row_id(rows, 0), row_id(rows, 1),
                                               row_bytes(rows, 2), row_text(rows, 3), ret);
    return !*ret_error;
}

DECLARE_QUERIES(uses_sql,
                "select c.id, cast(sum(u.uses) as bigint) from commands c join command_uses u "
                "on u.command_id = c.id where c.used_day > $2 and u.day > $2 and "
                "c.application_id in ",
                " group by c.id order by c.id");

static void use_count_from_row(const struct rows *r, void *ret)
{
    *(struct command_use_count *)ret = (struct command_use_count){ row_id(r, 0), row_int(r, 1) };
}

enum err read_command_use_counts(struct tx *tx, enum command_index_kind kind, snowflake key,
                                 struct list *ret)
{
    *ret = (struct list){ 0 };
    return tx_read_list(tx, uses_sql[kind], BIND(v_id(key), v_int(command_ranking_start_day())),
                        sizeof(struct command_use_count), use_count_from_row, ret);
}

static int64_t find_command_uses(const struct list *uses, snowflake id)
{
    const struct command_use_count *found = id_sorted_list_find(uses, sizeof *found, id);

    return found ? found->uses : 0;
}

void rank_commands_by_use(const struct command_bundle *b, const struct list *uses, int64_t *ranks)
{
    int64_t unused = 1;

    for (size_t i = 0; i < b->count; i++) {
        ranks[i] = uses->count ? -find_command_uses(uses, b->entries[i].id) : 0;
        /* Count commands without a rank, so that `unused` becomes the rank of all of them. */
        unused += ranks[i] < 0;
    }
    for (int64_t rank = 1; rank < unused; rank++) {
        size_t most = b->count;

        for (size_t i = 0; i < b->count; i++)
            if (ranks[i] < 0 && (most == b->count || ranks[i] < ranks[most]))
                most = i;
        ranks[most] = rank;
    }
    for (size_t i = 0; i < b->count; i++)
        if (!ranks[i])
            ranks[i] = unused++;
}

static const char OWN_VERSION[] = "select version from command_indexes where id = $1";

enum err read_command_index_version(struct tx *tx, snowflake version_key,
                                    const struct list *applications, snowflake *ret_own,
                                    snowflake *ret)
{
    const struct command_index_application *a = applications->items;
    enum err e = tx_read_id(tx, OWN_VERSION, BIND(v_id(version_key)), ret_own);

    if (e)
        return e;
    *ret = *ret_own;
    for (size_t i = 0; i < applications->count; i++)
        if (a[i].version > *ret)
            *ret = a[i].version;
    if (!*ret)
        *ret = version_key;
    return OK;
}
