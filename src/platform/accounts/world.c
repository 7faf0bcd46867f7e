/* world.c - import and export of accounts in world files (JSON data sets). */
#include "api/jobs/jobs.h"
#include "base/clock.h"
#include "platform/accounts/accounts.h"
#include "platform/accounts/internal.h"
#include "platform/accounts/operator.h"
#include "platform/accounts/world.h"
#include "platform/worlds/import_export.h"

struct world_user {
    struct opt_id id;
    struct str username;
    struct opt_str global_name, email, password, password_hash, bio, locale, date_of_birth, phone;
    struct opt_str pronouns, theme_colors; /* theme_colors: JSON */
    struct opt_str token;                  /* token that tests choose */
    struct opt_int flags, public_flags, premium_type, accent_color;
    struct opt_bool bot;
    struct opt_bool disabled, paused, deleting; /* deleting: deletion is pending or complete */
    struct opt_bool placeholder;
    struct opt_str avatar; /* hash of a picture in the archive of a copied guild */
};
static const struct type type_new_password = {
    .kind = KIND_STRING, .min = 8, .max = 72, .doc = "Password"
};
static const struct type type_hash = { .kind = KIND_STRING, .max = 200, .doc = "As exported" };

static const struct field user_fields[] = {
    MAYBE(struct world_user, id, type_id),
    MUST(struct world_user, username, type_username),
    MAYBE(struct world_user, global_name, type_display_name),
    MAYBE(struct world_user, email, type_world_name),
    MAYBE(struct world_user, password, type_new_password),
    MAYBE(struct world_user, password_hash, type_hash),
    MAYBE(struct world_user, bio, type_text),
    MAYBE(struct world_user, pronouns, type_text),
    MAYBE(struct world_user, theme_colors, type_raw),
    MAYBE(struct world_user, locale, type_locale),
    MAYBE(struct world_user, date_of_birth, type_text),
    MAYBE(struct world_user, phone, type_phone),
    MAYBE(struct world_user, flags, type_int),
    MAYBE(struct world_user, public_flags, type_int),
    MAYBE(struct world_user, premium_type, type_count),
    MAYBE(struct world_user, accent_color, type_color),
    MAYBE(struct world_user, bot, type_bool),
    MAYBE(struct world_user, disabled, type_bool),
    MAYBE(struct world_user, paused, type_bool),
    MAYBE(struct world_user, deleting, type_bool),
    MAYBE(struct world_user, token, type_world_name),
    MAYBE(struct world_user, placeholder, type_bool),
    MAYBE(struct world_user, avatar, type_world_name),
    { 0 },
};

static void validate_world_user(struct form *form, const struct json_path *here, const void *object)
{
    world_file_check_json_kind(form, here, "theme_colors",
                               &((const struct world_user *)object)->theme_colors, JSON_ARRAY,
                               JSON_NUMBER);
}

WORLD_OBJECT(user, user_fields, validate_world_user);

/* --- import from a world file -------------------------------------------------------- */

static const char UPDATE_USER[] =
    "update users set username = $2, global_name = coalesce($3, global_name), "
    "email = coalesce($4, email), password_hash = coalesce($5, password_hash), "
    "bio = coalesce($6, bio), locale = coalesce($7, locale), "
    "date_of_birth = coalesce($8, date_of_birth), flags = coalesce($9, flags), "
    "public_flags = coalesce($10, public_flags), premium_type = coalesce($11, premium_type), "
    "accent_color = coalesce($12, accent_color), bot = coalesce($13, bot), "
    "phone = coalesce($14, phone), disabled = coalesce($15, disabled), "
    "deleting = coalesce($16, deleting), pronouns = coalesce($17, pronouns), "
    "theme_colors = coalesce($18, theme_colors) where id = $1";
#define IN_GUILDS_OF_USER "guild_id in (select guild_id from members where user_id = $1)"
static const char UPDATE_MEMBER_USERNAMES[] =
    "update member_names set name = (select lower(username) from users where id = $1) "
    "where user_id = $1 and kind = 0 and " IN_GUILDS_OF_USER;
static const char DROP_GLOBAL_NAMES[] =
    "delete from member_names where user_id = $1 and kind = 1 and " IN_GUILDS_OF_USER;
