/* world.c - import and export of members and bans in world files (JSON data sets). */
#include "base/clock.h"
#include "model/guild.h"
#include "model/fields/ids.h"
#include "model/user.h"
#include "platform/guilds/world.h"
#include "platform/members/internal.h"

struct world_member {
    struct str user;
    struct opt_str nick, bio, avatar,
        banner;            /* avatar, banner: hashes of pictures in the archive of a copied guild */
    struct opt_list roles; /* struct str */
    struct opt_int joined_at, premium_since, timed_out_until, flags;
    struct opt_bool mute, deaf, pending;
};
struct world_ban {
    struct str user;
    struct opt_str reason;
};

static const struct field member_fields[] = {
    MUST(struct world_member, user, type_world_ref),
    MAYBE(struct world_member, nick, type_nick),
    MAYBE(struct world_member, bio, type_text),
    MAYBE(struct world_member, roles, type_world_refs),
    MAYBE(struct world_member, joined_at, type_time),
    MAYBE(struct world_member, premium_since, type_time),
    MAYBE(struct world_member, timed_out_until, type_time),
    MAYBE(struct world_member, flags, type_int),
    MAYBE(struct world_member, mute, type_bool),
    MAYBE(struct world_member, deaf, type_bool),
    MAYBE(struct world_member, pending, type_bool),
    MAYBE(struct world_member, avatar, type_world_name),
    MAYBE(struct world_member, banner, type_world_name),
    { 0 },
};
static const struct field ban_fields[] = {
    MUST(struct world_ban, user, type_world_ref),
    MAYBE(struct world_ban, reason, type_text),
    { 0 },
};

WORLD_OBJECT(member, member_fields, NULL);
WORLD_OBJECT(ban, ban_fields, NULL);

/* --- import of members from a world file --------------------------------------------- */

static const char ADD_TO_MEMBER_COUNT[] =
    "update guilds set member_count = member_count + $2 where id = $1";
static const char UPDATE_MEMBER[] =
    "update members set nick = coalesce($3, nick), bio = coalesce($4, bio), "
    "joined_at = coalesce($5, joined_at), premium_since = coalesce($6, premium_since), "
    "timed_out_until = coalesce($7, timed_out_until), flags = coalesce($8, flags), "
    "mute = coalesce($9, mute), deaf = coalesce($10, deaf), pending = coalesce($11, pending) "
    "where guild_id = $1 and user_id = $2";
/* The archive of a copied guild is complete, so a missing nickname or timeout was removed. */
static const char CLEAR_MEMBER[] =
    "update members set nick = $3, timed_out_until = $4 where guild_id = $1 and user_id = $2";

static enum err insert_imported_member(struct world_file_importer *im, snowflake guild,
                                       snowflake user, bool *ret_new)
{
    const struct member m = { .guild_id = guild, .user_id = user, .joined_at = clock_us() };

    return member_insert_row(im->tx, &m, false, ret_new);
}

static enum err import_member_roles(struct world_file_importer *im, const struct opt_list *list,
                                    snowflake guild, snowflake user, const struct json_path *up)
{
    struct json_path all = json_path_key(up, STR("roles"));
    struct member m = { .guild_id = guild, .user_id = user };
    const struct str *roles = list->value.items;
    enum err e = OK;

    for (size_t i = 0; i < list->value.count && !e; i++) {
        struct json_path at = json_path_index(&all, i);
        snowflake role = 0;

        e = world_file_resolve_reference(im, &role_naming, guild, roles[i], &at, &role);
        /* @everyone is not stored in member_roles, because every member has it. */
        if (!e && role && role != guild)
            id_list_add(im->arena, &m.roles, role);
    }
    return e ? e : member_write_roles(im->tx, &m);
}

static const char FIND_PICTURES[] =
    "select avatar, banner from members where guild_id = $1 and user_id = $2";
static const char SET_PICTURES[] =
    "update members set avatar = $3, banner = $4 where guild_id = $1 and user_id = $2";

static enum err import_member_pictures(struct world_file_importer *im, const struct world_member *m,
                                       snowflake guild, snowflake user)
{
    struct rows r;
    bool found;

    if (m->avatar.given != GIVEN && m->banner.given != GIVEN)
        return OK;
    enum err e = tx_one(im->tx, FIND_PICTURES, BIND(v_id(guild), v_id(user)), &r, &found);
    if (e || !found)
        return e;
    struct opt_str avatar = row_optional_text(&r, 0), banner = row_optional_text(&r, 1);
    e = world_file_import_archived_picture(im, "member-avatars", user, &m->avatar, &avatar);
    if (!e)
        e = world_file_import_archived_picture(im, "member-banners", user, &m->banner, &banner);
    return e ? e
             : tx_exec(im->tx, SET_PICTURES,
                       BIND(v_id(guild), v_id(user), sql_value_of_optional_text(avatar),
                            sql_value_of_optional_text(banner)),
                       NULL);
}

