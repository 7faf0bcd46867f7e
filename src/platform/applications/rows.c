/* rows.c - SQL of applications and their bot accounts. */
#include "platform/applications/internal.h"

#include <sodium.h>

#include "base/mem.h"
#include "model/fields/rows.h"
#include "platform/accounts/users.h"

/* Selects bot_public and bot_require_code_grant twice, because the API has two names for each of
 * these fields. */
#define APPLICATION_COLUMNS                                                                      \
    "a.id, a.name, a.description, a.icon, coalesce(t.owner_id, a.owner_id), "                    \
    "coalesce(a.team_id, 0), a.flags, a.bot_public, a.bot_require_code_grant, a.redirect_uris, " \
    "a.interactions_endpoint_url, a.role_connections_verification_url, a.custom_install_url, "   \
    "a.install_params, a.integration_types_config, a.tags, a.key_salt, a.verify_key, "           \
    "a.secret_digest, a.cover_image, a.terms_of_service_url, a.privacy_policy_url, "             \
    "a.event_webhooks_url, a.event_webhooks_status, a.event_webhooks_types"
enum { BOT_COLUMN = 25 };

/* Returns absent instead of null for a null column, so that replies omit the field. */
static struct opt_str optional_text_from_row(const struct rows *r, int column)
{
    struct opt_str s = row_optional_text(r, column);

    if (s.given == GIVEN_NULL)
        s.given = ABSENT;
    return s;
}

static void application_from_row(const struct rows *r, void *ret)
{
    struct application *a = ret;
    struct arena *arena = tx_arena(r->tx);
    struct user *bot = NULL;
    bool everybody = row_bool(r, 7), code_grant = row_bool(r, 8);

    if (!row_column_is_null(r, BOT_COLUMN)) {
        bot = arena_alloc(arena, sizeof *bot);
        user_from_row(r, BOT_COLUMN, bot);
    }
    *a = (struct application){
        .id = row_id(r, 0),
        .name = row_text(r, 1),
        .description = row_text(r, 2),
        .summary = STR(""),
        .icon = row_optional_text(r, 3),
        .owner_id = row_id(r, 4),
        .team_id = row_id(r, 5),
        .bot = bot,
        .bot_id = bot ? bot->id : 0,
        .bot_public = everybody,
        .integration_public = everybody,
        .bot_require_code_grant = code_grant,
        .integration_require_code_grant = code_grant,
        .redirect_uris = json_column_decode_list(arena, &type_texts, row_text(r, 9)),
        .interactions_endpoint_url = row_optional_text(r, 10),
        .role_connections_verification_url = row_optional_text(r, 11),
        .custom_install_url = optional_text_from_row(r, 12),
        .integration_types_config =
            json_column_decode_list(arena, &type_integration_types, row_text(r, 14)),
        .tags = json_column_decode_list(arena, &type_texts, row_text(r, 15)),
        .key_salt = row_bytes(r, 16),
        .verify_key = row_text(r, 17),
        .cover_image = optional_text_from_row(r, 19),
        .terms_of_service_url = optional_text_from_row(r, 20),
        .privacy_policy_url = optional_text_from_row(r, 21),
        .event_webhooks_url = row_optional_text(r, 22),
        .event_webhooks_status = row_int(r, 23),
        .event_webhooks_types = json_column_decode_list(arena, &type_texts, row_text(r, 24)),
        .interactions_version = 1,
        .hook = true,
    };
    application_set_flags(a, row_int(r, 6));
    if (!row_column_is_null(r, 13))
        a->install_params = json_column_decode(arena, &type_install_params, row_text(r, 13));
    if (!row_column_is_null(r, 18))
        a->secret_digest = row_bytes(r, 18);
}

#define FROM_APPLICATIONS                                         \
    " from applications a left join teams t on t.id = a.team_id " \
    "left join users u on u.id = a.bot_id "

