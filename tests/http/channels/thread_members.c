/* thread_members.c - joining and leaving threads, and the events about it. */
#include <stdlib.h>

#include "channels.h"
#include "gateway_conn.h"
#include "test_guild.h"

#define MEMBERS "/channels/%s/thread-members"
#define MEMBER  "/channels/%s/thread-members/%s"

static const char *const PLAIN = "v=10&encoding=json";

struct thread_guild {
    struct client *ada, *bob, *cleo; /* the owner, two members */
    const char *guild, *channel;
};

static struct thread_guild create_thread_guild(struct world *w)
{
    struct thread_guild h = { world_client(w, "ada"), world_client(w, "bob"),
                              world_client(w, "cleo") };

    h.guild = found_guild(h.ada, "Hall");
    h.channel = make_channel(h.ada, h.guild, "{'name': 'a'}");
    put_member(h.guild, h.bob);
    put_member(h.guild, h.cleo);
    return h;
}

static const char *start_thread(struct client *c, const char *channel, const char *rest)
{
    struct answer a =
        client_post(c, str_printf(world_arena(c->world), "{'name': 'talk'%s}", rest).p,
                    "/channels/%s/threads", channel);

    expect_status(a, 201);
    discard_received(c->world);
    return answer_text(a, "id");
}

static void joining_and_leaving_a_thread_sends_thread_members_update(struct world *w)
{
    struct thread_guild h = create_thread_guild(w);
    const char *t = start_thread(h.bob, h.channel, ", 'type': 11");

    expect_error(client_get(h.cleo, MEMBER, t, "@me"), 404, 10007);
    expect_status(client_put(h.cleo, "", MEMBER, t, "@me"), 204);
    expect_event(h.cleo, "THREAD_CREATE", "{'id': '%s', 'member': {'user_id': '%s'}}", t,
                 h.cleo->id);
    expect_received(
        w, viewers(h.guild, t), "THREAD_MEMBERS_UPDATE",
        "{'id': '%s', 'member_count': 2, 'added_members': [{'id': '%s', 'user_id': '%s'}]}", t, t,
        h.cleo->id);
    expect_event(h.cleo, "THREAD_MEMBERS_UPDATE", "{'id': '%s'}", t);
    expect_nothing_received(w);
    /* A second PUT changes nothing. */
    expect_status(client_put(h.cleo, "", MEMBER, t, "@me"), 204);
    expect_nothing_received(w);
    expect_json(client_get(h.cleo, MEMBER, t, h.cleo->id), "{'id': '%s', 'user_id': '%s'}", t,
                h.cleo->id);
    expect_json(client_get(h.cleo, "/channels/%s", t), "{'member_count': 2}");

    expect_status(client_delete(h.cleo, MEMBER, t, "@me"), 204);
    expect_received(w, viewers(h.guild, t), "THREAD_MEMBERS_UPDATE",
                    "{'id': '%s', 'member_count': 1, 'removed_member_ids': ['%s']}", t, h.cleo->id);
    expect_event(h.cleo, "THREAD_MEMBERS_UPDATE", "{'removed_member_ids': ['%s']}", h.cleo->id);
    expect_nothing_received(w);
    expect_status(client_delete(h.cleo, MEMBER, t, "@me"), 204);
    expect_nothing_received(w);
}

static void thread_can_be_joined_with_post(struct world *w)
{
    struct thread_guild h = create_thread_guild(w);
    const char *t = start_thread(h.bob, h.channel, ", 'type': 11");

    expect_error(client_post(world_client(w, "eve"), "", MEMBER, t, "@me"), 403, 50001);
    expect_status(client_post(h.cleo, "", MEMBER, t, "@me"), 204);
    expect_event(h.cleo, "THREAD_CREATE", "{'id': '%s', 'member': {'user_id': '%s'}}", t,
                 h.cleo->id);
    expect_received(w, viewers(h.guild, t), "THREAD_MEMBERS_UPDATE",
                    "{'id': '%s', 'member_count': 2, 'added_members': [{'user_id': '%s'}]}", t,
                    h.cleo->id);
    expect_event(h.cleo, "THREAD_MEMBERS_UPDATE", "{'id': '%s'}", t);
    expect_nothing_received(w);
    expect_error(client_post(h.cleo, "", "/channels/%s/thread-members/@me", h.channel), 400, 50024);
    expect_error(client_post(h.cleo, "", MEMBER, t, h.bob->id), 405, 0);
}

