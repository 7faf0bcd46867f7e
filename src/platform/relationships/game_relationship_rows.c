/* game_relationship_rows.c - rows and events of friendships within one game. */
#include "platform/relationships/game_relationship_rows.h"

#include "api/deletion.h"
#include "model/fields/rows.h"
#include "platform/accounts/settings/settings.h"
#include "platform/accounts/users.h"

/* --- lists ---------------------------------------------------------------------------- */

#define GAME_COLUMNS "g.user_id, g.target_id, g.application_id, g.type, g.since"
/* Columns for lists. They include the other user's settings, which decide whether the caller may
 * send direct messages. */
#define LIST_COLUMNS GAME_COLUMNS ", s.document, " USER_COLUMNS
#define LIST_TABLES                                            \
    "game_relationships g join users u on u.id = g.target_id " \
    "left join user_settings s on s.user_id = g.target_id "
enum { SETTINGS_AT = 5, USER_AT = 6 };

static void game_relationship_from_row(const struct rows *r, void *ret)
{
    *(struct game_relationship *)ret = (struct game_relationship){
        .user_id = row_id(r, 0),
        .id = row_id(r, 1),
        .application_id = row_id(r, 2),
        .type = row_int(r, 3),
        .since = row_int(r, 4),
    };
}

static const char LIST[] = "select " LIST_COLUMNS " from " LIST_TABLES
                           "where g.user_id = $1 and u.disabled = 0 and u.deleting = 0 "
                           "order by g.target_id, g.application_id";
/* Selects relationships in one game. Omits users who have revoked their authorization. */
static const char LIST_OF_ONE[] =
    "select " LIST_COLUMNS " from " LIST_TABLES
    "join authorizations a on a.user_id = g.target_id and a.application_id = g.application_id "
    "where g.user_id = $1 and g.application_id = $2 and u.disabled = 0 and u.deleting = 0 "
    "order by g.target_id";

static enum err dm_access_from_row(struct tx *tx, const struct rows *r,
                                   struct game_relationship *ret)
{
    struct user_settings settings;
    struct str document =
        row_column_is_null(r, SETTINGS_AT) ? (struct str){ 0 } : row_text(r, SETTINGS_AT);
    enum err e = user_settings_from_json(tx_arena(tx), document, &settings);

    if (!e)
        ret->dm_access_type = user_settings_game_dm_access(&settings);
    return e;
}

static enum err game_relationships_from_rows(struct tx *tx, struct rows *rows, struct list *ret)
{
    enum err e = OK;

    *ret = (struct list){ 0 };
    while (!e && rows_next(rows)) {
        struct game_relationship *g = list_append(tx_arena(tx), ret, sizeof *g);
        struct user *user = arena_alloc(tx_arena(tx), sizeof *user);

        game_relationship_from_row(rows, g);
        user_from_row(rows, USER_AT, user);
        g->user = user;
        e = dm_access_from_row(tx, rows, g);
    }
    enum err ended = rows_end(rows);
    return e ? e : ended;
}

enum err game_relationships_read(struct tx *tx, snowflake user_id, snowflake application_id,
                                 struct list *ret)
{
    struct rows rows;
    enum err e = application_id
                     ? tx_query(tx, LIST_OF_ONE, BIND(v_id(user_id), v_id(application_id)), &rows)
                     : tx_query(tx, LIST, BIND(v_id(user_id)), &rows);

    return e ? e : game_relationships_from_rows(tx, &rows, ret);
}

/* --- one side ------------------------------------------------------------------------- */

static const char FIND[] = "select " GAME_COLUMNS " from game_relationships g where "
                           "g.user_id = $1 and g.target_id = $2 and g.application_id = $3";

enum err game_relationship_find(struct tx *tx, snowflake user_id, snowflake target_id,
                                snowflake application_id, struct game_relationship *ret)
{
    struct rows row;
    bool found;
    enum err e =
        tx_one(tx, FIND, BIND(v_id(user_id), v_id(target_id), v_id(application_id)), &row, &found);

    *ret = (struct game_relationship){ .user_id = user_id,
                                       .id = target_id,
                                       .application_id = application_id };
    if (!e && found)
        game_relationship_from_row(&row, ret);
    return e;
}

static const char SAVE[] =
    "insert into game_relationships (user_id, target_id, application_id, type, since) "
    "values ($1, $2, $3, $4, $5) on conflict (user_id, target_id, application_id) do update set "
    "type = excluded.type, since = excluded.since";
