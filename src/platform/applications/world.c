/* world.c - import and export of applications and their bots in world files (JSON data sets). */
#include "platform/applications/internal.h"

#include <sodium.h>

#include "model/fields/ids.h"
#include "platform/accounts/accounts.h"
#include "platform/accounts/world.h"
#include "platform/worlds/import_export.h"

struct world_application {
    struct opt_id id;
    struct str name, owner;
    struct opt_str description, bot, tags, redirect_uris, install_params, integration_types_config;
    struct opt_str interactions_endpoint_url, role_connections_verification_url, custom_install_url;
    struct opt_str terms_of_service_url, privacy_policy_url, event_webhooks_url;
    struct opt_str event_webhooks_types, role_connections_metadata; /* JSON */
    struct opt_int event_webhooks_status;
    struct opt_int flags;
    struct opt_bool bot_public, bot_require_code_grant;
    struct opt_str token; /* bot token; for tests that need a token that is known in advance */
};
static const struct type type_webhooks_status = { .kind = KIND_INT, .min = 1, .max = 2 };
static const struct field application_fields[] = {
    MAYBE(struct world_application, id, type_id),
    MUST(struct world_application, name, type_world_name),
    MUST(struct world_application, owner, type_world_ref),
    MAYBE(struct world_application, description, type_text),
    MAYBE(struct world_application, bot, type_username),
    MAYBE(struct world_application, token, type_world_name),
    MAYBE(struct world_application, bot_public, type_bool),
    MAYBE(struct world_application, bot_require_code_grant, type_bool),
    MAYBE(struct world_application, flags, type_int),
    MAYBE(struct world_application, tags, type_raw),
    MAYBE(struct world_application, redirect_uris, type_raw),
    MAYBE(struct world_application, install_params, type_raw),
    MAYBE(struct world_application, integration_types_config, type_raw),
    MAYBE(struct world_application, interactions_endpoint_url, type_url),
    MAYBE(struct world_application, role_connections_verification_url, type_url),
    MAYBE(struct world_application, custom_install_url, type_url),
    MAYBE(struct world_application, terms_of_service_url, type_url),
    MAYBE(struct world_application, privacy_policy_url, type_url),
    MAYBE(struct world_application, event_webhooks_url, type_url),
    MAYBE(struct world_application, event_webhooks_status, type_webhooks_status),
    MAYBE(struct world_application, event_webhooks_types, type_raw),
    MAYBE(struct world_application, role_connections_metadata, type_raw),
    WORLD_FILE_FIELD("commands"),
    WORLD_FILE_FIELD("emojis"),
    WORLD_FILE_FIELD("skus"),
    WORLD_FILE_FIELD("entitlements"),
    { 0 },
};

static void validate_world_application(struct form *form, const struct json_path *here,
                                       const void *object)
{
    const struct world_application *a = object;

    world_file_check_string_list(form, here, "tags", &a->tags);
    world_file_check_string_list(form, here, "redirect_uris", &a->redirect_uris);
    world_file_check_string_list(form, here, "event_webhooks_types", &a->event_webhooks_types);
    world_file_check_json_kind(form, here, "role_connections_metadata",
                               &a->role_connections_metadata, JSON_ARRAY, JSON_OBJECT);
    world_file_check_json_kind(form, here, "install_params", &a->install_params, JSON_OBJECT,
                               JSON_BAD);
    world_file_check_json_kind(form, here, "integration_types_config", &a->integration_types_config,
                               JSON_OBJECT, JSON_BAD);
}

WORLD_OBJECT(application, application_fields, validate_world_application);

/* --- import from a world file -------------------------------------------------------- */

static const char FIND_BOT[] = "select id, bot from users where username = $1";
/* Updates an application. Bit 23 of the flags ("has global commands") depends on the stored
 * commands, so the world file's value of this bit is ignored. */
static const char UPDATE_APPLICATION[] =
    "update applications set name = $2, owner_id = $3, description = coalesce($4, description), "
    "bot_id = coalesce($5, bot_id), bot_public = coalesce($6, bot_public), "
    "bot_require_code_grant = coalesce($7, bot_require_code_grant), "
    "flags = (coalesce($8, flags) & ~cast(8388608 as bigint)) | (flags & 8388608), "
    "tags = coalesce($9, tags), redirect_uris = coalesce($10, redirect_uris), "
    "install_params = coalesce($11, install_params), "
    "integration_types_config = coalesce($12, integration_types_config), "
    "interactions_endpoint_url = coalesce($13, interactions_endpoint_url), "
    "role_connections_verification_url = coalesce($14, role_connections_verification_url), "
    "custom_install_url = coalesce($15, custom_install_url), "
    "terms_of_service_url = coalesce($16, terms_of_service_url), "
    "privacy_policy_url = coalesce($17, privacy_policy_url), "
    "event_webhooks_url = coalesce($18, event_webhooks_url), "
    "event_webhooks_status = coalesce($19, event_webhooks_status), "
    "event_webhooks_types = coalesce($20, event_webhooks_types), "
    "role_connections_metadata = coalesce($21, role_connections_metadata) where id = $1";

