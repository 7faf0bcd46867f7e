/* world.c - import of vanity codes and invites from world files. */
#include "base/clock.h"
#include "platform/guilds/guilds.h"
#include "platform/guilds/world.h"
#include "platform/invites/invites.h"

/* --- schema --------------------------------------------------------------------------- */

struct world_invite {
    struct str code, channel;
    struct opt_str by;
    struct opt_int max_age, max_uses, uses, created_at;
    struct opt_bool temporary;
};
static const struct field invite_entry_fields[] = {
    MUST(struct world_invite, code, type_world_name),
    MUST(struct world_invite, channel, type_world_ref),
    MAYBE(struct world_invite, by, type_world_ref),
    MAYBE(struct world_invite, max_age, type_count),
    MAYBE(struct world_invite, max_uses, type_count),
    MAYBE(struct world_invite, uses, type_count),
    MAYBE(struct world_invite, created_at, type_time),
    MAYBE(struct world_invite, temporary, type_bool),
    { 0 },
};
static void check_invite_entry(struct form *form, const struct json_path *here, const void *object)
{
    struct str code = ((const struct world_invite *)object)->code;
    struct json_path at = json_path_key(here, STR("code"));

    for (size_t i = 0; i < code.n; i++)
        if (!memchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-", code.p[i],
                    63)) {
            form_add_error(form, &at, "WORLD_NO_CODE", "A code has letters, digits and '-'.");
            return;
        }
}

WORLD_OBJECT(invite, invite_entry_fields, check_invite_entry);

/* --- vanity codes --------------------------------------------------------------------- */

static const char CODE_TAKEN[] =
    "select 1 from guilds where vanity_code = $1 and id <> $2 union all "
    "select 1 from invites where code = $1";
static const char SAVE_VANITY[] =
    "update guilds set vanity_code = $2, vanity_uses = coalesce($3, vanity_uses) where id = $1";

static enum err import_vanity_invite_code(struct world_file_importer *im, const void *entry,
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
    e = tx_exec(
        im->tx, SAVE_VANITY,
        BIND(v_id(id), v_text(g->vanity_code.value), sql_value_of_optional_int(g->vanity_uses)),
        NULL);
    return e ? e : guild_add_feature_without_event(im->tx, id, "VANITY_URL");
}

/* --- invites -------------------------------------------------------------------------- */

static const char INSERT_IMPORTED_INVITE[] =
    "insert into invites (code, type, guild_id, channel_id, inviter_id, created_at, expires_at, "
    "max_age, max_uses, uses, is_temporary) values ($1, 0, $2, $3, $4, $5, $6, $7, $8, $9, $10) "
    "on conflict do nothing";

/* Imports an invite. Skips invites that already exist or have expired. */
static enum err import_invite(struct world_file_importer *im, const void *entry,
                              const struct json_path *at, snowflake guild)
{
    const struct world_invite *in = entry;
    struct json_path channel_at = json_path_key(at, STR("channel"));
    unsigned before = im->form->problems;
    snowflake channel = 0, by = 0;
    int64_t created = in->created_at.given == GIVEN ? in->created_at.value : clock_us();
    int64_t expires = created + in->max_age.value * 1000000;
    bool taken = false;
    enum err e = world_file_resolve_reference(im, &channel_naming, guild, in->channel, &channel_at,
                                              &channel);

    if (!e)
        e = world_file_resolve_optional_reference(im, &user_naming, 0, &in->by, at, "by", &by);
    if (!e)
        e = tx_exists(im->tx, CODE_TAKEN, BIND(v_text(in->code), v_id(guild)), &taken);
    if (e || taken || im->form->problems != before || (in->max_age.value && expires <= clock_us()))
        return e;
    return tx_exec(im->tx, INSERT_IMPORTED_INVITE,
                   BIND(v_text(in->code), v_id(guild), v_id(channel), by ? v_id(by) : v_null(),
                        v_int(created), in->max_age.value ? v_int(expires) : v_null(),
                        v_int(in->max_age.value), v_int(in->max_uses.value), v_int(in->uses.value),
                        v_int(in->temporary.value)),
                   NULL);
}

const struct world_file_fields invites_world = { (const struct world_file_field[]){
    { "guild", .order = 175, .import = import_vanity_invite_code },
    { "guild", "invites", &world_invite_list, .order = 176, .import = import_invite },
    { 0 },
} };
