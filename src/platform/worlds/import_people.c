/* import_people.c - accounts, apps, and who knows whom. */
#include "platform/worlds/internal.h"

#include <sodium.h>

#include "base/clock.h"
#include "platform/accounts/operator.h"
#include "platform/applications/applications.h"

/* --- accounts ------------------------------------------------------------------------- */

static const char ADD_USER[] =
    "insert into users (id, username, bot, verified) values ($1, $2, $3, 1)";
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

/* A unique column that is somebody else's would end the transaction without a word. */
static enum err refuse_taken(struct importing *im, struct sql sql, struct str value, snowflake id,
                             const char *name, const struct place *up, bool *ret)
{
    struct place at = place_key(up, str_of(name));
    struct rows row;
    bool found;
    enum err e = tx_one(im->tx, sql, BIND(v_text(value), v_id(id)), &row, &found);

    if (!e && found) {
        form_fail(im->form, &at, "WORLD_TAKEN", "'%.*s' is somebody else's",
                  STR_FMT(form_quote(value)));
        *ret = true;
    }
    return e;
}

/* Brings the names by which members are searched up to date. */
static enum err follow_names(struct tx *tx, snowflake id)
{
    enum err e = tx_exec(tx, FOLLOW_USERNAME, BIND(v_id(id)), NULL);

    if (!e)
        e = tx_exec(tx, DROP_GLOBAL_NAMES, BIND(v_id(id)), NULL);
    return e ? e : tx_exec(tx, FOLLOW_GLOBAL_NAME, BIND(v_id(id)), NULL);
}

static const char DROP_JOB[] = "delete from jobs where kind = $1 and key = $2";

/* Who asked for the end of an account has two weeks from now; one that has ended needs none. */
static enum err settle_deletion(struct importing *im, const struct world_user *u, snowflake id)
{
    int64_t weeks = ACCOUNT_DELETION_DAYS * INT64_C(86400) * 1000 * 1000;
    const struct user user = { .id = id, .username = u->username, .deleting = true };

    if (!u->deleting.value)
        return tx_exec(im->tx, DROP_JOB, BIND(v_text(str_of(account_deletion.name)), v_id(id)),
                       NULL);
    if (account_is_ended(im->arena, &user))
        return OK;
    return world_note_job(im, account_deletion.name, id, clock_us() + weeks);
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
    enum err e = refuse_taken(im, SQL(NAME_TAKEN), u->username, id, "username", at, &taken);

    if (!e && u->email.given == GIVEN)
        e = refuse_taken(im, SQL(EMAIL_TAKEN), u->email.value, id, "email", at, &taken);
    if (!e && u->phone.given == GIVEN)
        e = refuse_taken(im, SQL(PHONE_TAKEN), u->phone.value, id, "phone", at, &taken);
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

enum err import_user(struct importing *im, const void *entry, const struct place *at,
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
        e = tx_exec(im->tx, ADD_USER, BIND(v_id(id), v_text(u->username), v_int(u->bot.value)),
                    NULL);
    }
    return e ? e : dress_user(im, u, id, at);
}

/* --- apps ----------------------------------------------------------------------------- */

static const char FIND_BOT[] = "select id, bot from users where username = $1";
static const char ADD_APPLICATION[] =
    "insert into applications (id, name, owner_id, key_salt, verify_key, flags) "
    "values ($1, $2, $3, $4, $5, $6)";
/* Bit 23 of the flags says that it has global commands, whatever a file says. */
static const char DRESS_APPLICATION[] =
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

/* The account of a bot that the file names: 0 when there is none yet. */
static enum err find_bot(struct importing *im, struct str name, const struct place *at,
                         snowflake *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_one(im->tx, FIND_BOT, BIND(v_text(name)), &row, &found);

    if (e)
        return e;
    *ret = found ? row_id(&row, 0) : 0;
    if (found && !row_bool(&row, 1))
        form_fail(im->form, at, "WORLD_NO_BOT", "'%.*s' is a person, not a bot",
                  STR_FMT(form_quote(name)));
    return OK;
}