/* Finds the bot account that the world file names. *ret is 0 if the account does not exist yet. */
static enum err find_bot_account(struct world_file_importer *im, struct str name,
                                 const struct json_path *at, snowflake *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_one(im->tx, FIND_BOT, BIND(v_text(name)), &row, &found);

    if (e)
        return e;
    *ret = found ? row_id(&row, 0) : 0;
    if (found && !row_bool(&row, 1))
        form_add_error(im->form, at, "WORLD_NO_BOT", "'%.*s' is a person, not a bot",
                       STR_ARGS(form_shorten_quoted_value(name)));
    return OK;
}

/* Finds or inserts the bot's account. A bot and its application share one id, whichever of them the
 * import creates first. */
static enum err resolve_or_insert_bot(struct world_file_importer *im,
                                      const struct world_application *a, const struct json_path *up,
                                      snowflake known, snowflake *ret_id)
{
    struct json_path at = json_path_key(up, STR("bot"));
    struct opt_id wanted = known ? (struct opt_id){ GIVEN, known } : a->id;
    snowflake bot = 0;
    enum err e = a->bot.given == GIVEN ? find_bot_account(im, a->bot.value, &at, &bot) : OK;

    if (e)
        return e;
    *ret_id = wanted.given == GIVEN ? wanted.value : bot ? bot : snowflake_new();
    if (bot && bot != *ret_id)
        form_add_error(im->form, &at, "WORLD_NO_BOT", "'%.*s' is the bot of another app",
                       STR_ARGS(form_shorten_quoted_value(a->bot.value)));
    if (bot || a->bot.given != GIVEN || form_has_error_at_path(im->form, &at))
        return OK;
    count(im, COUNT_USERS, true);
    return world_file_import_user(im, *ret_id, a->bot.value, true);
}

static enum err insert_application(struct world_file_importer *im,
                                   const struct world_application *a, snowflake id, snowflake owner)
{
    unsigned char salt[16];

    randombytes_buf(salt, sizeof salt);
    struct application made = { .id = id,
                                .name = a->name,
                                .owner_id = owner,
                                .description = STR(""),
                                .flags = APPLICATION_FLAGS_INTENTS,
                                .key_salt = str_slice((const char *)salt, sizeof salt) };
    made.verify_key = application_public_key(im->arena, im->options->auth, &made);
    return application_insert(im->tx, &made);
}

static enum err update_imported_application(struct world_file_importer *im,
                                            const struct world_application *a, snowflake id,
                                            snowflake owner)
{
    return tx_exec(
        im->tx, UPDATE_APPLICATION,
        BIND(v_id(id), v_text(a->name), v_id(owner), sql_value_of_optional_text(a->description),
             a->bot.given == GIVEN ? v_id(id) : v_null(), sql_value_of_optional_bool(a->bot_public),
             sql_value_of_optional_bool(a->bot_require_code_grant),
             sql_value_of_optional_int(a->flags), sql_value_of_optional_json(im, a->tags),
             sql_value_of_optional_json(im, a->redirect_uris),
             sql_value_of_optional_json(im, a->install_params),
             sql_value_of_optional_json(im, a->integration_types_config),
             sql_value_of_optional_text(a->interactions_endpoint_url),
             sql_value_of_optional_text(a->role_connections_verification_url),
             sql_value_of_optional_text(a->custom_install_url),
             sql_value_of_optional_text(a->terms_of_service_url),
             sql_value_of_optional_text(a->privacy_policy_url),
             sql_value_of_optional_text(a->event_webhooks_url),
             sql_value_of_optional_int(a->event_webhooks_status),
             sql_value_of_optional_json(im, a->event_webhooks_types),
             sql_value_of_optional_json(im, a->role_connections_metadata)),
        NULL);
}

static enum err import_application(struct world_file_importer *im, const void *entry,
                                   const struct json_path *at, snowflake unused)
{
    const struct world_application *a = entry;
    struct json_path owner_at = json_path_key(at, STR("owner"));
    unsigned before = im->form->problems;
    snowflake id = 0, owner = 0;
    enum err e =
        world_file_find_existing_object(im, &application_naming, unused, a->id, a->name, at, &id);

    if (!e)
        e = world_file_resolve_reference(im, &user_naming, 0, a->owner, &owner_at, &owner);
    if (e || im->form->problems != before)
        return e;
    bool made = !id;
    e = resolve_or_insert_bot(im, a, at, id, &id);
    if (e || im->form->problems != before)
        return e;
    count(im, COUNT_APPLICATIONS, made);
    if (made)
        e = insert_application(im, a, id, owner);
    if (!e)
        e = update_imported_application(im, a, id, owner);
    im->guild = 0;
    return e ? e : world_file_import_fields(im, "application", entry, at, id);
}

