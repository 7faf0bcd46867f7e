/* world.c - import and export of accounts in world files. */
#include "api/jobs/jobs.h"
#include "base/clock.h"
#include "platform/accounts/accounts.h"
#include "platform/accounts/internal.h"
#include "platform/accounts/operator.h"
#include "platform/accounts/world.h"
#include "platform/worlds/file.h"

/* --- entries ---------------------------------------------------------------------------- */

struct world_user {
    struct opt_id id;
    struct str username;
    struct opt_str global_name, email, password, password_hash, bio, locale, date_of_birth, phone;
    struct opt_str pronouns, theme_colors; /* theme_colors: JSON */
    struct opt_str token;                  /* fixed value, for tests */
    struct opt_int flags, public_flags, premium_type, accent_color;
    struct opt_bool bot;
    struct opt_bool disabled, paused, deleting; /* deleting: requested, or complete (account_end) */
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
    { 0 },
};

static void check_user(struct form *form, const struct place *here, const void *object)
{
    world_check_json(form, here, "theme_colors", &((const struct world_user *)object)->theme_colors,
                     JSON_ARRAY, JSON_NUMBER);
}

WORLD_OBJECT(user, user_fields, check_user);

/* --- import ----------------------------------------------------------------------------- */

static const char DRESS_USER[] =
    "update users set username = $2, global_name = coalesce($3, global_name), "
    "email = coalesce($4, email), password_hash = coalesce($5, password_hash), "
    "bio = coalesce($6, bio), locale = coalesce($7, locale), "
    "date_of_birth = coalesce($8, date_of_birth), flags = coalesce($9, flags), "
    "public_flags = coalesce($10, public_flags), premium_type = coalesce($11, premium_type), "
    "accent_color = coalesce($12, accent_color), bot = coalesce($13, bot), "
    "phone = coalesce($14, phone), disabled = coalesce($15, disabled), "
    "deleting = coalesce($16, deleting), pronouns = coalesce($17, pronouns), "
    "theme_colors = coalesce($18, theme_colors) where id = $1";
#define IN_ITS_GUILDS "guild_id in (select guild_id from members where user_id = $1)"
static const char FOLLOW_USERNAME[] =
    "update member_names set name = (select lower(username) from users where id = $1) "
    "where user_id = $1 and kind = 0 and " IN_ITS_GUILDS;
static const char DROP_GLOBAL_NAMES[] =
    "delete from member_names where user_id = $1 and kind = 1 and " IN_ITS_GUILDS;
static const char FOLLOW_GLOBAL_NAME[] =
    "insert into member_names (guild_id, user_id, kind, name) "
    "select m.guild_id, m.user_id, 1, lower(u.global_name) from members m "
    "join users u on u.id = m.user_id where m.user_id = $1 and u.global_name is not null";
static const char EMAIL_TAKEN[] = "select 1 from users where email = $1 and id <> $2";
static const char PHONE_TAKEN[] = "select 1 from users where phone = $1 and id <> $2";
static const char NAME_TAKEN[] = "select 1 from users where username = $1 and id <> $2";

/* Reports a unique value that belongs to another account; without this check, the constraint would
 * abort the transaction without an explanation. */
static enum err refuse_others_value(struct importing *im, struct sql sql, struct str value,
                                    snowflake id, const char *name, const struct place *up,
                                    bool *ret)
{
    struct place at = place_key(up, str_of(name));
    struct rows row;
    bool found;
    enum err e = tx_one(im->tx, sql, BIND(v_text(value), v_id(id)), &row, &found);

    if (!e && found) {
        form_fail(im->form, &at, "WORLD_TAKEN", "'%.*s' already belongs to another account",
                  STR_FMT(form_quote(value)));
        *ret = true;
    }
    return e;
}

/* Updates the lower-case names by which members of guilds are searched. */
static enum err follow_names(struct tx *tx, snowflake id)
{
    enum err e = tx_exec(tx, FOLLOW_USERNAME, BIND(v_id(id)), NULL);

    if (!e)
        e = tx_exec(tx, DROP_GLOBAL_NAMES, BIND(v_id(id)), NULL);
    return e ? e : tx_exec(tx, FOLLOW_GLOBAL_NAME, BIND(v_id(id)), NULL);
}

static const char DROP_JOB[] = "delete from jobs where kind = $1 and key = $2";

/* A pending deletion starts again with 14 days from now; a completed one needs no job. */
static enum err settle_deletion(struct importing *im, const struct world_user *u, snowflake id)
{
    int64_t weeks = ACCOUNT_DELETION_DAYS * INT64_C(86400) * 1000 * 1000;
    const struct user user = { .id = id, .username = u->username, .deleting = true };

    if (!u->deleting.value)
        return tx_exec(im->tx, DROP_JOB, BIND(v_text(str_of(account_deletion.name)), v_id(id)),
                       NULL);
    if (account_is_ended(im->arena, &user))
        return OK;
    return job_note(im->tx, account_deletion.name, id, clock_us() + weeks, STR(""));
}

static struct value world_disabled(const struct world_user *u)
{
    if (u->paused.given == GIVEN)
        return v_int(u->paused.value ? ACCOUNT_PAUSED : 0);
    return v_opt_bool(u->disabled);
}