/* A bot and its app have the same id, whichever of them is there first. */
static enum err settle_bot(struct importing *im, const struct world_application *a,
                           const struct place *up, snowflake known, snowflake *ret_id)
{
    struct place at = place_key(up, STR("bot"));
    struct opt_id wanted = known ? (struct opt_id){ GIVEN, known } : a->id;
    snowflake bot = 0;
    enum err e = a->bot.given == GIVEN ? find_bot(im, a->bot.value, &at, &bot) : OK;

    if (e)
        return e;
    *ret_id = wanted.given == GIVEN ? wanted.value : bot ? bot : snowflake_new();
    if (bot && bot != *ret_id)
        form_fail(im->form, &at, "WORLD_NO_BOT", "'%.*s' is the bot of another app",
                  STR_FMT(form_quote(a->bot.value)));
    if (bot || a->bot.given != GIVEN || form_failed_at(im->form, &at))
        return OK;
    count(im, COUNT_USERS, true);
    return tx_exec(im->tx, ADD_USER, BIND(v_id(*ret_id), v_text(a->bot.value), v_int(1)), NULL);
}

static enum err add_application(struct importing *im, const struct world_application *a,
                                snowflake id, snowflake owner)
{
    unsigned char salt[16];

    randombytes_buf(salt, sizeof salt);
    struct application made = { .id = id, .key_salt = str_slice((const char *)salt, sizeof salt) };
    struct str key = application_verify_key(im->arena, im->options->auth, &made);
    return tx_exec(im->tx, ADD_APPLICATION,
                   BIND(v_id(id), v_text(a->name), v_id(owner), v_bytes(made.key_salt), v_text(key),
                        v_int(APPLICATION_FLAGS_INTENTS)),
                   NULL);
}

static enum err dress_application(struct importing *im, const struct world_application *a,
                                  snowflake id, snowflake owner)
{
    return tx_exec(
        im->tx, DRESS_APPLICATION,
        BIND(v_id(id), v_text(a->name), v_id(owner), v_opt_text(a->description),
             a->bot.given == GIVEN ? v_id(id) : v_null(), v_opt_bool(a->bot_public),
             v_opt_bool(a->bot_require_code_grant), v_opt_int(a->flags), v_opt_json(im, a->tags),
             v_opt_json(im, a->redirect_uris), v_opt_json(im, a->install_params),
             v_opt_json(im, a->integration_types_config), v_opt_text(a->interactions_endpoint_url),
             v_opt_text(a->role_connections_verification_url), v_opt_text(a->custom_install_url),
             v_opt_text(a->terms_of_service_url), v_opt_text(a->privacy_policy_url),
             v_opt_text(a->event_webhooks_url), v_opt_int(a->event_webhooks_status),
             v_opt_json(im, a->event_webhooks_types), v_opt_json(im, a->role_connections_metadata)),
        NULL);
}

enum err import_commands(struct importing *im, const struct opt_str *json, struct world_scope scope,
                         const struct place *up)
{
    const struct world_parts *parts = im->options->parts;
    struct place at = place_key(up, STR("commands"));

    if (json->given != GIVEN || !parts || !parts->import_commands)
        return OK;
    return parts->import_commands(im->tx, scope, json->value, im->form, &at,
                                  &im->report->counts[COUNT_COMMANDS]);
}

enum err import_application(struct importing *im, const void *entry, const struct place *at,
                            snowflake unused)
{
    const struct world_application *a = entry;
    struct place owner_at = place_key(at, STR("owner"));
    unsigned before = im->form->problems;
    snowflake id = 0, owner = 0;
    enum err e = settle(im, &application_naming, unused, a->id, a->name, at, &id);

    if (!e)
        e = refer(im, &user_naming, 0, a->owner, &owner_at, &owner);
    if (e || im->form->problems != before)
        return e;
    bool made = !id;
    e = settle_bot(im, a, at, id, &id);
    if (e || im->form->problems != before)
        return e;
    count(im, COUNT_APPLICATIONS, made);
    if (made)
        e = add_application(im, a, id, owner);
    if (!e)
        e = dress_application(im, a, id, owner);
    if (!e)
        e = import_each(im, &a->emojis, sizeof(struct world_emoji), "emojis", at,
                        import_application_emoji, id);
    if (!e)
        e = import_each(im, &a->skus, sizeof(struct world_sku), "skus", at, import_sku, id);
    return e ? e : import_commands(im, &a->commands, (struct world_scope){ id, 0 }, at);
}