static const char MAY_NOT_JOIN[] = "select 1 from users where id = $1 and deleting = 1 and "
                                   "username = 'deleted_' || cast(id as text) union all "
                                   "select 1 from bans where user_id = $1 and guild_id = $2";

/* Imports a member. Skips erased accounts and banned users, even if the archive of a copied guild
 * still lists them. */
static enum err import_member(struct world_file_importer *im, const void *entry,
                              const struct json_path *at, snowflake guild)
{
    const struct world_member *m = entry;
    struct json_path user_at = json_path_key(at, STR("user"));
    snowflake user = 0;
    bool made, refused;
    enum err e = world_file_resolve_reference(im, &user_naming, 0, m->user, &user_at, &user);

    if (e || !user)
        return e;
    e = tx_exists(im->tx, MAY_NOT_JOIN, BIND(v_id(user), v_id(guild)), &refused);
    if (e || refused)
        return e;
    e = insert_imported_member(im, guild, user, &made);
    if (e)
        return e;
    count(im, COUNT_MEMBERS, made);
    e = tx_exec(im->tx, UPDATE_MEMBER,
                BIND(v_id(guild), v_id(user), sql_value_of_optional_text(m->nick),
                     sql_value_of_optional_text(m->bio), sql_value_of_optional_int(m->joined_at),
                     sql_value_of_optional_int(m->premium_since),
                     sql_value_of_optional_int(m->timed_out_until),
                     sql_value_of_optional_int(m->flags), sql_value_of_optional_bool(m->mute),
                     sql_value_of_optional_bool(m->deaf), sql_value_of_optional_bool(m->pending)),
                NULL);
    if (!e && im->options->files)
        e = tx_exec(im->tx, CLEAR_MEMBER,
                    BIND(v_id(guild), v_id(user), sql_value_of_optional_text(m->nick),
                         sql_value_of_optional_int(m->timed_out_until)),
                    NULL);
    if (!e)
        e = import_member_pictures(im, m, guild, user);
    if (e || m->roles.given != GIVEN)
        return e;
    return import_member_roles(im, &m->roles, guild, user, at);
}

/* Selects a row if the account owns the guild. Owners become members even if the file does not
 * list them as members. */
static const char OWNS_GUILD[] = "select 1 from guilds where id = $1 and owner_id = $2";

/* Adds the guild's owner as a member. Does nothing if an archive names an owner who has transferred
 * the guild since the copy: that account may have left. */
static enum err import_guild_owner_as_member(struct world_file_importer *im, const void *entry,
                                             const struct json_path *at, snowflake guild)
{
    struct json_path owner_at = json_path_key(at, STR("owner"));
    snowflake owner = 0;
    bool made = false, owns = true;
    enum err e = world_file_resolve_reference(
        im, &user_naming, 0, ((const struct world_guild *)entry)->owner, &owner_at, &owner);

    if (!e && owner && im->options->files)
        e = tx_exists(im->tx, OWNS_GUILD, BIND(v_id(guild), v_id(owner)), &owns);
    if (e || !owner || !owns)
        return e;
    e = insert_imported_member(im, guild, owner, &made);
    return e || !made || !im->options->files
               ? e
               : tx_exec(im->tx, ADD_TO_MEMBER_COUNT, BIND(v_id(guild), v_int(1)), NULL);
}

static const char COUNT_MEMBERS_OF[] =
    "update guilds set member_count = (select count(*) from members where guild_id = $1) "
    "where id = $1";

static enum err update_member_count(struct world_file_importer *im, const void *entry,
                                    const struct json_path *at, snowflake guild)
{
    (void)entry, (void)at;
    /* An archive is imported in many small files. Counting all members after each file would take
     * too long, so the new members are added to the count. */
    if (im->options->files)
        return tx_exec(im->tx, ADD_TO_MEMBER_COUNT,
                       BIND(v_id(guild), v_int(im->report->counts[COUNT_MEMBERS].made)), NULL);
    return tx_exec(im->tx, COUNT_MEMBERS_OF, BIND(v_id(guild)), NULL);
}

/* --- export of members to a world file ----------------------------------------------- */

static const char MEMBERS[] =
    "select m.user_id, u.username, m.nick, m.bio, m.joined_at, m.premium_since, "
    "m.timed_out_until, m.flags, m.mute, m.deaf, m.pending from members m "
    "join users u on u.id = m.user_id where m.guild_id = $1 and "
    "(u.deleting = 0 or u.username <> 'deleted_' || cast(u.id as text)) order by m.user_id";
