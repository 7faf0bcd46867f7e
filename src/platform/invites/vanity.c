/* vanity.c - vanity codes: invite codes that guilds choose. A vanity code acts as an invite that
 * never expires. Members with MANAGE_GUILD may change it; the invite routes cannot delete it. */
#include "base/clock.h"
#include "model/fields/rows.h"
#include "platform/channels/channels.h"
#include "platform/invites/internal.h"

struct vanity_patch {
    struct opt_str code;
};
struct vanity_reply_body {
    struct opt_str code;
    int64_t uses;
};

static const struct field patch_fields[] = {
    { FIELD(struct vanity_patch, code), .type = &type_vanity_code, .flags = NULLABLE },
    { 0 },
};
static const struct schema patch_schema = {
    .name = "VanityPatch",
    .size = sizeof(struct vanity_patch),
    .fields = patch_fields,
    .doc = "The new vanity code; null removes it.",
};
const struct type vanity_body = { .kind = KIND_OBJECT, .schema = &patch_schema };

static const struct field vanity_fields[] = {
    { FIELD(struct vanity_reply_body, code), .type = &type_text, .flags = NULLABLE },
    { FIELD(struct vanity_reply_body, uses), .type = &type_count },
    { 0 },
};
static const struct schema vanity_schema = {
    .name = "Vanity",
    .size = sizeof(struct vanity_reply_body),
    .fields = vanity_fields,
    .doc = "The vanity code of a guild, and how often it was used.",
};
const struct type vanity_reply = { .kind = KIND_OBJECT, .schema = &vanity_schema };

/* --- finding a vanity code as an invite ---------------------------------------------- */

/* SQL condition: @everyone can view channel c. ADMINISTRATOR is 8, VIEW_CHANNEL is 1024; o is the
 * overwrite of @everyone. */
#define CHANNEL_OF_EVERYONE                                                               \
    "(select c.id from channels c left join overwrites o on o.channel_id = c.id and "     \
    "o.target_id = g.id where c.guild_id = g.id and c.thread_archived = 0 and "           \
    "c.type in (0, 5) and ((e.permissions & 8) <> 0 or (coalesce(o.allow, 0) & 1024) <> " \
    "0 or ((e.permissions & 1024) <> 0 and (coalesce(o.deny, 0) & 1024) = 0))"

/* Finds the guild of a vanity code, and a channel for the invite. Anybody may use the code, so
 * @everyone must be able to view that channel: the system channel or, if it is not visible, the
 * first visible channel; null if there is none. */
static const char FIND_VANITY[] =
    "select g.id, g.vanity_code, coalesce(" CHANNEL_OF_EVERYONE
    " and c.id = g.system_channel_id), " CHANNEL_OF_EVERYONE
    " order by c.position, c.id limit 1)), g.features from guilds g join roles e on e.id = g.id "
    "where g.vanity_code = $1 and g.removed = 0";

enum err vanity_invite_find(struct tx *tx, struct str code, struct invite *ret, bool *ret_found)
{
    struct str lower = str_lower(tx_arena(tx), code);
    struct rows r;
    enum err e = tx_one(tx, FIND_VANITY, BIND(v_text(lower)), &r, ret_found);

    if (e || !*ret_found)
        return e;
    struct guild g = { .features = row_text(&r, 3) };
    *ret_found = guild_has_feature(&g, "VANITY_URL");
    *ret = (struct invite){
        .code = row_text(&r, 1),
        .type = INVITE_GUILD,
        .guild_id = opt_id_or_null(row_id(&r, 0)),
        .channel_id = { row_column_is_null(&r, 2) ? ABSENT : GIVEN, row_id(&r, 2) },
        .created_at = snowflake_to_ms(row_id(&r, 0)) * 1000,
        .expires_at.given = GIVEN_NULL,
        .vanity = true,
    };
    return *ret_found ? invite_read_referenced_objects(tx, ret) : OK;
}

enum err vanity_invite_increment_use_count(struct tx *tx, snowflake guild_id)
{
    return tx_exec(tx, "update guilds set vanity_uses = vanity_uses + 1 where id = $1",
                   BIND(v_id(guild_id)), NULL);
}

enum err require_vanity_feature(struct call *call)
{
    return guild_has_feature(call->target.guild, "VANITY_URL") ? OK : ERR_MISSING_ACCESS;
}

enum err get_vanity_url(struct call *call)
{
    const struct guild *g = call->target.guild;
    struct vanity_reply_body out = { .code = g->vanity_url_code };
    enum err e = tx_read_int(call->tx, "select vanity_uses from guilds where id = $1",
                             BIND(v_id(g->id)), &out.uses);

    return e ? e : call_reply_with_object(call, &out);
}

static enum err require_vanity_code_unused(struct call *call, struct opt_str code)
{
    bool found = false;
    enum err e = code.given != GIVEN ? OK
                                     : tx_exists(call->tx, "select 1 from invites where code = $1",
                                                 BIND(v_text(code.value)), &found);

    return e || !found ? e : ERR_INVITE_CODE_INVALID;
}

enum err modify_vanity_url(struct call *call)
{
    const struct vanity_patch *in = call->body;
    const struct guild *g = call->target.guild;
    struct list changes = { 0 };
    enum err e = require_vanity_code_unused(call, in->code);

    if (!e)
        e = guild_update_vanity_code(call->tx, g->id, in->code);
    audit_log_add_typed_change_to_list(call, &changes, "vanity_url_code", &type_text,
                                       g->vanity_url_code.given == GIVEN ? &g->vanity_url_code.value
                                                                         : NULL,
                                       in->code.given == GIVEN ? &in->code.value : NULL);
    if (!e)
        e = audit_log_record_changes(call, g->id, AUDIT_GUILD_UPDATE, g->id, NULL, changes);
    if (!e)
        e = guild_emit_update(call, g->id);
    return e ? e : call_reply_with_object(call, &(struct vanity_reply_body){ .code = in->code });
}