/* --- who knows whom ------------------------------------------------------------------- */

enum { FRIEND = 1, BLOCKED = 2, INCOMING = 3, OUTGOING = 4 };

static const char SAVE_RELATIONSHIP[] =
    "insert into relationships (user_id, target_id, type, nickname, since) "
    "values ($1, $2, $3, $4, $5) on conflict (user_id, target_id) do update set "
    "type = excluded.type, nickname = coalesce(excluded.nickname, relationships.nickname), "
    "since = case when relationships.type = excluded.type and cast($6 as bigint) = 0 "
    "then relationships.since else excluded.since end";
static const char FIND_RELATIONSHIP[] =
    "select 1 from relationships where user_id = $1 and target_id = $2 and type = $3";

static enum err import_people_save(struct importing *im, const struct world_relationship *r,
                                   snowflake user, snowflake target, int64_t type,
                                   struct opt_str nickname)
{
    bool dated = r->since.given == GIVEN;

    return tx_exec(im->tx, SAVE_RELATIONSHIP,
                   BIND(v_id(user), v_id(target), v_int(type), v_opt_text(nickname),
                        v_int(dated ? r->since.value : clock_us()), v_int(dated)),
                   NULL);
}

/* Whoever is blocked has nothing left on their side, but may ignore and block in turn. */
static const char KEEP_IGNORED[] = "update relationships set type = 0, nickname = null where "
                                   "user_id = $1 and target_id = $2 and type <> 2";
static const char DROP_REST[] = "delete from relationships where user_id = $1 and "
                                "target_id = $2 and type = 0 and ignored = 0";

static enum err clear_other_side(struct importing *im, snowflake user, snowflake target)
{
    enum err e = tx_exec(im->tx, KEEP_IGNORED, BIND(v_id(target), v_id(user)), NULL);

    return e ? e : tx_exec(im->tx, DROP_REST, BIND(v_id(target), v_id(user)), NULL);
}

static enum err save_both(struct importing *im, const struct world_relationship *r, snowflake user,
                          snowflake target)
{
    bool friends = str_is(r->type, "friend"), blocked = str_is(r->type, "blocked");
    int64_t mine = friends ? FRIEND : blocked ? BLOCKED : OUTGOING;
    struct rows row;
    bool known;
    enum err e = tx_one(im->tx, FIND_RELATIONSHIP, BIND(v_id(user), v_id(target), v_int(mine)),
                        &row, &known);

    if (e)
        return e;
    count(im, COUNT_RELATIONSHIPS, !known);
    e = import_people_save(im, r, user, target, mine, r->nickname);
    if (e || blocked)
        return e ? e : clear_other_side(im, user, target);
    return import_people_save(im, r, target, user, friends ? FRIEND : INCOMING, r->target_nickname);
}

enum err import_relationship(struct importing *im, const void *entry, const struct place *at,
                             snowflake unused)
{
    const struct world_relationship *r = entry;
    struct place user_at = place_key(at, STR("user")), target_at = place_key(at, STR("target"));
    snowflake user = 0, target = 0;
    enum err e = refer(im, &user_naming, unused, r->user, &user_at, &user);

    if (!e)
        e = refer(im, &user_naming, unused, r->target, &target_at, &target);
    if (e || !user || !target)
        return e;
    if (user == target) {
        form_fail(im->form, &target_at, "WORLD_SELF", "nobody has a relationship with themselves");
        return OK;
    }
    return save_both(im, r, user, target);
}