static void thread_members_are_listed_by_user_id_in_pages(struct world *w)
{
    struct thread_guild h = create_thread_guild(w);
    const char *t = start_thread(h.bob, h.channel, ", 'type': 11");

    expect_status(client_put(h.cleo, "", MEMBER, t, "@me"), 204);
    struct answer a = client_get(h.ada, MEMBERS, t);
    expect(a.json->count == 2);
    expect_absent(client_get(h.ada, MEMBER, t, h.bob->id), "member");
    expect_json(client_get(h.ada, MEMBER "?with_member=true", t, h.bob->id),
                "{'member': {'user': {'id': '%s'}}}", h.bob->id);
    a = client_get(h.ada, MEMBERS "?with_member=true&limit=1", t);
    expect(a.json->count == 1);
    const char *first = dom_at(&a.json->items[0], "user_id")->text.p;
    a = client_get(h.ada, MEMBERS "?with_member=true&limit=5&after=%.19s", t, first);
    expect(a.json->count == 1);
    expect_error(client_get(h.ada, MEMBERS, h.channel), 400, 50024);
    expect_error(client_put(h.ada, "", MEMBER, h.channel, "@me"), 400, 50024);
    expect_error(client_delete(h.ada, MEMBER, h.channel, "@me"), 400, 50024);
}

static void adding_a_thread_member_requires_permission_and_view_access(struct world *w)
{
    struct thread_guild h = create_thread_guild(w);
    struct client *dan = world_client(w, "dan"); /* dan is not a member of the guild */
    const char *t = start_thread(h.bob, h.channel, ", 'type': 12, 'invitable': false");

    expect_json(client_get(h.bob, "/channels/%s", t), "{'thread_metadata': {'invitable': false}}");
    expect_error(client_put(h.bob, "", MEMBER, t, dan->id), 404, 10007);
    expect_error(client_put(h.cleo, "", MEMBER, t, "@me"), 403, 50001);
    expect_status(client_put(h.bob, "", MEMBER, t, h.cleo->id), 204);
    expect_event(h.cleo, "THREAD_CREATE", "{'id': '%s', 'member': {}}", t);
    expect_received(w, viewers(h.guild, t), "THREAD_MEMBERS_UPDATE", "{'id': '%s'}", t);
    expect_event(h.cleo, "THREAD_MEMBERS_UPDATE", "{'id': '%s'}", t);
    expect_received(w, viewers(h.guild, t), "MESSAGE_CREATE",
                    "{'type': 1, 'author': {'id': '%s'}, 'mentions': [{'id': '%s'}]}", h.bob->id,
                    h.cleo->id);
    expect_nothing_received(w);
    expect_status(client_get(h.cleo, "/channels/%s", t), 200);
    expect_json(client_get(h.cleo, "/guilds/%s/threads/active", h.guild),
                "{'threads': [{'id': '%s'}], 'members': [{'user_id': '%s'}]}", t, h.cleo->id);
    /* The thread is not invitable, and cleo did not start it. */
    put_member(h.guild, dan);
    expect_error(client_put(h.cleo, "", MEMBER, t, dan->id), 403, 50013);
    expect_error(client_delete(h.cleo, MEMBER, t, h.bob->id), 403, 50013);
    expect_error(client_delete(h.bob, MEMBER, t, dan->id), 404, 10007);
    expect_status(client_patch(h.bob, "{'invitable': true}", "/channels/%s", t), 200);
    expect_status(client_put(h.cleo, "", MEMBER, t, dan->id), 204);
    expect_status(client_delete(h.bob, MEMBER, t, h.cleo->id), 204);
    expect_error(client_get(h.cleo, "/channels/%s", t), 403, 50001);
    expect_error(client_get(h.cleo, "/channels/%s/messages", t), 403, 50001);
    /* Members of an archived thread cannot change. */
    expect_status(client_patch(h.bob, "{'archived': true}", "/channels/%s", t), 200);
    expect_error(client_put(h.bob, "", MEMBER, t, h.cleo->id), 400, 50083);
    expect_error(client_delete(h.bob, MEMBER, t, dan->id), 400, 50083);
    expect_error(client_delete(h.bob, MEMBER, t, "@me"), 400, 50083);
}