#define FIND_APPLICATION \
    "select " APPLICATION_COLUMNS ", " USER_COLUMNS FROM_APPLICATIONS "where a.id = $1"

static enum err find_application_with_sql(struct tx *tx, struct sql sql, snowflake id,
                                          struct application *ret)
{
    return tx_read_first(tx, sql, BIND(v_id(id)), application_from_row, ret,
                         ERR_UNKNOWN_APPLICATION);
}

enum err application_find(struct tx *tx, snowflake id, struct application *ret)
{
    return find_application_with_sql(tx, SQL(FIND_APPLICATION " and a.removed = 0"), id, ret);
}

enum err application_find_including_removed(struct tx *tx, snowflake id, struct application *ret)
{
    return find_application_with_sql(tx, SQL(FIND_APPLICATION), id, ret);
}

enum err application_find_removed(struct tx *tx, snowflake id, struct application *ret)
{
    return find_application_with_sql(tx, SQL(FIND_APPLICATION " and a.removed = 1"), id, ret);
}

static const char OWN_APPLICATIONS[] =
    "select " APPLICATION_COLUMNS ", " USER_COLUMNS FROM_APPLICATIONS
    "where a.owner_id = $1 and a.team_id is null and a.removed = 0 order by a.id";
static const char TEAM_APPLICATIONS[] =
    "select " APPLICATION_COLUMNS ", " USER_COLUMNS FROM_APPLICATIONS
    "join team_members m on m.team_id = a.team_id "
    "where m.user_id = $1 and m.state = 2 order by a.id";

static enum err append_applications_with_sql(struct tx *tx, struct sql sql, snowflake user_id,
                                             struct list *ret)
{
    return tx_read_list(tx, sql, BIND(v_id(user_id)), sizeof(struct application),
                        application_from_row, ret);
}

enum err applications_list_of_owner(struct tx *tx, snowflake owner_id, bool with_teams,
                                    struct list *ret)
{
    *ret = (struct list){ 0 };
    enum err e = append_applications_with_sql(tx, SQL(OWN_APPLICATIONS), owner_id, ret);

    return e || !with_teams
               ? e
               : append_applications_with_sql(tx, SQL(TEAM_APPLICATIONS), owner_id, ret);
}

/* --- owner and team, which only developers see --------------------------------------- */

/* Returns a user object that represents a team, because clients require a user as owner. */
static const struct user *make_user_for_team(struct arena *arena, const struct team *team)
{
    enum { TEAM_PSEUDO_USER = 1 << 10 };
    struct user *user = arena_alloc(arena, sizeof *user);

    *user = (struct user){
        .id = team->id,
        .username = str_printf(arena, "team%llu", (unsigned long long)team->id),
        .discriminator = STR("0"),
        .flags = TEAM_PSEUDO_USER,
        .public_flags = TEAM_PSEUDO_USER,
    };
    return user;
}

static const char COUNTS[] =
    "select (select count(*) from integrations where application_id = $1), "
    "(select count(*) from authorizations where application_id = $1 and installed = 1), "
    "(select count(*) from authorizations where application_id = $1)";

enum err application_count_installations(struct tx *tx, snowflake id,
                                         struct application_install_counts *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, COUNTS, BIND(v_id(id)), &row, &found);

    if (!e)
        *ret = (struct application_install_counts){ row_int(&row, 0), row_int(&row, 1),
                                                    row_int(&row, 2) };
    return e;
}

void application_set_install_counts(struct application *a,
                                    const struct application_install_counts *counts)
{
    a->approximate_guild_count = counts->guilds;
    a->approximate_user_install_count = counts->installs;
    a->approximate_user_authorization_count = counts->authorizations;
}

enum err application_read_owner_and_team(struct tx *tx, struct application *a)
{
    struct arena *arena = tx_arena(tx);
    enum err e;