static enum err issue_bot_token(struct world_file_importer *im, const void *entry,
                                const struct json_path *at, snowflake owner)
{
    const struct world_application *a = entry;

    (void)owner;
    return a->bot.given == GIVEN ? world_file_import_token(im, a->bot.value, &a->token, at) : OK;
}

/* Second pass of the import, after all guilds: imports the fields of an application that refer to
 * guilds. */
static enum err import_application_fields_with_guilds(struct world_file_importer *im,
                                                      const void *entry, const struct json_path *at,
                                                      snowflake owner)
{
    const struct world_application *a = entry;
    snowflake id = 0;
    enum err e = form_has_error_at_path(im->form, at)
                     ? OK
                     : world_file_find_existing_object(im, &application_naming, owner, a->id,
                                                       a->name, at, &id);

    return e || !id ? e : world_file_import_deferred_fields(im, "application", entry, at, id);
}

/* --- export to a world file ---------------------------------------------------------- */

static const char ALL_APPLICATIONS[] =
    "select a.id, a.name, o.username, a.description, b.username, a.bot_public, "
    "a.bot_require_code_grant, a.flags, a.tags, a.redirect_uris, a.install_params, "
    "a.integration_types_config, a.interactions_endpoint_url, "
    "a.role_connections_verification_url, a.custom_install_url, a.terms_of_service_url, "
    "a.privacy_policy_url, a.event_webhooks_url, a.event_webhooks_status, "
    "a.event_webhooks_types, a.role_connections_metadata from applications a "
    "join users o on o.id = a.owner_id left join users b on b.id = a.bot_id where a.removed = 0 order by a.id";

static enum err export_applications(struct world_file_exporter *ex, struct opt_list *ret)
{
    size_t size = world_file_entry_size(ex->format, "application");
    struct rows r;
    enum err e = tx_query(ex->tx, ALL_APPLICATIONS, NO_BIND, &r);

    if (e)
        return e;
    while (rows_next(&r)) {
        struct world_application *a = world_file_entry_add(ex, "application", ret);

        *a = (struct world_application){
            .id = { GIVEN, row_id(&r, 0) },
            .name = row_text(&r, 1),
            .owner = row_text(&r, 2),
            .description = export_nondefault_text(&r, 3, ""),
            .bot = export_nondefault_text(&r, 4, NULL),
            .bot_public = export_nondefault_bool(&r, 5, true),
            .bot_require_code_grant = export_nondefault_bool(&r, 6, false),
            .flags = export_nondefault_int(&r, 7, APPLICATION_FLAGS_INTENTS),
            .tags = export_nondefault_text(&r, 8, "[]"),
            .redirect_uris = export_nondefault_text(&r, 9, "[]"),
            .install_params = export_nondefault_text(&r, 10, NULL),
            .integration_types_config = export_nondefault_text(&r, 11, "{\"0\":{},\"1\":{}}"),
            .interactions_endpoint_url = export_nondefault_text(&r, 12, NULL),
            .role_connections_verification_url = export_nondefault_text(&r, 13, NULL),
            .custom_install_url = export_nondefault_text(&r, 14, NULL),
            .terms_of_service_url = export_nondefault_text(&r, 15, NULL),
            .privacy_policy_url = export_nondefault_text(&r, 16, NULL),
            .event_webhooks_url = export_nondefault_text(&r, 17, NULL),
            .event_webhooks_status = export_nondefault_int(&r, 18, 1),
            .event_webhooks_types = export_nondefault_text(&r, 19, "[]"),
            .role_connections_metadata = export_nondefault_text(&r, 20, "[]"),
        };
    }
    e = rows_end(&r);
    char *entry = ret->value.items;
    ex->guild = 0;
    for (size_t i = 0; i < ret->value.count && !e; i++, entry += size) {
        ex->application = ((struct world_application *)(void *)entry)->id.value;
        e = world_file_export_fields(ex, "application", ex->application, entry, 1);
    }
    return e;
}

/* --- installations in guilds, in world files ----------------------------------------- */

struct world_installed {
    struct opt_id id;
    struct str application;
    struct opt_str by, scopes;
};

static const struct field installed_fields[] = {
    MAYBE(struct world_installed, id, type_id),
    MUST(struct world_installed, application, type_world_ref),
    MAYBE(struct world_installed, by, type_world_ref),
    MAYBE(struct world_installed, scopes, type_raw),
    WORLD_FILE_FIELD("commands"), /* commands that exist only in this guild */
    { 0 },
};