static void authors_and_mentioned_users_join_the_thread(struct world *w)
{
    struct thread_guild h = create_thread_guild(w);
    const char *t = start_thread(h.bob, h.channel, ", 'type': 12");
    struct arena *arena = world_arena(w);

    struct answer a =
        client_post(h.bob, str_printf(arena, "{'content': 'hey <@%s>'}", h.cleo->id).p,
                    "/channels/%s/messages", t);
    expect_json(a, "{'position': 0}");
    expect_event(h.cleo, "THREAD_CREATE", "{'id': '%s'}", t);
    expect_received(w, viewers(h.guild, t), "THREAD_MEMBERS_UPDATE", "{'member_count': 2}");
    expect_event(h.cleo, "THREAD_MEMBERS_UPDATE", "{}");
    expect_received(w, viewers(h.guild, t), "MESSAGE_CREATE", "{'position': 0}");
    expect_nothing_received(w);
    expect_json(client_get(h.cleo, MEMBER, t, "@me"), "{'flags': 0}");
    expect_json(client_post(h.cleo, "{'content': 'yes'}", "/channels/%s/messages", t),
                "{'position': 1}");
    expect_json(client_get(h.cleo, MEMBER, t, "@me"), "{'flags': 1}");
    expect_json(client_get(h.cleo, "/channels/%s", t),
                "{'message_count': 2, 'total_message_sent': 2}");
    expect_status(client_delete(h.bob, "/channels/%s/messages/%s", t, answer_text(a, "id")), 204);
    expect_json(client_get(h.cleo, "/channels/%s", t),
                "{'message_count': 1, 'total_message_sent': 2}");
    /* The guild owner can view the thread and joins it by sending a message. */
    discard_received(w);
    expect_status(client_post(h.ada, "{'content': 'order'}", "/channels/%s/messages", t), 200);
    expect_event(h.ada, "THREAD_CREATE", "{'id': '%s'}", t);
}

static void private_thread_events_go_only_to_thread_members(struct world *w)
{
    struct thread_guild h = create_thread_guild(w);
    struct client *dan = world_client(w, "dan"), *robot = world_bot(w, "robot");

    put_member(h.guild, dan);
    put_member(h.guild, robot);
    struct gateway_conn *c = conn_session(h.cleo, PLAIN, ""), *d = conn_session(dan, PLAIN, "");
    struct gateway_conn *r = conn_session(robot, PLAIN, "'intents': 515");
    expect_dispatch(r, "GUILD_CREATE", "{}");
    const char *t = start_thread(h.bob, h.channel, ", 'type': 12");
    expect_status(client_put(h.bob, "", MEMBER, t, h.cleo->id), 204);
    expect_dispatch(c, "THREAD_CREATE", "{'id': '%s', 'member': {'user_id': '%s'}}", t, h.cleo->id);
    expect_dispatch(c, "THREAD_MEMBERS_UPDATE", "{'id': '%s'}", t);
    expect_dispatch(c, "MESSAGE_CREATE", "{'type': 1}");
    expect_status(client_post(h.bob, "{'content': 'psst'}", "/channels/%s/messages", t), 200);
    expect_dispatch(c, "MESSAGE_CREATE", "{'content': 'psst'}");
    expect_status(client_delete(h.bob, MEMBER, t, h.cleo->id), 204);
    expect_dispatch(c, "THREAD_MEMBERS_UPDATE", "{'removed_member_ids': ['%s']}", h.cleo->id);
    expect_status(client_post(h.bob, "{'content': 'gone'}", "/channels/%s/messages", t), 200);
    expect_quiet(c);
    expect_quiet(d);
    expect_quiet(r); /* a bot with the members intent that is not in the thread */
}

