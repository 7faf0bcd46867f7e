/* index_invalidation.c - invalidates command indexes and deletes permission rows when apps, guilds,
 * members, roles or channels change. */
#include "commands/index/index_invalidation.h"

#include "base/clock.h"
#include "model/fields/ids.h"
#include "api/deletion.h"
#include "base/mem.h"

static const char SET_INDEX_VERSION[] = "insert into command_indexes (id, version) values ($1, $2) "
                                        "on conflict (id) do update set version = excluded.version";

enum err invalidate_command_index(struct tx *tx, snowflake id)
{
    return tx_exec(tx, SET_INDEX_VERSION, BIND(v_id(id), v_id(snowflake_new())), NULL);
}

enum err on_command_index_changed(struct call *call, snowflake id)
{
    return invalidate_command_index(call->tx, id);
}

/* --- direct channels with bots -------------------------------------------------------- */

/* SQL: sets the index version of the selected DM channels to $2. A bot or a user may have a hundred
 * thousand DM channels, so each statement starts from a small set: the apps of a guild, the guilds
 * of a user, one page of a bot's channels. */
#define SET_DIRECT_VERSIONS(channel_) \
    "insert into command_indexes (id, version) select distinct " channel_ ", cast($2 as bigint) "
#define ON_VERSION_CONFLICT " on conflict (id) do update set version = excluded.version"
#define BRINGS_COMMANDS(i_) i_ ".type = 'service' and " INTEGRATION_HAS_COMMANDS(i_)
/* SQL: selects the DM channel d between a user and the bot of application a. */
#define DIRECT_WITH(user_)                                                   \
    "d.low_id = case when a.bot_id < " user_ " then a.bot_id else " user_ "" \
    " end and d.high_id = case when a.bot_id < " user_ " then " user_ " else a.bot_id end"
/* SQL condition: no guild of the user other than $1 has the app. */
#define NOWHERE_ELSE(user_, app_)                                                            \
    "not exists (select 1 from members m cross join integrations o where m.user_id = " user_ \
    " and o.guild_id = m.guild_id and o.guild_id <> $1 and o.application_id = " app_         \
    " and " BRINGS_COMMANDS("o") ")"

static const char SET_VERSIONS_OF_ACCOUNT[] = SET_DIRECT_VERSIONS(
    "d.channel_id") "from applications a cross join direct_channels d where a.id = $3 "
                    "and " DIRECT_WITH("$1") ON_VERSION_CONFLICT;
static const char SET_VERSIONS_OF_BOT[] =
    SET_DIRECT_VERSIONS("d.channel_id") "from applications a cross join direct_channels d where "
                                        "a.bot_id = $3 and " DIRECT_WITH("$1") ON_VERSION_CONFLICT;
static const char SET_VERSIONS_OF_MEMBER[] = SET_DIRECT_VERSIONS(
    "d.channel_id") "from integrations i cross join applications a cross join direct_channels d "
                    "where i.guild_id = $1 and " BRINGS_COMMANDS(
                        "i") " and a.id = "
                             "i.application_id and " DIRECT_WITH("$3") " and " NOWHERE_ELSE(
                                 "$3", "a.id") ON_VERSION_CONFLICT;

enum err invalidate_command_indexes_of_account(struct call *call,
                                               const struct account_app_installation *a)
{
    enum err e =
        tx_exec(call->tx, SET_VERSIONS_OF_ACCOUNT,
                BIND(v_id(a->user_id), v_id(snowflake_new()), v_id(a->application_id)), NULL);

    return e ? e : invalidate_command_index(call->tx, a->user_id);
}

enum err invalidate_command_index_of_blocked_bot(struct call *call,
                                                 const struct user_block_change *b)
{
    return tx_exec(call->tx, SET_VERSIONS_OF_BOT,
                   BIND(v_id(b->user_id), v_id(snowflake_new()), v_id(b->target_id)), NULL);
}

static const char IS_BOT[] = "select 1 from applications where bot_id = $1";