static const char INSERT_MEMBER_GLOBAL_NAMES[] =
    "insert into member_names (guild_id, user_id, kind, name) "
    "select m.guild_id, m.user_id, 1, lower(u.global_name) from members m "
    "join users u on u.id = m.user_id where m.user_id = $1 and u.global_name is not null";
static const char EMAIL_TAKEN[] = "select 1 from users where email = $1 and id <> $2";
static const char PHONE_TAKEN[] = "select 1 from users where phone = $1 and id <> $2";
static const char NAME_TAKEN[] = "select 1 from users where username = $1 and id <> $2";

/* Reports a form error if a unique value (username, email) belongs to another account; otherwise
 * the database constraint would abort the import without an explanation. */
static enum err refuse_value_of_another_user(struct world_file_importer *im, struct sql sql,
                                             struct str value, snowflake id, const char *name,
                                             const struct json_path *up, bool *ret)
{
    struct json_path at = json_path_key(up, str_of(name));
    bool found;
    enum err e = tx_exists(im->tx, sql, BIND(v_text(value), v_id(id)), &found);

    if (!e && found) {
        form_add_error(im->form, &at, "WORLD_TAKEN", "'%.*s' already belongs to another account",
                       STR_ARGS(form_shorten_quoted_value(value)));
        *ret = true;
    }
    return e;
}

/* Updates the lower-case names by which members of guilds are searched. */
static enum err update_member_search_names(struct tx *tx, snowflake id)
{
    enum err e = tx_exec(tx, UPDATE_MEMBER_USERNAMES, BIND(v_id(id)), NULL);

    if (!e)
        e = tx_exec(tx, DROP_GLOBAL_NAMES, BIND(v_id(id)), NULL);
    return e ? e : tx_exec(tx, INSERT_MEMBER_GLOBAL_NAMES, BIND(v_id(id)), NULL);
}

static const char DROP_JOB[] = "delete from jobs where kind = $1 and key = $2";

/* If the file declares a pending deletion of the account, schedules the deletion job 14 days after
 * the import. An account that is already erased needs no job. */
static enum err import_pending_deletion(struct world_file_importer *im, const struct world_user *u,
                                        snowflake id)
{
    int64_t weeks = ACCOUNT_DELETION_DAYS * INT64_C(86400) * 1000 * 1000;
    const struct user user = { .id = id, .username = u->username, .deleting = true };

    if (!u->deleting.value)
        return tx_exec(im->tx, DROP_JOB, BIND(v_text(str_of(account_deletion_job.name)), v_id(id)),
                       NULL);
    if (account_is_erased(im->arena, &user))
        return OK;
    return insert_job_row(im->tx, account_deletion_job.name, id, clock_us() + weeks, STR(""));
}

static struct value disabled_column_of_world_user(const struct world_user *u)
{
    if (u->paused.given == GIVEN)
        return v_int(u->paused.value ? ACCOUNT_PAUSED : 0);
    return sql_value_of_optional_bool(u->disabled);
}

static enum err update_imported_user(struct world_file_importer *im, const struct world_user *u,
                                     snowflake id, const struct json_path *at)
{
    bool taken = false;
    enum err e =
        refuse_value_of_another_user(im, SQL(NAME_TAKEN), u->username, id, "username", at, &taken);

    if (!e && u->email.given == GIVEN)
        e = refuse_value_of_another_user(im, SQL(EMAIL_TAKEN), u->email.value, id, "email", at,
                                         &taken);
    if (!e && u->phone.given == GIVEN)
        e = refuse_value_of_another_user(im, SQL(PHONE_TAKEN), u->phone.value, id, "phone", at,
                                         &taken);
    if (e || taken)
        return e;
    e = tx_exec(
        im->tx, UPDATE_USER,
        BIND(v_id(id), v_text(u->username), sql_value_of_optional_text(u->global_name),
             sql_value_of_optional_text(u->email), sql_value_of_optional_text(u->password_hash),
             sql_value_of_optional_text(u->bio), sql_value_of_optional_text(u->locale),
             sql_value_of_optional_text(u->date_of_birth), sql_value_of_optional_int(u->flags),
             sql_value_of_optional_int(u->public_flags), sql_value_of_optional_int(u->premium_type),
             sql_value_of_optional_int(u->accent_color), sql_value_of_optional_bool(u->bot),
             sql_value_of_optional_text(u->phone), disabled_column_of_world_user(u),
             sql_value_of_optional_bool(u->deleting), sql_value_of_optional_text(u->pronouns),
             sql_value_of_optional_json(im, u->theme_colors)),
        NULL);
    if (!e && u->deleting.given == GIVEN)
        e = import_pending_deletion(im, u, id);
    return e ? e : update_member_search_names(im->tx, id);
}