static void validate_world_installation(struct form *form, const struct json_path *here,
                                        const void *object)
{
    world_file_check_string_list(form, here, "scopes",
                                 &((const struct world_installed *)object)->scopes);
}

WORLD_OBJECT(installed, installed_fields, validate_world_installation);

static const char FIND_INTEGRATION[] =
    "select id from integrations where guild_id = $1 and application_id = $2";
static const char NAME_OF_APPLICATION[] = "select name from applications where id = $1";

/* Sets the integration id of the bot's managed role. */
static const char MARK_ROLES[] =
    "update roles set integration_id = $2 where guild_id = $1 and managed = 1 and bot_id = "
    "(select bot_id from applications where id = $3)";

static enum err insert_installation(struct world_file_importer *im,
                                    const struct world_installed *in, snowflake guild,
                                    snowflake app, snowflake by)
{
    struct str scopes =
        in->scopes.given == GIVEN ? in->scopes.value : STR("[\"bot\",\"applications.commands\"]");
    snowflake id = in->id.given == GIVEN ? in->id.value : snowflake_new();
    struct rows row;
    bool found;
    enum err e = tx_one(im->tx, NAME_OF_APPLICATION, BIND(v_id(app)), &row, &found);

    if (!e && found)
        e = integration_insert_row(
            im->tx, &(struct new_integration){ .id = id,
                                               .guild_id = guild,
                                               .application_id = app,
                                               .user_id = by,
                                               .type = STR("service"),
                                               .name = row_text(&row, 0),
                                               .scopes = json_remove_white_space(im->arena, scopes),
                                               .created_at = snowflake_to_ms(id) * 1000 });
    return e ? e : tx_exec(im->tx, MARK_ROLES, BIND(v_id(guild), v_id(id), v_id(app)), NULL);
}

static enum err import_installation(struct world_file_importer *im, const void *entry,
                                    const struct json_path *at, snowflake guild)
{
    const struct world_installed *in = entry;
    struct json_path app_at = json_path_key(at, STR("application"));
    snowflake app = 0, by = 0;
    bool known;
    enum err e =
        world_file_resolve_reference(im, &application_naming, 0, in->application, &app_at, &app);

    if (!e)
        e = world_file_resolve_optional_reference(im, &user_naming, 0, &in->by, at, "by", &by);
    if (e || !app)
        return e;
    e = tx_exists(im->tx, FIND_INTEGRATION, BIND(v_id(guild), v_id(app)), &known);
    if (!e && !known)
        e = insert_installation(im, in, guild, app, by);
    return e ? e : world_file_import_fields(im, "installed", entry, at, app);
}

static const char INSTALLED[] =
    "select i.id, i.application_id, u.username, i.scopes from integrations i "
    "left join users u on u.id = i.user_id "
    "where i.guild_id = $1 and i.application_id is not null order by i.id";

static enum err export_installations(struct world_file_exporter *ex, struct opt_list *ret)
{
    size_t size = world_file_entry_size(ex->format, "installed");
    struct list applications = { 0 }; /* application ids of the exported installations */
    struct rows r;
    enum err e = tx_query(ex->tx, INSTALLED, BIND(v_id(ex->guild)), &r);

    if (e)
        return e;
    while (rows_next(&r)) {
        struct opt_str app = world_file_export_reference(ex->tx, &ex->applications, row_id(&r, 1));

        if (app.given != GIVEN)
            continue;
        struct world_installed *i = world_file_entry_add(ex, "installed", ret);
        *i = (struct world_installed){
            .id = { GIVEN, row_id(&r, 0) },
            .application = app.value,
            .by = export_nondefault_text(&r, 2, NULL),
            .scopes = { GIVEN, row_text(&r, 3) },
        };
        id_list_add(tx_arena(ex->tx), &applications, row_id(&r, 1));
    }
    e = rows_end(&r);
    char *entry = ret->value.items;
    for (size_t i = 0; i < applications.count && !e; i++, entry += size) {
        ex->application = ((const snowflake *)applications.items)[i];
        e = world_file_export_fields(ex, "installed", ex->application, entry, 1);
    }
    return e;
}

const struct world_file_fields applications_world = { (const struct world_file_field[]){
    { NULL, "applications", &world_application_list, "application", 20,
      .import = import_application, .export = export_applications },
    { NULL, "applications", .order = 50, .import = import_application_fields_with_guilds },
    { NULL, "applications", .order = 91, .import = issue_bot_token },
    { "guild", "applications", &world_installed_list, "installed", 100,
      .import = import_installation, .export = export_installations },
    { 0 },
} };