/* Invalidates the indexes of the member's DM channels with bots. Skips members that are bots: they
 * have many DM channels and cannot use commands of other bots. */
enum err invalidate_command_indexes_of_member(struct call *call, const struct member *m)
{
    bool bot;
    enum err e = tx_exists(call->tx, IS_BOT, BIND(v_id(m->user_id)), &bot);

    if (e || bot)
        return e;
    return tx_exec(call->tx, SET_VERSIONS_OF_MEMBER,
                   BIND(v_id(m->guild_id), v_id(snowflake_new()), v_id(m->user_id)), NULL);
}

/* --- all DM channels of a bot ---------------------------------------------------------- */

/* Channels per job step; each user of a channel may be in a hundred guilds. */
enum { CHANNELS_A_STEP = 50 };

/* Position in the list of the bot's DM channels: first the open, then the closed channels. */
struct bot_channel_walk {
    snowflake guild_id, application_id, bot_id;
    int64_t closed;
    snowflake after;
};

#define PAGE_OF_BOT                                                                        \
    "(select channel_id from recipients where user_id = $1 and closed = $2 and channel_id" \
    " > $3 order by channel_id limit $4) p"
static const char END_OF_PAGE[] = "select count(*), max(p.channel_id) from " PAGE_OF_BOT;

#define OTHER_USER "case when d.low_id = $3 then d.high_id else d.low_id end"
static const char SET_VERSIONS_OF_PAGE[] = SET_DIRECT_VERSIONS(
    "d.channel_id") "from (select channel_id from recipients where user_id = $3 and closed = $4 "
                    "and channel_id > $5 and channel_id <= $6) p cross join direct_channels d "
                    "where d.channel_id = p.channel_id and exists (select 1 from members g where "
                    "g.guild_id = $1 and g.user_id = " OTHER_USER
                    ") and " NOWHERE_ELSE(OTHER_USER, "cast($7 as bigint)") ON_VERSION_CONFLICT;

static const char READ_BOT_ID[] = "select bot_id from applications where id = $1";

/* Invalidates the indexes of one page of channels. *ret_count is the number of channels; w->after
 * becomes the last channel. */
static enum err invalidate_command_indexes_of_channels(struct call *call,
                                                       struct bot_channel_walk *w,
                                                       int64_t *ret_count)
{
    snowflake before = w->after;
    struct rows row;
    bool found;
    enum err e =
        tx_one(call->tx, END_OF_PAGE,
               BIND(v_id(w->bot_id), v_int(w->closed), v_id(w->after), v_int(CHANNELS_A_STEP)),
               &row, &found);

    if (e)
        return e;
    *ret_count = row_int(&row, 0);
    if (!*ret_count)
        return OK;
    w->after = row_id(&row, 1);
    return tx_exec(call->tx, SET_VERSIONS_OF_PAGE,
                   BIND(v_id(w->guild_id), v_id(snowflake_new()), v_id(w->bot_id), v_int(w->closed),
                        v_id(before), v_id(w->after), v_id(w->application_id)),
                   NULL);
}

static enum err continue_command_index_invalidation(struct call *call, struct bot_channel_walk *w)
{
    int64_t count = 0;

    for (;;) {
        enum err e = invalidate_command_indexes_of_channels(call, w, &count);

        if (e)
            return e;
        if (count == CHANNELS_A_STEP)
            break;
        if (w->closed)
            return OK;
        w->closed = 1;
        w->after = 0;
    }
    return job_schedule(
        call, &command_index_invalidation_job, snowflake_new(), clock_us(),
        str_printf(call->arena, "%llu %llu %llu %lld %llu", (unsigned long long)w->guild_id,
                   (unsigned long long)w->application_id, (unsigned long long)w->bot_id,
                   (long long)w->closed, (unsigned long long)w->after));
}

static enum err run_channel_invalidation_job(struct call *call, const struct job *job)
{
    struct str rest = job->data;
    struct bot_channel_walk w;