static const char MEMBER_ROLES[] =
    "select user_id, role_id from member_roles where guild_id = $1 order by user_id, role_id";

/* Adds roles to exported members. Rows of member_roles and members are both sorted by user id. */
static enum err export_member_roles(struct world_file_exporter *ex, const snowflake *users,
                                    struct world_member *members, size_t count)
{
    struct rows r;
    size_t i = 0;
    enum err e = tx_query(ex->tx, MEMBER_ROLES, BIND(v_id(ex->guild)), &r);

    if (e)
        return e;
    while (rows_next(&r)) {
        while (i < count && users[i] < row_id(&r, 0))
            i++;
        struct opt_str role = world_file_export_reference(ex->tx, &ex->roles, row_id(&r, 1));
        /* A role that is being deleted has no name to refer to, so it is not exported. */
        if (i < count && users[i] == row_id(&r, 0) && role.given == GIVEN)
            *(struct str *)export_add_list_item(ex->tx, &members[i].roles, sizeof(struct str)) =
                role.value;
    }
    return rows_end(&r);
}

static enum err export_members(struct world_file_exporter *ex, struct opt_list *ret)
{
    struct list users = { 0 };
    struct rows r;
    enum err e = tx_query(ex->tx, MEMBERS, BIND(v_id(ex->guild)), &r);

    if (e)
        return e;
    while (rows_next(&r)) {
        struct world_member *m = export_add_list_item(ex->tx, ret, sizeof *m);

        id_list_add(tx_arena(ex->tx), &users, row_id(&r, 0));
        *m = (struct world_member){
            .user = row_text(&r, 1),
            .nick = export_nondefault_text(&r, 2, NULL),
            .bio = export_nondefault_text(&r, 3, NULL),
            .joined_at = export_nondefault_int(&r, 4, -1),
            .premium_since = export_nondefault_int(&r, 5, -1),
            .timed_out_until = export_nondefault_int(&r, 6, -1),
            .flags = export_nondefault_int(&r, 7, 0),
            .mute = export_nondefault_bool(&r, 8, false),
            .deaf = export_nondefault_bool(&r, 9, false),
            .pending = export_nondefault_bool(&r, 10, false),
        };
    }
    e = rows_end(&r);
    return e ? e : export_member_roles(ex, users.items, ret->value.items, users.count);
}

/* --- bans in world files ------------------------------------------------------------- */

static const char DELETE_BANNED_MEMBER[] =
    "delete from members where guild_id = $1 and user_id = $2";
static const char UPDATE_BAN[] = "update bans set reason = $3 where guild_id = $1 and user_id = $2";

static enum err import_ban(struct world_file_importer *im, const void *entry,
                           const struct json_path *at, snowflake guild)
{
    int64_t removed = 0;
    const struct world_ban *b = entry;
    struct json_path user_at = json_path_key(at, STR("user"));
    snowflake user = 0;
    bool new = false;
    enum err e = world_file_resolve_reference(im, &user_naming, 0, b->user, &user_at, &user);

    if (!e && user)
        e = guild_ban_insert(im->tx, guild, user, b->reason, &new);
    if (!e && new)
        e = tx_exec(im->tx, DELETE_BANNED_MEMBER, BIND(v_id(guild), v_id(user)), &removed);
    if (!e && new)
        return tx_exec(im->tx, ADD_TO_MEMBER_COUNT, BIND(v_id(guild), v_int(-removed)), NULL);
    if (e || !user)
        return e;
    return tx_exec(im->tx, UPDATE_BAN,
                   BIND(v_id(guild), v_id(user), sql_value_of_optional_text(b->reason)), NULL);
}

static const char BANS[] =
    "select u.username, b.reason from bans b join users u on u.id = b.user_id "
    "where b.guild_id = $1 order by b.user_id";

static bool world_ban_from_row(struct world_file_exporter *ex, const struct rows *r, void *entry)
{
    struct world_ban *b = entry;

    (void)ex;
    b->user = row_text(r, 0);
    b->reason = export_nondefault_text(r, 1, NULL);
    return true;
}

const struct world_file_fields members_world = { (const struct world_file_field[]){
    { "guild", .order = 15, .import = import_guild_owner_as_member },
    { "guild", "members", &world_member_list, .order = 20, .import = import_member,
      .export = export_members },
    { "guild", .order = 25, .import = update_member_count },
    { "guild", "bans", &world_ban_list, .order = 90, .import = import_ban, .select = { &BANS },
      .read = world_ban_from_row },
    { 0 },
} };
