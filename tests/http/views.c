/* views.c - what is remembered of a guild is never older than what a client was told. */
#include "guilds.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "platform/guilds/view.h"
#include "platform/members/members.h"

/* --- looking ---------------------------------------------------------------------------------- */

struct look {
    snowflake guild_id, user_id;
    uint64_t moment;
    const struct guild_view *view;
    struct member member;
};

static enum err take_view(struct tx *tx, void *arg)
{
    struct look *l = arg;
    enum err e = view_get(tx, l->guild_id, l->moment, &l->view);

    if (!e && l->user_id)
        e = member_find(tx, l->guild_id, l->user_id, &l->member);
    return e;
}

static enum err look_at(struct world *w, struct look *l)
{
    return store_run(guildhall_store(world_server(w)), STORE_READ, world_arena(w), take_view, l);
}

/* Leaves a view in memory. */
static void look(struct world *w, const char *guild)
{
    struct look l = { .guild_id = id_of(guild), .moment = view_moment(id_of(guild)) };

    expect(look_at(w, &l) == OK);
    view_release(l.view);
}

static bool is_kept(const char *guild)
{
    const struct guild_view *v = view_peek(id_of(guild));

    view_release(v);
    return v != NULL;
}

static uint64_t rights(struct world *w, const char *guild, struct client *c, const char *channel)
{
    struct look l = { .guild_id = id_of(guild),
                      .user_id = id_of(c->id),
                      .moment = view_moment(id_of(guild)) };

    expect(look_at(w, &l) == OK);
    uint64_t set = view_rights(l.view, &l.member, channel ? id_of(channel) : 0, clock_us());
    view_release(l.view);
    return set;
}

static enum err clear_rights(struct tx *tx, void *arg)
{
    return tx_exec(tx, "update roles set permissions = 0 where id = $1", BIND(v_id(id_of(arg))),
                   NULL);
}

/* Behind the server's back: nobody is told. */
static void take_all_rights(struct world *w, const char *role)
{
    expect(!store_run(guildhall_store(world_server(w)), STORE_WRITE, world_arena(w), clear_rights,
                      (void *)role));
}

struct room {
    const char *guild, *channel;
    struct client *ada, *bob;
};

static struct room room(struct world *w)
{
    struct room h = { .ada = world_client(w, "ada"), .bob = world_client(w, "bob") };
    struct answer a = client_post(h.ada, "{'name': 'Home'}", "/guilds");

    h.guild = answer_text(a, "id");
    h.channel = answer_text(a, "system_channel_id");
    put_member(h.guild, h.bob);
    return h;
}

/* --- what a view says ---------------------------------------------------------------------------
 */

static void a_view_knows_a_members_rights(struct world *w)
{
    struct room h = room(w);

    expect(rights(w, h.guild, h.ada, NULL) == PERMISSIONS_ALL);
    expect(rights(w, h.guild, h.ada, h.channel) == PERMISSIONS_ALL);
    expect(rights(w, h.guild, h.bob, NULL) == PERMISSIONS_DEFAULT);
    expect(rights(w, h.guild, h.bob, "5") == 0);

    const char *role = make_role(
        h.ada, h.guild, TEXT(w, "{'permissions': '%llu'}", BITS(PERMISSION(MANAGE_GUILD))));
    put_role_on(h.guild, h.bob, role);
    expect(rights(w, h.guild, h.bob, NULL) == (PERMISSIONS_DEFAULT | PERMISSION(MANAGE_GUILD)));
    expect(rights(w, h.guild, h.bob, h.channel) ==
           (PERMISSIONS_DEFAULT | PERMISSION(MANAGE_GUILD)));
}

static void a_thread_has_the_rights_of_its_parent(struct world *w)
{
    struct room h = room(w);
    struct answer a =
        client_post(h.bob, "{'name': 'aside', 'type': 11}", "/channels/%s/threads", h.channel);
    const char *thread = answer_text(a, "id");

    expect(rights(w, h.guild, h.bob, thread) & PERMISSION(SEND_MESSAGES));
    expect_status(client_put(h.ada,
                             TEXT(w, "{'type': 0, 'deny': '%llu'}",
                                  BITS(PERMISSION(SEND_MESSAGES_IN_THREADS))),
                             "/channels/%s/permissions/%s", h.channel, h.guild),
                  204);
    expect(!(rights(w, h.guild, h.bob, thread) & PERMISSION(SEND_MESSAGES)));
    expect(rights(w, h.guild, h.bob, h.channel) & PERMISSION(SEND_MESSAGES));
}

