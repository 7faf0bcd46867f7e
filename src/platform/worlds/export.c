/* export.c - the world in the store, as a file. */
#include "platform/worlds/internal.h"

#include "json/read.h"
#include "platform/accounts/operator.h"
#include "platform/worlds/messages/messages.h"

/* --- accounts ------------------------------------------------------------------------- */

static const char ALL_USERS[] =
    "select id, username, global_name, email, password_hash, bio, locale, date_of_birth, flags, "
    "public_flags, premium_type, accent_color, bot, phone, disabled, deleting, pronouns, theme_colors from users order by id";

static enum err export_users(struct tx *tx, struct opt_list *ret)
{
    struct rows r;
    enum err e = tx_query(tx, ALL_USERS, NO_BIND, &r);

    if (e)
        return e;
    while (rows_next(&r)) {
        struct world_user *u = shown_item(tx, ret, sizeof *u);

        *u = (struct world_user){
            .id = { GIVEN, row_id(&r, 0) },
            .username = row_text(&r, 1),
            .global_name = shown_text(&r, 2, NULL),
            .email = shown_text(&r, 3, NULL),
            .password_hash = shown_text(&r, 4, NULL),
            .bio = shown_text(&r, 5, ""),
            .locale = shown_text(&r, 6, "en-US"),
            .date_of_birth = shown_text(&r, 7, NULL),
            .flags = shown_int(&r, 8, 0),
            .public_flags = shown_int(&r, 9, 0),
            .premium_type = shown_int(&r, 10, 0),
            .accent_color = shown_int(&r, 11, -1),
            .bot = shown_bool(&r, 12, false),
            .phone = shown_text(&r, 13, NULL),
            .disabled = { row_int(&r, 14) == 1 ? GIVEN : ABSENT, true },
            .paused = { row_int(&r, 14) == ACCOUNT_PAUSED ? GIVEN : ABSENT, true },
            .deleting = shown_bool(&r, 15, false),
            .pronouns = shown_text(&r, 16, ""),
            .theme_colors = shown_text(&r, 17, NULL),
        };
    }
    return rows_end(&r);
}

/* --- apps ----------------------------------------------------------------------------- */

static const char ALL_APPLICATIONS[] =
    "select a.id, a.name, o.username, a.description, b.username, a.bot_public, "
    "a.bot_require_code_grant, a.flags, a.tags, a.redirect_uris, a.install_params, "
    "a.integration_types_config, a.interactions_endpoint_url, "
    "a.role_connections_verification_url, a.custom_install_url, a.terms_of_service_url, "
    "a.privacy_policy_url, a.event_webhooks_url, a.event_webhooks_status, "
    "a.event_webhooks_types, a.role_connections_metadata from applications a "
    "join users o on o.id = a.owner_id left join users b on b.id = a.bot_id where a.removed = 0 order by a.id";

static enum err export_applications(struct tx *tx, const struct world_parts *parts,
                                    struct opt_list *ret)
{
    struct rows r;
    enum err e = tx_query(tx, ALL_APPLICATIONS, NO_BIND, &r);