static enum err dress_user(struct importing *im, const struct world_user *u, snowflake id,
                           const struct place *at)
{
    bool taken = false;
    enum err e = refuse_others_value(im, SQL(NAME_TAKEN), u->username, id, "username", at, &taken);

    if (!e && u->email.given == GIVEN)
        e = refuse_others_value(im, SQL(EMAIL_TAKEN), u->email.value, id, "email", at, &taken);
    if (!e && u->phone.given == GIVEN)
        e = refuse_others_value(im, SQL(PHONE_TAKEN), u->phone.value, id, "phone", at, &taken);
    if (e || taken)
        return e;
    e = tx_exec(im->tx, DRESS_USER,
                BIND(v_id(id), v_text(u->username), v_opt_text(u->global_name),
                     v_opt_text(u->email), v_opt_text(u->password_hash), v_opt_text(u->bio),
                     v_opt_text(u->locale), v_opt_text(u->date_of_birth), v_opt_int(u->flags),
                     v_opt_int(u->public_flags), v_opt_int(u->premium_type),
                     v_opt_int(u->accent_color), v_opt_bool(u->bot), v_opt_text(u->phone),
                     world_disabled(u), v_opt_bool(u->deleting), v_opt_text(u->pronouns),
                     v_opt_json(im, u->theme_colors)),
                NULL);
    if (!e && u->deleting.given == GIVEN)
        e = settle_deletion(im, u, id);
    return e ? e : follow_names(im->tx, id);
}

enum err world_add_user(struct importing *im, snowflake id, struct str username, bool bot)
{
    const char *taken; /* unused: settle and dress_user report conflicts */

    return user_insert(im->tx,
                       &(struct user){ .id = id,
                                       .username = username,
                                       .locale = STR("en-US"),
                                       .bot = given_mark(bot),
                                       .verified = true },
                       &taken);
}

static enum err import_user(struct importing *im, const void *entry, const struct place *at,
                            snowflake owner)
{
    const struct world_user *u = entry;
    unsigned before = im->form->problems;
    snowflake id = 0;
    enum err e = settle(im, &user_naming, owner, u->id, u->username, at, &id);

    if (e || im->form->problems != before)
        return e;
    count(im, COUNT_USERS, !id);
    if (!id) {
        id = u->id.given == GIVEN ? u->id.value : snowflake_new();
        e = world_add_user(im, id, u->username, u->bot.value);
    }
    return e ? e : dress_user(im, u, id, at);
}

static enum err hash_passwords(const struct world_options *o, struct arena *arena,
                               struct list *entries)
{
    struct world_user *users = entries->items;

    for (size_t i = 0; i < entries->count; i++) {
        struct world_user *u = &users[i];

        if (u->password.given != GIVEN)
            continue;
        enum err e = password_make(o->password_ops, o->password_memory, arena, u->password.value,
                                   &u->password_hash.value);
        if (e)
            return e;
        u->password_hash.given = GIVEN;
    }
    return OK;
}

static enum err issue_user_token(struct importing *im, const void *entry, const struct place *at,
                                 snowflake owner)
{
    const struct world_user *u = entry;

    (void)owner;
    return u->bot.value ? OK : world_issue_token(im, u->username, &u->token, at);
}

enum err world_note_picture(struct importing *im, const struct image *image, const char *area,
                            snowflake id, struct opt_str *ret)
{
    snowflake upload = snowflake_new();
    struct world_file_note note = { upload, id, area, image_hash(im->arena, image, upload),
                                    image->bytes };

    *ret = given_str(note.name);
    return world_note_file(im, &note);
}

/* --- export ----------------------------------------------------------------------------- */

static const char ALL_USERS[] =
    "select id, username, global_name, email, password_hash, bio, locale, date_of_birth, flags, "
    "public_flags, premium_type, accent_color, bot, phone, disabled, deleting, pronouns, theme_colors from users order by id";

static bool read_users_entry(struct exporting *ex, const struct rows *r, void *entry)
{
    struct world_user *u = entry;

    (void)ex;
    *u = (struct world_user){
        .id = { GIVEN, row_id(r, 0) },
        .username = row_text(r, 1),
        .global_name = shown_text(r, 2, NULL),
        .email = shown_text(r, 3, NULL),
        .password_hash = shown_text(r, 4, NULL),
        .bio = shown_text(r, 5, ""),
        .locale = shown_text(r, 6, "en-US"),
        .date_of_birth = shown_text(r, 7, NULL),
        .flags = shown_int(r, 8, 0),
        .public_flags = shown_int(r, 9, 0),
        .premium_type = shown_int(r, 10, 0),
        .accent_color = shown_int(r, 11, -1),
        .bot = shown_bool(r, 12, false),
        .phone = shown_text(r, 13, NULL),
        .disabled = { row_int(r, 14) == 1 ? GIVEN : ABSENT, true },
        .paused = { row_int(r, 14) == ACCOUNT_PAUSED ? GIVEN : ABSENT, true },
        .deleting = shown_bool(r, 15, false),
        .pronouns = shown_text(r, 16, ""),
        .theme_colors = shown_text(r, 17, NULL),
    };
    return true;
}

const struct world_parts accounts_world = { (const struct world_part[]){
    { NULL, "users", &world_user_list, .order = 10, .import = import_user,
      .prepare = hash_passwords, .select = { &ALL_USERS }, .read = read_users_entry },
    { NULL, "users", .order = 90, .import = issue_user_token },
    { 0 },
} };