    if (!snowflake_parse(str_cut(&rest, ' '), &w.guild_id) ||
        !snowflake_parse(str_cut(&rest, ' '), &w.application_id) ||
        !snowflake_parse(str_cut(&rest, ' '), &w.bot_id) ||
        !str_to_i64(str_cut(&rest, ' '), &w.closed) || !snowflake_parse(rest, &w.after))
        return OK;
    return continue_command_index_invalidation(call, &w);
}

const struct job_kind command_index_invalidation_job = {
    .name = "command-indexes",
    .doc =
        "Invalidates command indexes of a bot's direct channels after it joined or left a guild.",
    .run = run_channel_invalidation_job,
};

enum err invalidate_command_indexes_of_guild_app(struct call *call,
                                                 const struct guild_app_installation *a)
{
    struct bot_channel_walk w = { .guild_id = a->guild_id, .application_id = a->application_id };
    enum err e = tx_read_id(call->tx, READ_BOT_ID, BIND(v_id(a->application_id)), &w.bot_id);

    if (e || !w.bot_id)
        return e;
    return continue_command_index_invalidation(call, &w);
}

/* --- deletion of an application ------------------------------------------------------- */

static const char DIRECT_CHANNELS[] =
    "select r.closed, r.channel_id, c.type from recipients r join channels c on "
    "c.id = r.channel_id where r.user_id = $1 and (r.closed, r.channel_id) > ($2, $3) "
    "order by r.closed, r.channel_id limit $4";

static enum err invalidate_indexes_of_application(struct call *call, snowflake id,
                                                  struct deletion_step_limits *step)
{
    struct application_deletion *d = container_of(step, struct application_deletion, step);
    struct list channels = { 0 };
    struct rows rows;
    int64_t count = 0;
    enum err e = tx_query(call->tx, DIRECT_CHANNELS,
                          BIND(v_id(d->application.bot_id), v_int(d->closed), v_id(d->channel_id),
                               v_int(step->rows_left)),
                          &rows);

    (void)id;
    if (e)
        return e;
    for (; rows_next(&rows); count++) {
        d->closed = row_int(&rows, 0);
        d->channel_id = row_id(&rows, 1);
        if (row_int(&rows, 2) == CHANNEL_DM)
            id_list_add(call->arena, &channels, d->channel_id);
    }
    deletion_step_subtract_deleted_rows(step, count);
    e = rows_end(&rows);
    for (size_t i = 0; i < channels.count && !e; i++)
        e = invalidate_command_index(call->tx, ((snowflake *)channels.items)[i]);
    return e;
}

/* Cost of deleting a command, which may have some MiB, as a multiple of the cost of a small row. */
enum { COST_OF_COMMAND = 30 };

static const char DELETE_NEXT_COMMAND[] =
    "delete from commands where id in (select id from commands "
    "where application_id = $1 order by guild_id, id limit 1)";

static enum err delete_commands_of_application(struct call *call, snowflake id,
                                               struct deletion_step_limits *step)
{
    int64_t gone = 1;
    enum err e = OK;

    while (!e && gone && step->rows_left > 0) {
        e = tx_exec(call->tx, DELETE_NEXT_COMMAND, BIND(v_id(id)), &gone);
        deletion_step_subtract_deleted_rows(step, gone * COST_OF_COMMAND);
    }
    return e;
}

#define PERMISSIONS_OF(object, column)                                                  \
    DELETE_WHERE(object, "command_permissions", "guild_id, target_id, entity_id, type", \
                 column " = $1")

