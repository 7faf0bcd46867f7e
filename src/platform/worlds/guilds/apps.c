/* apps.c - apps that are in guilds, in and out of world files. */
#include "platform/worlds/guilds/guilds.h"
#include "platform/worlds/internal.h"

/* --- rows ----------------------------------------------------------------------------- */

static const struct field installed_fields[] = {
    MAYBE(struct world_installed, id, type_id),
    MUST(struct world_installed, application, type_world_ref),
    MAYBE(struct world_installed, by, type_world_ref),
    MAYBE(struct world_installed, scopes, type_raw),
    MAYBE(struct world_installed, commands, type_raw),
    { 0 },
};

static void check_installed(struct form *form, const struct place *here, const void *object)
{
    world_check_texts(form, here, "scopes", &((const struct world_installed *)object)->scopes);
}

WORLD_OBJECT(installed, installed_fields, check_installed);

/* --- in ------------------------------------------------------------------------------- */

static const char FIND_INTEGRATION[] =
    "select id from integrations where guild_id = $1 and application_id = $2";
static const char ADD_INTEGRATION[] =
    "insert into integrations (id, guild_id, type, name, application_id, scopes, user_id, "
    "created_at) select cast($1 as bigint), cast($2 as bigint), 'service', a.name, a.id, "
    "cast($4 as text), cast($5 as bigint), cast($6 as bigint) from applications a "
    "where a.id = $3";

/* The bot's own role says which app it came with. */
static const char MARK_ROLES[] =
    "update roles set integration_id = $2 where guild_id = $1 and managed = 1 and bot_id = "
    "(select bot_id from applications where id = $3)";

static enum err add_installed(struct importing *im, const struct world_installed *in,
                              snowflake guild, snowflake app, snowflake by)
{
    struct str scopes =
        in->scopes.given == GIVEN ? in->scopes.value : STR("[\"bot\",\"applications.commands\"]");
    snowflake id = in->id.given == GIVEN ? in->id.value : snowflake_new();
    enum err e =
        tx_exec(im->tx, ADD_INTEGRATION,
                BIND(v_id(id), v_id(guild), v_id(app), v_text(layout_compact(im->arena, scopes)),
                     by ? v_id(by) : v_null(), v_int(snowflake_ms(id) * 1000)),
                NULL);

    return e ? e : tx_exec(im->tx, MARK_ROLES, BIND(v_id(guild), v_id(id), v_id(app)), NULL);
}

enum err import_installed(struct importing *im, const void *entry, const struct place *at,
                          snowflake guild)
{
    const struct world_installed *in = entry;
    struct place app_at = place_key(at, STR("application")), by_at = place_key(at, STR("by"));
    snowflake app = 0, by = 0;
    struct rows row;
    bool known;
    enum err e = refer(im, &application_naming, 0, in->application, &app_at, &app);

    if (!e)
        e = refer_maybe(im, &user_naming, 0, &in->by, &by_at, &by);
    if (e || !app)
        return e;
    e = tx_one(im->tx, FIND_INTEGRATION, BIND(v_id(guild), v_id(app)), &row, &known);
    if (!e && !known)
        e = add_installed(im, in, guild, app, by);
    return e ? e : import_commands(im, &in->commands, (struct world_scope){ app, guild }, at);
}

/* --- out ------------------------------------------------------------------------------ */

static const char INSTALLED[] =
    "select i.id, i.application_id, u.username, i.scopes from integrations i "
    "left join users u on u.id = i.user_id "
    "where i.guild_id = $1 and i.application_id is not null order by i.id";

enum err export_installed(struct exporting *ex, struct opt_list *ret)
{
    struct list scopes = { 0 }; /* struct world_scope, of each entry */
    struct rows r;
    enum err e = tx_query(ex->tx, INSTALLED, BIND(v_id(ex->guild)), &r);

    if (e)
        return e;
    while (rows_next(&r)) {
        struct opt_str app = shown_reference(ex->tx, &ex->applications, row_id(&r, 1));

        if (app.given != GIVEN)
            continue;
        struct world_installed *i = shown_item(ex->tx, ret, sizeof *i);
        *i = (struct world_installed){
            .id = { GIVEN, row_id(&r, 0) },
            .application = app.value,
            .by = shown_text(&r, 2, NULL),
            .scopes = { GIVEN, row_text(&r, 3) },
        };
        *(struct world_scope *)list_add(tx_arena(ex->tx), &scopes, sizeof(struct world_scope)) =
            (struct world_scope){ row_id(&r, 1), ex->guild };
    }
    e = rows_end(&r);
    struct world_installed *all = ret->value.items;
    const struct world_scope *scope = scopes.items;
    for (size_t i = 0; i < scopes.count && !e && ex->parts && ex->parts->export_commands; i++)
        e = ex->parts->export_commands(ex->tx, scope[i], &all[i].commands);
    return e;
}