static void a_private_thread_is_closed_to_others(struct world *w)
{
    struct room h = room(w);
    struct client *cleo = world_client(w, "cleo");
    struct answer a =
        client_post(h.bob, "{'name': 'aside', 'type': 12}", "/channels/%s/threads", h.channel);
    const char *thread = answer_text(a, "id");

    put_member(h.guild, cleo);
    expect(rights(w, h.guild, h.bob, thread) & PERMISSION(VIEW_CHANNEL));
    expect(rights(w, h.guild, h.ada, thread) & PERMISSION(VIEW_CHANNEL));
    expect(rights(w, h.guild, cleo, thread) == 0);
}

static void there_is_no_view_of_no_guild(struct world *w)
{
    struct look l = { .guild_id = 5 };

    expect(look_at(w, &l) == ERR_UNKNOWN_GUILD);
    expect(views_count() == 0);
}

/* --- what drops it ------------------------------------------------------------------------------
 */

static void a_view_is_kept_until_something_changes(struct world *w)
{
    struct room h = room(w);
    uint64_t before = rights(w, h.guild, h.bob, NULL);

    expect(is_kept(h.guild));
    take_all_rights(w, h.guild);
    expect(rights(w, h.guild, h.bob, NULL) == before);
    expect_status(client_patch(h.bob, "{'global_name': 'Bob'}", "/users/@me"), 200);
    expect(is_kept(h.guild));
    expect_status(client_patch(h.ada, "{'name': 'Other'}", "/guilds/%s", h.guild), 200);
    expect(!is_kept(h.guild));
    expect(rights(w, h.guild, h.bob, NULL) == 0);
}

static void changes_of_roles_drop_it(struct world *w)
{
    struct room h = room(w);

    look(w, h.guild);
    const char *role = make_role(h.ada, h.guild, "{}");
    expect(!is_kept(h.guild));
    look(w, h.guild);
    expect_status(client_patch(h.ada, "{'permissions': '0'}", "/guilds/%s/roles/%s", h.guild, role),
                  200);
    expect(!is_kept(h.guild));
    make_role(h.ada, h.guild, "{}");
    look(w, h.guild);
    expect_status(client_patch(h.ada, TEXT(w, "[{'id': '%s', 'position': 1}]", role),
                               "/guilds/%s/roles", h.guild),
                  200);
    expect(!is_kept(h.guild));
    look(w, h.guild);
    expect_status(client_delete(h.ada, "/guilds/%s/roles/%s", h.guild, role), 204);
    expect(!is_kept(h.guild));
    look(w, h.guild);
    expect_status(
        client_patch(h.ada, "{'permissions': '1024'}", "/guilds/%s/roles/%s", h.guild, h.guild),
        200);
    expect(rights(w, h.guild, h.bob, NULL) == 1024);
}

static void changes_of_channels_drop_it(struct world *w)
{
    struct room h = room(w);

    look(w, h.guild);
    struct answer a = client_post(h.ada, "{'name': 'new'}", "/guilds/%s/channels", h.guild);
    expect_status(a, 201);
    const char *id = answer_text(a, "id");
    expect(!is_kept(h.guild));
    expect(rights(w, h.guild, h.bob, id) == PERMISSIONS_DEFAULT);
    expect_status(client_patch(h.ada, "{'name': 'newer'}", "/channels/%s", id), 200);
    expect(!is_kept(h.guild));
    look(w, h.guild);
    expect_status(client_delete(h.ada, "/channels/%s", id), 200);
    expect(!is_kept(h.guild));
    expect(rights(w, h.guild, h.bob, id) == 0);
}

static void changes_of_overwrites_drop_it(struct world *w)
{
    struct room h = room(w);
    uint64_t view = PERMISSION(VIEW_CHANNEL);

    expect(rights(w, h.guild, h.bob, h.channel) & view);
    expect_status(client_put(h.ada, TEXT(w, "{'type': 1, 'deny': '%llu'}", BITS(view)),
                             "/channels/%s/permissions/%s", h.channel, h.bob->id),
                  204);
    expect(!(rights(w, h.guild, h.bob, h.channel) & view));
    expect_status(client_delete(h.ada, "/channels/%s/permissions/%s", h.channel, h.bob->id), 204);
    expect(rights(w, h.guild, h.bob, h.channel) & view);
}

