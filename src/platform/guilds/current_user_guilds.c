/* current_user_guilds.c - GET /users/@me/guilds: the guilds of the caller. */
#include "platform/guilds/internal.h"

#include "base/clock.h"
#include "gateway/gateway.h"
#include "model/fields/rows.h"

/* SQL of the caller's guilds. The order by id may be ascending or descending. */
#define OWN_GUILDS                                                                                      \
    "select g.id, g.name, g.icon, g.banner, g.owner_id, g.features, g.member_count, r.permissions, "    \
    "m.timed_out_until, m.pending from members m join guilds g on g.id = m.guild_id and g.removed = 0 " \
    "join roles r on r.id = g.id where m.user_id = $1 and m.guild_id > $2 and m.guild_id < $3 "

static const char FIRST_GUILDS[] = OWN_GUILDS "order by m.guild_id limit $4";
static const char LAST_GUILDS[] = OWN_GUILDS "order by m.guild_id desc limit $4";

static const char ROLE_PERMISSIONS[] =
    "select m.guild_id, r.permissions from members m "
    "join member_roles x on x.guild_id = m.guild_id and x.user_id = m.user_id "
    "join roles r on r.id = x.role_id "
    "where m.user_id = $1 and m.guild_id between $2 and $3 order by m.guild_id";

struct user_guild_entry {
    struct user_guild shown;
    struct permission_computation_input who;
};

static void user_guild_from_row(const struct call *call, const struct rows *r,
                                struct user_guild_entry *e)
{
    const struct user_guilds_query *in = call->query;
    snowflake caller = call->caller->id;

    *e = (struct user_guild_entry){
        .shown = {
            .id = row_id(r, 0),
            .name = row_text(r, 1),
            .icon = row_optional_text(r, 2),
            .banner = row_optional_text(r, 3),
            .owner = row_id(r, 4) == caller,
            .features = row_text(r, 5),
        },
        .who = {
            .guild_id = row_id(r, 0),
            .user_id = caller,
            .owner = row_id(r, 4) == caller,
            .base = (uint64_t)row_int(r, 7),
            .timed_out = row_int(r, 8) > clock_us(),
            .pending = row_bool(r, 9),
        },
    };
    if (in->with_counts) {
        e->shown.approximate_member_count = opt_int_present(row_int(r, 6));
        e->shown.approximate_presence_count = opt_int_present(
            gateway_online_member_count(api_get_options(call->api)->gateway, e->shown.id));
    }
}

static enum err find_guilds_of_caller(struct call *call, struct list *ret)
{
    const struct user_guilds_query *in = call->query;
    snowflake after = in->before.given == GIVEN ? 0 : in->after.value;
    snowflake before = in->before.given == GIVEN ? in->before.value : INT64_MAX;
    struct rows rows;

    *ret = (struct list){ 0 };
    enum err e =
        tx_query(call->tx, in->before.given == GIVEN ? SQL(LAST_GUILDS) : SQL(FIRST_GUILDS),
                 BIND(v_id(call->caller->id), v_id(after), v_id(before), v_int(in->limit)), &rows);
    if (e)
        return e;
    while (rows_next(&rows))
        user_guild_from_row(call, &rows,
                            list_append(call->arena, ret, sizeof(struct user_guild_entry)));
    return rows_end(&rows);
}

/* Reverses a page of guilds that was read in descending order, so that the oldest guild comes
 * first. */
static void sort_guilds_oldest_first(struct list *list)
{
    const struct user_guild_entry *e = list->items;

    if (list->count >= 2 && e[0].shown.id > e[1].shown.id)
        list_reverse(list, sizeof *e);
}

/* Adds the permissions of the caller's roles. The guilds and the rows of roles are both ordered by
 * guild id. */
static enum err add_role_permissions_to_guilds(struct call *call, struct list *list)
{
    struct user_guild_entry *e = list->items, *end = e + list->count;
    struct rows rows;

    if (!list->count)
        return OK;
    enum err err =
        tx_query(call->tx, ROLE_PERMISSIONS,
                 BIND(v_id(call->caller->id), v_id(e->shown.id), v_id(end[-1].shown.id)), &rows);
    if (err)
        return err;
    while (rows_next(&rows)) {
        while (e < end && e->shown.id < row_id(&rows, 0))
            e++;
        if (e < end && e->shown.id == row_id(&rows, 0))
            e->who.base |= (uint64_t)row_int(&rows, 1);
    }
    return rows_end(&rows);
}

enum err list_current_user_guilds(struct call *call)
{
    struct list entries, shown = { 0 };
    enum err e = find_guilds_of_caller(call, &entries);

    if (e)
        return e;
    sort_guilds_oldest_first(&entries);
    e = add_role_permissions_to_guilds(call, &entries);
    if (e)
        return e;
    const struct user_guild_entry *all = entries.items;
    for (size_t i = 0; i < entries.count; i++) {
        struct user_guild *g = list_append(call->arena, &shown, sizeof *g);

        *g = all[i].shown;
        g->permissions = permissions_in_guild(&all[i].who);
    }
    return call_reply_with_object(call, &shown);
}