    if (a->team_id) {
        struct team *team = arena_alloc(arena, sizeof *team);

        e = team_find(tx, a->team_id, team);
        a->team = team;
        a->owner = make_user_for_team(arena, team);
    } else {
        struct user *owner = arena_alloc(arena, sizeof *owner);

        e = user_find(tx, a->owner_id, owner);
        a->owner = owner;
    }
    return e;
}

static const char COUNT_OWN[] =
    "select count(*) from applications where owner_id = $1 and team_id is null and removed = 0";
static const char COUNT_TEAM[] = "select count(*) from applications where team_id = $1";

enum err applications_count_of_owner(struct tx *tx, snowflake owner_id, snowflake team_id,
                                     int64_t *ret)
{
    return team_id ? tx_read_int(tx, COUNT_TEAM, BIND(v_id(team_id)), ret)
                   : tx_read_int(tx, COUNT_OWN, BIND(v_id(owner_id)), ret);
}

static const char ADD_APPLICATION[] =
    "insert into applications (id, name, description, icon, owner_id, team_id, flags, bot_id, "
    "redirect_uris, key_salt, verify_key) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";

enum err application_insert(struct tx *tx, const struct application *a)
{
    return tx_exec(tx, ADD_APPLICATION,
                   BIND(v_id(a->id), v_text(a->name), v_text(a->description),
                        sql_value_of_optional_text(a->icon), v_id(a->owner_id),
                        a->team_id ? v_id(a->team_id) : v_null(), v_int(a->flags),
                        a->bot_id ? v_id(a->bot_id) : v_null(),
                        v_text(json_column_encode(tx_arena(tx), &type_texts, &a->redirect_uris)),
                        v_bytes(a->key_salt), v_text(a->verify_key)),
                   NULL);
}

static const char SAVE_APPLICATION[] =
    "update applications set name = $2, description = $3, icon = $4, team_id = $5, flags = $6, "
    "bot_public = $7, bot_require_code_grant = $8, redirect_uris = $9, "
    "interactions_endpoint_url = $10, role_connections_verification_url = $11, "
    "custom_install_url = $12, install_params = $13, integration_types_config = $14, tags = $15, "
    "cover_image = $16, terms_of_service_url = $17, privacy_policy_url = $18, "
    "event_webhooks_url = $19, event_webhooks_status = $20, event_webhooks_types = $21 "
    "where id = $1";

enum err application_update(struct tx *tx, const struct application *a)
{
    struct arena *arena = tx_arena(tx);

    return tx_exec(
        tx, SAVE_APPLICATION,
        BIND(v_id(a->id), v_text(a->name), v_text(a->description),
             sql_value_of_optional_text(a->icon), a->team_id ? v_id(a->team_id) : v_null(),
             v_int(a->flags), v_int(a->integration_public),
             v_int(a->integration_require_code_grant),
             v_text(json_column_encode(arena, &type_texts, &a->redirect_uris)),
             sql_value_of_optional_text(a->interactions_endpoint_url),
             sql_value_of_optional_text(a->role_connections_verification_url),
             sql_value_of_optional_text(a->custom_install_url),
             a->install_params
                 ? v_text(json_column_encode(arena, &type_install_params, a->install_params))
                 : v_null(),
             v_text(
                 json_column_encode(arena, &type_integration_types, &a->integration_types_config)),
             v_text(json_column_encode(arena, &type_texts, &a->tags)),
             sql_value_of_optional_text(a->cover_image),
             sql_value_of_optional_text(a->terms_of_service_url),
             sql_value_of_optional_text(a->privacy_policy_url),
             sql_value_of_optional_text(a->event_webhooks_url), v_int(a->event_webhooks_status),
             v_text(json_column_encode(arena, &type_texts, &a->event_webhooks_types))),
        NULL);
}

static const char MARK_BOT[] = "update users set public_flags = $2 where id = $1";