    if (e)
        return e;
    while (rows_next(&r)) {
        struct world_application *a = shown_item(tx, ret, sizeof *a);

        *a = (struct world_application){
            .id = { GIVEN, row_id(&r, 0) },
            .name = row_text(&r, 1),
            .owner = row_text(&r, 2),
            .description = shown_text(&r, 3, ""),
            .bot = shown_text(&r, 4, NULL),
            .bot_public = shown_bool(&r, 5, true),
            .bot_require_code_grant = shown_bool(&r, 6, false),
            .flags = shown_int(&r, 7, APPLICATION_FLAGS_INTENTS),
            .tags = shown_text(&r, 8, "[]"),
            .redirect_uris = shown_text(&r, 9, "[]"),
            .install_params = shown_text(&r, 10, NULL),
            .integration_types_config = shown_text(&r, 11, "{\"0\":{},\"1\":{}}"),
            .interactions_endpoint_url = shown_text(&r, 12, NULL),
            .role_connections_verification_url = shown_text(&r, 13, NULL),
            .custom_install_url = shown_text(&r, 14, NULL),
            .terms_of_service_url = shown_text(&r, 15, NULL),
            .privacy_policy_url = shown_text(&r, 16, NULL),
            .event_webhooks_url = shown_text(&r, 17, NULL),
            .event_webhooks_status = shown_int(&r, 18, 1),
            .event_webhooks_types = shown_text(&r, 19, "[]"),
            .role_connections_metadata = shown_text(&r, 20, "[]"),
        };
    }
    e = rows_end(&r);
    struct world_application *all = ret->value.items;
    for (size_t i = 0; i < ret->value.count && !e; i++)
        e = export_application_emojis(tx, all[i].id.value, &all[i].emojis);
    for (size_t i = 0; i < ret->value.count && !e; i++)
        e = export_entitlements(tx, &all[i]);
    for (size_t i = 0; i < ret->value.count && !e && parts && parts->export_commands; i++)
        e = parts->export_commands(tx, (struct world_scope){ all[i].id.value, 0 },
                                   &all[i].commands);
    return e;
}

/* --- who knows whom ------------------------------------------------------------------- */

/* A friendship or a request is two rows in the store and one entry in the file. */
static const char ALL_RELATIONSHIPS[] =
    "select a.username, b.username, r.type, r.nickname, o.nickname, r.since from relationships r "
    "join users a on a.id = r.user_id join users b on b.id = r.target_id "
    "left join relationships o on o.user_id = r.target_id and o.target_id = r.user_id "
    "and o.type = r.type "
    "where r.type in (2, 4) or (r.type = 1 and r.user_id < r.target_id) "
    "order by r.user_id, r.target_id";

static enum err export_relationships(struct tx *tx, struct opt_list *ret)
{
    struct rows r;
    enum err e = tx_query(tx, ALL_RELATIONSHIPS, NO_BIND, &r);

    if (e)
        return e;
    while (rows_next(&r)) {
        struct world_relationship *x = shown_item(tx, ret, sizeof *x);
        int64_t type = row_int(&r, 2);

        *x = (struct world_relationship){
            .user = row_text(&r, 0),
            .target = row_text(&r, 1),
            .type = type == 1   ? STR("friend")
                    : type == 2 ? STR("blocked")
                                : STR("request"),
            .nickname = shown_text(&r, 3, NULL),
            .since = shown_int(&r, 5, -1),
        };
        if (type == 1)
            x->target_nickname = shown_text(&r, 4, NULL);
    }
    return rows_end(&r);
}

/* --- the whole ------------------------------------------------------------------------ */

struct export
{
    const struct world_parts *parts;
    struct buf text;
};

static enum err export_all(struct tx *tx, void *arg)
{
    struct export *out = arg;
    struct json j = json_to(&out->text);
    struct world_file file = { 0 };
    enum err e = export_users(tx, &file.users);

    if (!e)
        e = export_applications(tx, out->parts, &file.applications);
    if (!e)
        e = export_accounts(tx, &file.platform_accounts);
    if (!e)
        e = export_guilds(tx, out->parts, &file.guilds);
    if (!e)
        e = export_relationships(tx, &file.relationships);
    if (!e)
        e = export_private(tx, &file.directs, &file.groups);
    if (e)
        return e;
    buf_reset(&out->text);
    schema_encode_object(&j, &world_schema, &file);
    return OK;
}

enum err world_export(struct store *store, const struct world_parts *parts, struct buf *out,
                      bool *ret_importable)
{
    struct export compact = { .parts = parts };

    buf_init(&compact.text, SIZE_MAX);
    enum err e = store_run(store, STORE_READ, NULL, export_all, &compact);
    if (!e) {
        *ret_importable = json_valid(buf_str(&compact.text));
        layout_json(buf_str(&compact.text), out);
    }
    buf_clear(&compact.text);
    return e;
}