static void a_deleted_guild_has_no_view(struct world *w)
{
    struct room h = room(w);
    struct look l = { .guild_id = id_of(h.guild) };

    look(w, h.guild);
    expect_status(client_delete(h.ada, "/guilds/%s", h.guild), 204);
    expect(!is_kept(h.guild));
    expect(look_at(w, &l) == ERR_UNKNOWN_GUILD);
}

static void other_guilds_keep_theirs(struct world *w)
{
    struct room h = room(w);
    const char *other = found_guild(h.ada, "Other");

    look(w, h.guild);
    look(w, other);
    expect_status(client_delete(h.ada, "/guilds/%s", other), 204);
    expect(is_kept(h.guild));
}

static void leaving_a_guild_drops_nothing(struct world *w)
{
    struct room h = room(w);

    look(w, h.guild);
    expect_status(client_delete(h.bob, "/users/@me/guilds/%s", h.guild), 204);
    expect(is_kept(h.guild));
}

/* --- who holds it, and for how long
 * --------------------------------------------------------------- */

static void a_view_of_an_older_moment_is_not_kept(struct world *w)
{
    struct room h = room(w);
    struct look l = { .guild_id = id_of(h.guild), .moment = view_moment(id_of(h.guild)) };

    expect_status(client_patch(h.ada, "{}", "/guilds/%s", h.guild), 200);
    expect(look_at(w, &l) == OK);
    expect(l.view->owner_id == id_of(h.ada->id));
    view_release(l.view);
    expect(!is_kept(h.guild));
}

static void who_holds_a_view_keeps_it_through_changes(struct world *w)
{
    struct room h = room(w);

    look(w, h.guild);
    const struct guild_view *old = view_peek(id_of(h.guild));
    size_t roles = old->role_count;
    make_role(h.ada, h.guild, "{}");
    expect(!is_kept(h.guild));
    look(w, h.guild);
    const struct guild_view *now = view_peek(id_of(h.guild));
    expect(old->role_count == roles && now->role_count == roles + 1);
    expect(view_channel(old, id_of(h.channel))->type == CHANNEL_TEXT);
    view_release(old);
    view_release(now);
}

enum { CROWD = 2 * VIEWS_MOST };

static snowflake crowd[CROWD];

static enum err make_crowd(struct tx *tx, void *arg)
{
    snowflake owner = *(snowflake *)arg;
    enum err e = OK;

    for (int i = 0; !e && i < CROWD; i++) {
        crowd[i] = snowflake_new_guild();
        e = tx_exec(tx, "insert into guilds (id, name, owner_id) values ($1, 'x', $2)",
                    BIND(v_id(crowd[i]), v_id(owner)), NULL);
    }
    return e;
}

static enum err look_at_crowd(struct tx *tx, void *arg)
{
    enum err e = OK;

    (void)arg;
    for (int i = 0; !e && i < CROWD; i++) {
        const struct guild_view *v = NULL;

        e = view_get(tx, crowd[i], view_moment(crowd[i]), &v);
        view_release(v);
    }
    return e;
}

static void only_so_many_views_are_kept(struct world *w)
{
    struct store *store = guildhall_store(world_server(w));
    snowflake owner = id_of(world_client(w, "ada")->id);

    expect(!store_run(store, STORE_WRITE, world_arena(w), make_crowd, &owner));
    expect(!store_run(store, STORE_READ, world_arena(w), look_at_crowd, NULL));
    expect(views_count() <= VIEWS_MOST);
    expect(views_count() > VIEWS_MOST * 9 / 10);
    const struct guild_view *last = view_peek(crowd[CROWD - 1]);
    expect(last && !view_peek(crowd[0]));
    view_release(last);
    views_forget();
    expect(views_count() == 0);
}

const struct test views_tests[] = {
    TEST(a_view_knows_a_members_rights),
    TEST(a_thread_has_the_rights_of_its_parent),
    TEST(a_private_thread_is_closed_to_others),
    TEST(there_is_no_view_of_no_guild),
    TEST(a_view_is_kept_until_something_changes),
    TEST(changes_of_roles_drop_it),
    TEST(changes_of_channels_drop_it),
    TEST(changes_of_overwrites_drop_it),
    TEST(a_deleted_guild_has_no_view),
    TEST(other_guilds_keep_theirs),
    TEST(leaving_a_guild_drops_nothing),
    TEST(a_view_of_an_older_moment_is_not_kept),
    TEST(who_holds_a_view_keeps_it_through_changes),
    TEST(only_so_many_views_are_kept),
    { 0 },
};