const struct deletion_rule command_deletions[] = {
    { WITH_APPLICATION, "command_indexes", .run = invalidate_indexes_of_application,
      .phase = DELETE_PARTS },
    { PERMISSIONS_OF(WITH_CHANNEL, "entity_id") },
    { PERMISSIONS_OF(WITH_GUILD, "guild_id") },
    { PERMISSIONS_OF(WITH_APPLICATION, "application_id") },
    { DELETE_WHERE(WITH_GUILD, "commands", "id", "guild_id = $1 and guild_id <> 0") },
    { DELETE_WHERE(WITH_GUILD, "command_lists", "application_id, guild_id",
                   "guild_id = $1 and guild_id <> 0") },
    { DELETE_WHERE(WITH_GUILD, "command_creates", "application_id, guild_id, id",
                   "guild_id = $1 and guild_id <> 0") },
    { DELETE_OF(WITH_APPLICATION, "command_creates", "application_id", "guild_id, id") },
    { DELETE_OF(WITH_APPLICATION, "command_lists", "application_id", "guild_id") },
    { WITH_APPLICATION, "commands", .run = delete_commands_of_application },
    { DELETE_FEW(WITH_CHANNEL, "command_indexes", "id") },
    { DELETE_FEW(WITH_GUILD, "command_indexes", "id") },
    { DELETE_FEW(WITH_APPLICATION, "command_indexes", "id") },
    { 0 },
};

/* --- permission rows of deleted roles, channels and members --------------------------- */

static const char GUILD_OF_ROWS[] = "select guild_id from command_permissions where entity_id = $1 "
                                    "and (guild_id = $2 or cast($2 as bigint) = 0) limit 1";
static const char DELETE_ENTITY_PERMISSIONS[] =
    "delete from command_permissions where entity_id = $1 and guild_id = $2";

/* Deletes the permission rows of a role, channel or member. guild_id may be 0 for a channel,
 * because only the channel's own guild has rows about it. */
static enum err delete_command_permissions_of_entity(struct call *call, snowflake guild_id,
                                                     snowflake entity_id)
{
    struct tx *tx = call->tx;
    struct rows row;
    bool found;
    enum err e = tx_one(tx, GUILD_OF_ROWS, BIND(v_id(entity_id), v_id(guild_id)), &row, &found);

    if (e || !found)
        return e;
    guild_id = row_id(&row, 0);
    e = tx_exec(tx, DELETE_ENTITY_PERMISSIONS, BIND(v_id(entity_id), v_id(guild_id)), NULL);
    return e ? e : invalidate_command_index(call->tx, guild_id);
}

enum err delete_command_permissions_of_role(struct call *call, const struct role *r)
{
    return delete_command_permissions_of_entity(call, r->guild_id, r->id);
}

enum err delete_command_permissions_of_channel(struct call *call, snowflake id)
{
    return delete_command_permissions_of_entity(call, 0, id);
}

enum err delete_command_permissions_of_member(struct call *call,
                                              const struct member_leaving_guild *leave)
{
    return delete_command_permissions_of_entity(call, leave->guild_id, leave->user->id);
}

static const char DELETE_TARGET_PERMISSIONS[] =
    "delete from command_permissions where guild_id = $1 and target_id = $2";

enum err delete_command_permissions_of_app(struct call *call,
                                           const struct guild_app_installation *a)
{
    enum err e = tx_exec(call->tx, DELETE_TARGET_PERMISSIONS,
                         BIND(v_id(a->guild_id), v_id(a->application_id)), NULL);

    return e ? e : invalidate_command_index(call->tx, a->guild_id);
}

/* --- apps that are removed from a guild ------------------------------------------------ */

static const struct sql delete_of_app_statements[] = {
    SQL_TEXT("delete from command_permissions where guild_id = $1 and application_id = $2"),
    SQL_TEXT("delete from command_lists where guild_id = $1 and application_id = $2"),
    SQL_TEXT("delete from commands where guild_id = $1 and application_id = $2"),
};

enum err delete_guild_commands_of_app(struct call *call, const struct guild_app_installation *a)
{
    enum err e = OK;

    for (size_t i = 0; !e && i < COUNT_OF(delete_of_app_statements); i++)
        e = tx_exec(call->tx, delete_of_app_statements[i],
                    BIND(v_id(a->guild_id), v_id(a->application_id)), NULL);
    return e;
}