static void removed_thread_creator_loses_access_to_private_thread(struct world *w)
{
    struct thread_guild h = create_thread_guild(w);
    const char *t = start_thread(h.bob, h.channel, ", 'type': 12");
    struct gateway_conn *b = conn_session(h.bob, PLAIN, "");

    expect_status(client_put(h.bob, "", MEMBER, t, h.cleo->id), 204);
    expect_dispatch(b, "THREAD_MEMBERS_UPDATE", "{'id': '%s'}", t);
    expect_dispatch(b, "MESSAGE_CREATE", "{'type': 1}");
    expect_status(client_delete(h.ada, MEMBER, t, h.bob->id), 204);
    expect_dispatch(b, "THREAD_MEMBERS_UPDATE", "{'removed_member_ids': ['%s']}", h.bob->id);
    expect_status(client_post(h.cleo, "{'content': 'psst'}", "/channels/%s/messages", t), 200);
    expect_quiet(b);
    expect_error(client_get(h.bob, "/channels/%s", t), 403, 50001);
    expect_error(client_get(h.bob, "/channels/%s/messages", t), 403, 50001);
    expect_error(client_put(h.bob, "", MEMBER, t, "@me"), 403, 50001);
    expect_error(client_put(h.bob, "", MEMBER, t, h.bob->id), 403, 50001);
    expect_error(client_delete(h.bob, MEMBER, t, h.cleo->id), 403, 50001);
    /* Thread members can add the creator again by a mention. */
    expect_status(
        client_post(h.cleo, TEXT(w, "{'content': '<@%s>'}", h.bob->id), "/channels/%s/messages", t),
        200);
    expect_dispatch(b, "THREAD_CREATE", "{'id': '%s'}", t);
    expect_status(client_get(h.bob, "/channels/%s/messages", t), 200);
}

static void bot_without_members_intent_gets_only_its_own_thread_joins(struct world *w)
{
    struct thread_guild h = create_thread_guild(w);
    struct client *robot = world_bot(w, "robot");

    put_member(h.guild, robot);
    struct gateway_conn *r = conn_session(robot, PLAIN, "'intents': 1");
    expect_dispatch(r, "GUILD_CREATE", "{}");
    const char *t = start_thread(h.bob, h.channel, ", 'type': 11");
    expect_dispatch(r, "THREAD_CREATE", "{'id': '%s', 'newly_created': true}", t);
    expect_status(client_put(h.cleo, "", MEMBER, t, "@me"), 204);
    expect_status(client_put(robot, "", MEMBER, t, "@me"), 204);
    expect_dispatch(r, "THREAD_CREATE", "{'id': '%s', 'member': {'user_id': '%s'}}", t, robot->id);
    expect_dispatch(r, "THREAD_MEMBERS_UPDATE",
                    "{'member_count': 3, 'added_members': [{'user_id': '%s'}]}", robot->id);
    expect_quiet(r);
}

