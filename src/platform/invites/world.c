/* world.c - import of vanity codes from world files. */
#include "platform/guilds/guilds.h"
#include "platform/invites/invites.h"
#include "platform/guilds/world.h"

static const char CODE_TAKEN[] =
    "select 1 from guilds where vanity_code = $1 and id <> $2 union all "
    "select 1 from invites where code = $1";
static const char SAVE_VANITY[] =
    "update guilds set vanity_code = $2, vanity_uses = coalesce($3, vanity_uses) where id = $1";

static enum err import_vanity(struct world_file_importer *im, const void *entry,
                              const struct json_path *up, snowflake id)
{
    const struct world_guild *g = entry;
    struct json_path at = json_path_key(up, STR("vanity_code"));
    bool taken;

    if (g->vanity_code.given != GIVEN)
        return OK;
    enum err e =
        tx_exists(im->tx, CODE_TAKEN, BIND(v_text(g->vanity_code.value), v_id(id)), &taken);
    if (!e && taken)
        form_add_error(im->form, &at, "WORLD_TAKEN", "another guild or an invite has this code");
    if (e || taken)
        return e;
    e = tx_exec(im->tx, SAVE_VANITY,
                BIND(v_id(id), v_text(g->vanity_code.value), optional_int_value(g->vanity_uses)),
                NULL);
    return e ? e : guild_add_feature(im->tx, id, "VANITY_URL");
}

const struct world_file_fields invites_world = { (const struct world_file_field[]){
    { "guild", .order = 175, .import = import_vanity },
    { 0 },
} };