enum err world_file_import_user(struct world_file_importer *im, snowflake id, struct str username,
                                bool bot)
{
    const char *taken; /* unused: refuse_value_of_another_user reports conflicts */

    return user_insert(im->tx,
                       &(struct user){ .id = id,
                                       .username = username,
                                       .locale = STR("en-US"),
                                       .bot = opt_true_or_absent(bot),
                                       .verified = true },
                       &taken);
}

/* --- placeholder accounts ------------------------------------------------------------------ */

static const char READ_PLACEHOLDER[] =
    "select u.avatar, p.user_id from users u left join placeholder_accounts p on "
    "p.user_id = u.id and u.password_hash is null where u.id = $1";
static const char SET_AVATAR[] = "update users set avatar = $2 where id = $1";

/* Returns the account's name. If another account has that name, the account's id is appended. */
static enum err choose_placeholder_name(struct world_file_importer *im, const struct world_user *u,
                                        struct str *ret)
{
    bool taken = username_is_reserved(u->username);
    enum err e =
        taken ? OK
              : tx_exists(im->tx, NAME_TAKEN, BIND(v_text(u->username), v_id(u->id.value)), &taken);

    *ret = u->username;
    if (!e && taken)
        *ret = str_printf(im->arena, "%.*s_%llu", (int)(u->username.n > 11 ? 11 : u->username.n),
                          u->username.p, (unsigned long long)u->id.value);
    return e;
}

/* Imports a placeholder account. Does not change an account that was claimed or never was a
 * placeholder, because it belongs to a person. A generated name ("user_ID") does not replace a real
 * name. */
static enum err import_placeholder_account(struct world_file_importer *im,
                                           const struct world_user *in, const struct json_path *at)
{
    struct world_user u = *in;
    struct opt_str avatar = { 0 };
    struct rows row;
    bool found;
    enum err e = tx_one(im->tx, READ_PLACEHOLDER, BIND(v_id(u.id.value)), &row, &found);
    bool named =
        !str_eq(u.username, str_printf(im->arena, "user_%llu", (unsigned long long)u.id.value));

    if (e)
        return e;
    count(im, COUNT_USERS, !found);
    if (found && (row_column_is_null(&row, 1) || !named))
        return OK;
    if (found && !row_column_is_null(&row, 0))
        avatar = opt_str_or_null(str_dup(im->arena, row_text(&row, 0)));
    e = choose_placeholder_name(im, in, &u.username);
    if (!e && !found)
        e = world_file_import_user(im, u.id.value, u.username, u.bot.value);
    if (!e && !found)
        e = placeholder_account_insert(im->tx, u.id.value);
    if (!e)
        e = world_file_import_archived_picture(im, "avatars", u.id.value, &u.avatar, &avatar);
    if (!e && avatar.given == GIVEN)
        e = tx_exec(im->tx, SET_AVATAR, BIND(v_id(u.id.value), v_text(avatar.value)), NULL);
    u.email.given = u.password_hash.given = u.phone.given = u.token.given = ABSENT;
    return e ? e : update_imported_user(im, &u, u.id.value, at);
}

static enum err import_user(struct world_file_importer *im, const void *entry,
                            const struct json_path *at, snowflake owner)
{
    const struct world_user *u = entry;

    if (u->placeholder.value && u->id.given == GIVEN)
        return import_placeholder_account(im, u, at);
    unsigned before = im->form->problems;
    snowflake id = 0;
    enum err e =
        world_file_find_existing_object(im, &user_naming, owner, u->id, u->username, at, &id);

    if (e || im->form->problems != before)
        return e;
    count(im, COUNT_USERS, !id);
    if (!id) {
        id = u->id.given == GIVEN ? u->id.value : snowflake_new();
        e = world_file_import_user(im, id, u->username, u->bot.value);
    }
    return e ? e : update_imported_user(im, u, id, at);
}