static void thread_is_limited_to_1000_members(struct world *w)
{
    struct thread_guild h = create_thread_guild(w);
    const char *t = start_thread(h.bob, h.channel, ", 'type': 11");

    world_sql(w, "with recursive n(i) as (select 1 union all select i + 1 from n where i < 999) "
                 "insert into users (id, username) select i + 5000, 'user' || i "
                 "from n");
    world_sql(w,
              "insert into thread_members (thread_id, user_id, guild_id, joined_at) "
              "select %s, id, %s, 1 from users where id between 5001 and 5999",
              t, h.guild);
    expect_error(client_put(h.cleo, "", MEMBER, t, "@me"), 400, 30033);
    expect_json(client_get(h.cleo, "/channels/%s", t), "{'member_count': 50}");
    /* Messages of non-members are still accepted. */
    expect_status(client_post(h.cleo, "{'content': 'hi'}", "/channels/%s/messages", t), 200);
    expect_error(client_get(h.cleo, MEMBER, t, "@me"), 404, 10007);
    expect_status(client_delete(h.bob, MEMBER, t, "@me"), 204);
    expect_status(client_put(h.cleo, "", MEMBER, t, "@me"), 204);
}

/* Creates members with a role and the user ids first, first + 1 and so on. */
static const char *create_role_members(struct thread_guild *h, const char *name, int first,
                                       int count)
{
    struct world *w = h->ada->world;
    const char *role =
        make_role(h->ada, h->guild, TEXT(w, "{'name': '%s', 'mentionable': true}", name));

    world_sql(w,
              "insert into users (id, username) with recursive n(i) as (select 0 union all select "
              "i + 1 from n where i < %d) select i + %d, '%s' || i from n",
              count - 1, first, name);
    world_sql(w,
              "insert into members (guild_id, user_id, joined_at) select %s, id, 1 from users "
              "where id between %d and %d",
              h->guild, first, first + count - 1);
    world_sql(w,
              "insert into member_roles (guild_id, user_id, role_id) select %s, id, %s from users "
              "where id between %d and %d",
              h->guild, role, first, first + count - 1);
    return role;
}

static void expect_members_added_by_mention(struct thread_guild *h, const char *text, int members,
                                            bool all)
{
    struct world *w = h->ada->world;
    const char *t = start_thread(h->ada, h->channel, ", 'type': 11");
    struct answer a =
        client_post(h->ada, TEXT(w, "{'content': '%s'}", text), "/channels/%s/messages", t);

    expect_json(a, "{'flags': %d}", all ? 0 : 1 << 8);
    a = client_get(h->ada, MEMBERS, t);
    expect(a.json->count == (size_t)members + 1);
}

/* Role mentions add at most 250 members; the message's flags show if some were left out. */
static void role_mention_adds_up_to_250_members_to_the_thread(struct world *w)
{
    struct thread_guild h = create_thread_guild(w);
    const char *most = create_role_members(&h, "most", 5001, 250);
    const char *few = create_role_members(&h, "few", 6001, 30);

    expect_members_added_by_mention(&h, TEXT(w, "<@&%s>", few), 30, true);
    expect_members_added_by_mention(&h, TEXT(w, "<@&%s>", most), 250, true);
    expect_members_added_by_mention(&h, TEXT(w, "<@&%s> <@&%s>", few, most), 250, false);
}

static void thread_member_settings_are_changed_by_the_member_only(struct world *w)
{
    struct thread_guild h = create_thread_guild(w);
    const char *t = start_thread(h.bob, h.channel, ", 'type': 11");
#define SETTINGS "/channels/%s/thread-members/@me/settings"

    expect_error(client_patch(h.cleo, "{'flags': 2}", SETTINGS, t), 404, 10007);
    expect_error(client_patch(h.bob, "{'flags': 6}", SETTINGS, t), 400, 50084);
    expect_error(client_patch(h.bob, "{'flags': 16}", SETTINGS, t), 400, 50084);
    expect_nothing_received(w);
    expect_json(client_patch(h.bob, "{'flags': 4, 'muted': true}", SETTINGS, t),
                "{'id': '%s', 'flags': 5, 'muted': true}", t);
    expect_event(h.bob, "THREAD_MEMBER_UPDATE", "{'id': '%s', 'guild_id': '%s'}", t, h.guild);
    expect_status(client_patch(h.bob, "{'flags': 4}", SETTINGS, t), 204);
    expect_nothing_received(w);
}