enum err bot_update_http_interactions_flag(struct tx *tx, struct application *a)
{
    enum { BOT_HTTP_INTERACTIONS = 1 << 19 };
    bool http = a->interactions_endpoint_url.given == GIVEN;
    struct user *bot = arena_alloc(tx_arena(tx), sizeof *bot);

    if (!a->bot || http == !!(a->bot->public_flags & BOT_HTTP_INTERACTIONS))
        return OK;
    *bot = *a->bot;
    bot->public_flags ^= BOT_HTTP_INTERACTIONS;
    a->bot = bot;
    return tx_exec(tx, MARK_BOT, BIND(v_id(bot->id), v_int(bot->public_flags)), NULL);
}

/* Marks an application as removed and clears team_id, because the team may be deleted first. */
static const char MARK_APPLICATION[] =
    "update applications set removed = 1, team_id = null where id = $1";

enum err application_mark_removed(struct tx *tx, snowflake id)
{
    return tx_exec(tx, MARK_APPLICATION, BIND(v_id(id)), NULL);
}

static const char DELETE_APPLICATION[] = "delete from applications where id = $1";

enum err application_delete_row(struct tx *tx, snowflake id)
{
    return tx_exec(tx, DELETE_APPLICATION, BIND(v_id(id)), NULL);
}

/* --- account of an app's bot --------------------------------------------------------- */

static const char SET_BOT[] = "update applications set bot_id = $2 where id = $1";
static const char DISABLE_BOT[] = "update users set disabled = 1 where id = $1";

static enum err bot_account_insert(struct tx *tx, const struct application *a)
{
    struct arena *arena = tx_arena(tx);
    struct str names[] = { derive_bot_username_from_app_name(arena, a->name),
                           derive_bot_username_from_app_name_and_id(arena, a->name, a->id),
                           str_printf(arena, "bot_%llu", (unsigned long long)a->id) };
    struct user bot = { .id = a->bot_id,
                        .global_name = opt_str_or_null(a->name),
                        .locale = STR("en-US"),
                        .bot = opt_bool_present(true),
                        .verified = true };
    const char *taken = "username";
    enum err e = OK;

    for (size_t i = username_is_reserved(names[0]); i < COUNT_OF(names) && taken && !e; i++) {
        bot.username = names[i];
        e = user_insert(tx, &bot, &taken);
    }
    return !e && taken ? ERR_STORE_CONFLICT : e;
}

enum err application_add_bot(struct tx *tx, struct application *a)
{
    a->bot_id = a->id;
    enum err e = bot_account_insert(tx, a);

    return e ? e : tx_exec(tx, SET_BOT, BIND(v_id(a->id), v_id(a->bot_id)), NULL);
}

/* Disables the account of a deleted bot. The account is not deleted, because its messages still
 * show its name. */
enum err application_disable_bot_account(struct tx *tx, snowflake id)
{
    return tx_exec(tx, DISABLE_BOT, BIND(v_id(id)), NULL);
}

enum err application_create(struct tx *tx, const struct auth *auth,
                            const struct new_application *draft, struct application *ret)
{
    unsigned char salt[KEY_SALT_BYTES];
    snowflake id = draft->id ? draft->id : snowflake_new();
    struct application a = {
        .id = id,
        .bot_id = id,
        .name = draft->name,
        .description = draft->description.p ? draft->description : STR(""),
        .icon = draft->icon,
        .owner_id = draft->owner_id,
        .team_id = draft->team_id,
        .redirect_uris = draft->redirect_uris,
        .flags = draft->flags & APPLICATION_FLAGS_SETTABLE,
        .key_salt = str_slice((const char *)salt, sizeof salt),
    };

    randombytes_buf(salt, sizeof salt);
    a.verify_key = application_public_key(tx_arena(tx), auth, &a);
    enum err e = bot_account_insert(tx, &a);
    if (!e)
        e = application_insert(tx, &a);
    return e ? e : application_find(tx, id, ret);
}
