/* index_rows.c - what indexes show, from the store. */
#include "commands/index.h"

#include "base/mem.h"
#include "platform/rows.h"

/* --- which applications ---------------------------------------------------------------------- */

/* An app that was installed for something else than commands has none. */
#define OF_GUILD                                                                         \
    "(select application_id from integrations where guild_id = $1 and type = 'service' " \
    "and (scopes like '%\"applications.commands\"%' or scopes like '%\"bot\"%'))"
#define OF_USER        "(select application_id from authorizations where user_id = $1 and installed = 1)"
#define OF_APPLICATION "(select id from applications where id = $1)"
#define OF_GROUP       "(select application_id from channel_integrations where channel_id = $1)"

/* One query for each kind of index, picked by it: the words of all are literals. */
#define QUERIES(name_, begin_, end_)                                                       \
    static const char name_##_guild[] = begin_ OF_GUILD end_;                              \
    static const char name_##_user[] = begin_ OF_USER end_;                                \
    static const char name_##_application[] = begin_ OF_APPLICATION end_;                  \
    static const char name_##_group[] = begin_ OF_GROUP end_;                              \
    static const char *const name_[] = { name_##_guild, name_##_user, name_##_application, \
                                         name_##_group }

QUERIES(applications_sql,
        "select id, name, description, icon, coalesce(bot_id, 0), flags from applications "
        "where id in ",
        " order by id");

static const struct activity_config *launchable(struct arena *arena)
{
    static const struct str platforms[] = { STR_INIT("web"), STR_INIT("android"), STR_INIT("ios") };
    struct activity_config *c = arena_alloc(arena, sizeof *c);

    c->supported_platforms = (struct list){ (void *)platforms, COUNT_OF(platforms) };
    return c;
}

static struct index_application read_application(const struct rows *r)
{
    uint64_t flags = (uint64_t)row_int(r, 5);
    struct index_application a = {
        .id = row_id(r, 0),
        .name = row_text(r, 1),
        .description = row_text(r, 2),
        .icon = row_opt_text(r, 3),
        .flags = flags,
    };

    if (row_id(r, 4))
        a.bot_id = given_id(row_id(r, 4));
    if (flags & APPLICATION_EMBEDDED)
        a.embedded_activity_config = launchable(tx_arena(r->tx));
    return a;
}

enum err index_applications(struct tx *tx, enum index_kind kind, snowflake key, struct list *ret)
{
    struct rows rows;
    enum err e = tx_query(tx, applications_sql[kind], BIND(v_id(key)), &rows);

    *ret = (struct list){ 0 };
    if (e)
        return e;
    while (rows_next(&rows))
        *(struct index_application *)list_add(tx_arena(tx), ret, sizeof(struct index_application)) =
            read_application(&rows);
    return rows_end(&rows);
}

/* --- which commands --------------------------------------------------------------------------- */

#define COMMANDS_IN                                                                             \
    "select id, application_id, guild_id, type, default_member_permissions, nsfw, contexts, "   \
    "integration_types, case when (locales & cast($2 as bigint)) <> 0 then 1 else 0 end, "      \
    "case when (locales & cast($2 as bigint)) <> 0 then definition else plain end, "            \
    "case when used_day > cast($3 as bigint) then coalesce((select cast(sum(uses) as bigint) "  \
    "from command_uses u where u.command_id = commands.id and u.day > cast($3 as bigint)), 0) " \
    "else 0 end from commands where application_id in "

/* Only in a guild's index are there commands of a guild: no other key is a guild's id. */
QUERIES(commands_sql, COMMANDS_IN, " and guild_id in (0, $1) order by application_id, id");

static struct index_row read_command(const struct rows *r)
{
    return (struct index_row){
        .id = row_id(r, 0),
        .application_id = row_id(r, 1),
        .guild_id = row_id(r, 2),
        .type = row_int(r, 3),
        .default_member_permissions = row_opt_id(r, 4),
        .nsfw = row_bool(r, 5),
        .contexts = (unsigned)row_int(r, 6),
        .integration_types = (unsigned)row_int(r, 7),
        .localized = row_bool(r, 8),
        .text = row_text(r, 9),
        .uses = row_int(r, 10),
    };
}

/* The global commands of one application: the most used is 1, of two that are used alike
 * the older. */
static void rank(struct index_row *k, size_t count)
{
    int64_t unused = 1;

    for (size_t i = 0; i < count; i++)
        unused += k[i].guild_id == 0 && k[i].uses > 0;
    for (size_t i = 0; i < count; i++) {
        if (k[i].guild_id)
            continue;
        if (!k[i].uses) {
            k[i].rank = unused++;
            continue;
        }
        k[i].rank = 1;
        for (size_t n = 0; n < count; n++)
            k[i].rank +=
                k[n].guild_id == 0 && (k[n].uses > k[i].uses || (k[n].uses == k[i].uses && n < i));
    }
}

static void rank_all(const struct list *commands)
{
    struct index_row *k = commands->items;

    for (size_t i = 0, next; i < commands->count; i = next) {
        for (next = i + 1; next < commands->count; next++)
            if (k[next].application_id != k[i].application_id)
                break;
        rank(k + i, next - i);
    }
}

enum err index_commands(struct tx *tx, enum index_kind kind, snowflake key, struct str locale,
                        struct list *ret)
{
    struct rows rows;
    enum err e = tx_query(
        tx, commands_sql[kind],
        BIND(v_id(key), v_int((int64_t)locale_reach(locale)), v_int(ranked_since())), &rows);

    *ret = (struct list){ 0 };
    if (e)
        return e;
    while (rows_next(&rows))
        *(struct index_row *)list_add(tx_arena(tx), ret, sizeof(struct index_row)) =
            read_command(&rows);
    rank_all(ret);
    return rows_end(&rows);
}

/* --- since when ---------------------------------------------------------------------------------
 */

QUERIES(version_sql, "select max(version) from command_indexes where id = $1 or id in ", "");

enum err index_version(struct tx *tx, enum index_kind kind, snowflake key, snowflake *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, version_sql[kind], BIND(v_id(key)), &row, &found);

    if (!e)
        *ret = row_null(&row, 0) ? key : row_id(&row, 0);
    return e;
}