static void archived_threads_are_listed_in_pages_by_type(struct world *w)
{
    struct thread_guild h = create_thread_guild(w);
    const char *open[3], *closed[3];
#define ARCHIVED "/channels/%s/threads/archived/%s"
#define JOINED   "/channels/%s/users/@me/threads/archived/private"

    for (int i = 0; i < 3; i++) {
        open[i] = start_thread(h.bob, h.channel, ", 'type': 11");
        closed[i] = start_thread(h.bob, h.channel, ", 'type': 12");
        world_wait(w, 1);
        expect_status(client_patch(h.bob, "{'archived': true}", "/channels/%s", open[i]), 200);
        expect_status(client_patch(h.bob, "{'archived': true}", "/channels/%s", closed[i]), 200);
    }
    struct answer a = client_get(h.cleo, ARCHIVED "?limit=2", h.channel, "public");
    expect_json(a, "{'threads': [{'id': '%s'}, {'id': '%s'}], 'has_more': true, 'members': []}",
                open[2], open[1]);
    const char *at = answer_text(a, "threads.1.thread_metadata.archive_timestamp");
    char before[40];
    snprintf(before, sizeof before, "%.*sZ", 26, at);
    a = client_get(h.bob, ARCHIVED "?limit=2&before=%s", h.channel, "public", before);
    expect_json(a, "{'threads': [{'id': '%s'}], 'has_more': false, 'members': [{'id': '%s'}]}",
                open[0], open[0]);
    expect_error(client_get(h.bob, ARCHIVED, h.channel, "private"), 403, 50013);
    expect_json(client_get(h.ada, ARCHIVED, h.channel, "private"),
                "{'threads': [{'id': '%s'}, {'id': '%s'}, {'id': '%s'}], 'has_more': false}",
                closed[2], closed[1], closed[0]);
    expect_json(client_get(h.bob, JOINED "?limit=2", h.channel),
                "{'threads': [{'id': '%s'}, {'id': '%s'}], 'has_more': true}", closed[2],
                closed[1]);
    expect_json(client_get(h.bob, JOINED "?before=%s", h.channel, closed[1]),
                "{'threads': [{'id': '%s'}], 'has_more': false}", closed[0]);
    expect_json(client_get(h.cleo, JOINED, h.channel), "{'threads': [], 'members': []}");
    expect_invalid(client_get(h.bob, ARCHIVED "?limit=1", h.channel, "public"), "limit",
                   "NUMBER_TYPE_MIN");
    expect_error(client_get(h.bob, ARCHIVED, open[0], "public"), 400, 50024);
}