static enum err hash_passwords_of_world_users(const struct world_file_import_options *o,
                                              struct arena *arena, struct list *entries)
{
    struct world_user *users = entries->items;

    world_file_progress_begin(o->progress, "accounts (hashing passwords)", (int64_t)entries->count);
    for (size_t i = 0; i < entries->count; i++) {
        struct world_user *u = &users[i];

        world_file_progress_add(o->progress, 1);
        if (u->password.given != GIVEN)
            continue;
        enum err e = password_hash_with_cost(o->password_cost, arena, u->password.value,
                                             &u->password_hash.value);
        if (e)
            return e;
        u->password_hash.given = GIVEN;
    }
    return OK;
}

static enum err issue_imported_user_token(struct world_file_importer *im, const void *entry,
                                          const struct json_path *at, snowflake owner)
{
    const struct world_user *u = entry;

    (void)owner;
    return u->bot.value || u->placeholder.value
               ? OK
               : world_file_import_token(im, u->username, &u->token, at);
}

enum err world_file_import_picture(struct world_file_importer *im,
                                   const struct uploaded_image *image, const char *area,
                                   snowflake id, struct opt_str *ret)
{
    snowflake upload = snowflake_new();
    struct world_file_attachment note = { upload, id, area,
                                          compute_picture_hash_of_upload(im->arena, image, upload),
                                          image->bytes };

    *ret = opt_str_or_null(note.name);
    return world_file_import_attachment(im, &note);
}

/* --- export to a world file ---------------------------------------------------------- */

static const char ALL_USERS[] =
    "select id, username, global_name, email, password_hash, bio, locale, date_of_birth, flags, "
    "public_flags, premium_type, accent_color, bot, phone, disabled, deleting, pronouns, theme_colors, "
    "case when exists (select 1 from placeholder_accounts p where p.user_id = users.id) then 1 "
    "else 0 end from users order by id";

static bool world_user_from_row(struct world_file_exporter *ex, const struct rows *r, void *entry)
{
    struct world_user *u = entry;

    (void)ex;
    *u = (struct world_user){
        .id = { GIVEN, row_id(r, 0) },
        .username = row_text(r, 1),
        .global_name = export_nondefault_text(r, 2, NULL),
        .email = export_nondefault_text(r, 3, NULL),
        .password_hash = export_nondefault_text(r, 4, NULL),
        .bio = export_nondefault_text(r, 5, ""),
        .locale = export_nondefault_text(r, 6, "en-US"),
        .date_of_birth = export_nondefault_text(r, 7, NULL),
        .flags = export_nondefault_int(r, 8, 0),
        .public_flags = export_nondefault_int(r, 9, 0),
        .premium_type = export_nondefault_int(r, 10, 0),
        .accent_color = export_nondefault_int(r, 11, -1),
        .bot = export_nondefault_bool(r, 12, false),
        .phone = export_nondefault_text(r, 13, NULL),
        .disabled = { row_int(r, 14) == 1 ? GIVEN : ABSENT, true },
        .paused = { row_int(r, 14) == ACCOUNT_PAUSED ? GIVEN : ABSENT, true },
        .deleting = export_nondefault_bool(r, 15, false),
        .pronouns = export_nondefault_text(r, 16, ""),
        .theme_colors = export_nondefault_text(r, 17, NULL),
        .placeholder = export_nondefault_bool(r, 18, false),
    };
    return true;
}

const struct world_file_fields accounts_world = { (const struct world_file_field[]){
    { NULL, "users", &world_user_list, .order = 10, .import = import_user,
      .prepare = hash_passwords_of_world_users, .select = { &ALL_USERS },
      .read = world_user_from_row, .count = SQL_TEXT("select count(*) from users") },
    { NULL, "users", .order = 90, .import = issue_imported_user_token },
    { 0 },
} };