static const char REMOVE[] = "delete from game_relationships where user_id = $1 and "
                             "target_id = $2 and application_id = $3";

enum err game_relationship_save(struct tx *tx, const struct game_relationship *g)
{
    if (g->type == RELATIONSHIP_NONE)
        return tx_exec(tx, REMOVE, BIND(v_id(g->user_id), v_id(g->id), v_id(g->application_id)),
                       NULL);
    return tx_exec(tx, SAVE,
                   BIND(v_id(g->user_id), v_id(g->id), v_id(g->application_id), v_int(g->type),
                        v_int(g->since)),
                   NULL);
}

enum err game_relationship_emit(struct call *call, enum event event,
                                const struct game_relationship *g)
{
    bool whole = event == EVENT_GAME_RELATIONSHIP_ADD;
    struct game_relationship shown = *g;
    struct user user;
    enum err e = game_friend_dm_access_find(call->tx, g->id, &shown.dm_access_type);

    if (!e && whole)
        e = user_find(call->tx, g->id, &user);
    if (e)
        return e;
    shown.user = &user;
    call_emit_event(call, event, audience_of_user(g->user_id),
                    whole ? &game_relationship_schema : &game_relationship_delete_schema, &shown);
    return OK;
}

/* --- deletion ------------------------------------------------------------------------- */

static enum err emit_removed_game_relationships(struct call *call, struct rows *rows)
{
    struct list gone = { 0 };

    while (rows_next(rows))
        game_relationship_from_row(
            rows, list_append(call->arena, &gone, sizeof(struct game_relationship)));
    enum err e = rows_end(rows);
    for (size_t i = 0; !e && i < gone.count; i++)
        e = game_relationship_emit(call, EVENT_GAME_RELATIONSHIP_REMOVE,
                                   (struct game_relationship *)gone.items + i);
    return e;
}

/* The caller's rows come first. */
static const char BETWEEN[] =
    "select " GAME_COLUMNS " from game_relationships g where (g.user_id = $1 and g.target_id = $2) "
    "or (g.user_id = $2 and g.target_id = $1) "
    "order by case when g.user_id = $1 then 0 else 1 end, g.application_id";
static const char END_BETWEEN[] =
    "delete from game_relationships where (user_id = $1 and target_id = $2) or "
    "(user_id = $2 and target_id = $1)";

enum err game_relationships_delete_between(struct call *call, snowflake a, snowflake b)
{
    struct rows rows;
    enum err e = tx_query(call->tx, BETWEEN, BIND(v_id(a), v_id(b)), &rows);

    if (!e)
        e = emit_removed_game_relationships(call, &rows);
    return e ? e : tx_exec(call->tx, END_BETWEEN, BIND(v_id(a), v_id(b)), NULL);
}

static enum err delete_game_relationship_batch(struct call *call, struct sql sql, snowflake id,
                                               struct deletion_step_limits *step)
{
    struct list gone = { 0 };
    enum err e = tx_read_list(call->tx, sql, BIND(v_id(id), v_int(step->rows_left)),
                              sizeof(struct game_relationship), game_relationship_from_row, &gone);

    for (size_t i = 0; !e && i < gone.count; i++) {
        struct game_relationship *g = (struct game_relationship *)gone.items + i;

        e = game_relationship_emit(call, EVENT_GAME_RELATIONSHIP_REMOVE, g);
        g->type = RELATIONSHIP_NONE;
        if (!e)
            e = game_relationship_save(call->tx, g);
    }
    deletion_step_subtract_deleted_rows(step, (int64_t)gone.count);
    return e;
}

static const char OF_APPLICATION[] =
    "select " GAME_COLUMNS " from game_relationships g where g.application_id = $1 "
    "order by g.user_id, g.target_id limit $2";

enum err game_relationships_delete_of_application(struct call *call, snowflake id,
                                                  struct deletion_step_limits *step)
{
    return delete_game_relationship_batch(call, SQL(OF_APPLICATION), id, step);
}

static const char OF_ACCOUNT[] =
    "select " GAME_COLUMNS " from game_relationships g where g.user_id = $1 or g.target_id = $1 "
    "order by g.user_id, g.target_id limit $2";

enum err game_relationships_delete_of_account(struct call *call, snowflake id,
                                              struct deletion_step_limits *step)
{
    return delete_game_relationship_batch(call, SQL(OF_ACCOUNT), id, step);
}