static void locked_thread_refuses_messages_of_non_moderators(struct world *w)
{
    struct thread_guild h = create_thread_guild(w);
    const char *t = start_thread(h.bob, h.channel, ", 'type': 11");
    struct answer a = client_post(h.bob, "{'content': 'hi'}", "/channels/%s/messages", t);
    const char *m = answer_text(a, "id");

    expect_status(client_patch(h.ada, "{'locked': true}", "/channels/%s", t), 200);
    expect_error(client_post(h.bob, "{'content': 'no'}", "/channels/%s/messages", t), 400, 160005);
    expect_error(client_patch(h.bob, "{'content': 'no'}", "/channels/%s/messages/%s", t, m), 400,
                 160005);
    expect_error(client_patch(h.bob, "{'name': 'no'}", "/channels/%s", t), 403, 50013);
    expect_status(client_post(h.ada, "{'content': 'yes'}", "/channels/%s/messages", t), 200);
    expect_status(client_patch(h.ada, "{'archived': true}", "/channels/%s", t), 200);
    expect_error(client_post(h.bob, "{'content': 'no'}", "/channels/%s/messages", t), 400, 160005);
    expect_error(client_patch(h.bob, "{'content': 'no'}", "/channels/%s/messages/%s", t, m), 400,
                 50083);
    expect_error(client_delete(h.bob, "/channels/%s/messages/%s", t, m), 400, 50083);
    expect_status(client_patch(h.ada, "{'locked': false}", "/channels/%s", t), 200);
    /* A message unarchives the thread: THREAD_UPDATE, then member updates, then MESSAGE_CREATE. */
    discard_received(w);
    expect_status(client_post(h.bob, "{'content': 'back'}", "/channels/%s/messages", t), 200);
    expect_received(w, viewers(h.guild, t), "THREAD_UPDATE",
                    "{'thread_metadata': {'archived': false}}");
    expect_event(h.ada, "THREAD_MEMBER_UPDATE", "{'user_id': '%s'}", h.ada->id);
    expect_event(h.bob, "THREAD_MEMBER_UPDATE", "{'user_id': '%s'}", h.bob->id);
    expect_received(w, viewers(h.guild, t), "MESSAGE_CREATE", "{'content': 'back'}");
    expect_nothing_received(w);
}

static void slow_mode_limits_thread_creation_separately(struct world *w)
{
    struct thread_guild h = create_thread_guild(w);

    expect_status(client_patch(h.ada, "{'rate_limit_per_user': 30}", "/channels/%s", h.channel),
                  200);
    expect_status(client_post(h.bob, "{'content': 'hi'}", "/channels/%s/messages", h.channel), 200);
    start_thread(h.bob, h.channel, ", 'type': 11");
    struct answer a =
        client_post(h.bob, "{'name': 'b', 'type': 11}", "/channels/%s/threads", h.channel);
    expect_error(a, 429, 20016);
    expect_json(a, "{'global': false}");
    expect(atof(dom_at(a.json, "retry_after")->text.p) > 29);
    expect_status(
        client_post(h.ada, "{'name': 'b', 'type': 11}", "/channels/%s/threads", h.channel), 201);
    world_wait(w, 31);
    start_thread(h.bob, h.channel, ", 'type': 11");
}

static void leaving_a_guild_removes_the_member_from_its_threads(struct world *w)
{
    struct thread_guild h = create_thread_guild(w);
    const char *t = start_thread(h.bob, h.channel, ", 'type': 11");

    expect_status(client_put(h.cleo, "", MEMBER, t, "@me"), 204);
    expect_status(client_delete(h.cleo, "/users/@me/guilds/%s", h.guild), 204);
    expect_error(client_get(h.bob, MEMBER, t, h.cleo->id), 404, 10007);
}

const struct test thread_members_tests[] = {
    TEST(joining_and_leaving_a_thread_sends_thread_members_update),
    TEST(thread_can_be_joined_with_post),
    TEST(thread_members_are_listed_by_user_id_in_pages),
    TEST(adding_a_thread_member_requires_permission_and_view_access),
    TEST(authors_and_mentioned_users_join_the_thread),
    TEST(private_thread_events_go_only_to_thread_members),
    TEST(removed_thread_creator_loses_access_to_private_thread),
    TEST(bot_without_members_intent_gets_only_its_own_thread_joins),
    TEST(thread_is_limited_to_1000_members),
    TEST(role_mention_adds_up_to_250_members_to_the_thread),
    TEST(thread_member_settings_are_changed_by_the_member_only),
    TEST(archived_threads_are_listed_in_pages_by_type),
    TEST(locked_thread_refuses_messages_of_non_moderators),
    TEST(slow_mode_limits_thread_creation_separately),
    TEST(leaving_a_guild_removes_the_member_from_its_threads),
    { 0 },
};
