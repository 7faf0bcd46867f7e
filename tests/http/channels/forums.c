/* forums.c - forums and media channels: tags, and posts that begin with a message. */
#include <string.h>

#include "channels.h"

#define THREADS "/channels/%s/threads"
#define FIRST   ", 'message': {'content': 'first'}"

struct forum {
    struct client *ada, *bob; /* the owner, a member */
    const char *guild, *id, *open,
        *moderated; /* two tags: one for all members, one for moderators */
};

static struct forum create_forum(struct world *w)
{
    struct forum f = { world_client(w, "ada"), world_client(w, "bob") };

    f.guild = found_guild(f.ada, "Hall");
    put_member(f.guild, f.bob);
    struct answer a =
        client_post(f.ada,
                    "{'name': 'f', 'type': 15, 'available_tags': [{'name': 'free', 'emoji_name': "
                    "'x'}, {'name': 'kept', 'moderated': true}], 'default_sort_order': 1, "
                    "'default_reaction_emoji': {'emoji_name': 'y'}}",
                    "/guilds/%s/channels", f.guild);
    expect_status(a, 201);
    f.id = answer_text(a, "id");
    f.open = answer_text(a, "available_tags.0.id");
    f.moderated = answer_text(a, "available_tags.1.id");
    discard_received(w);
    return f;
}

static const char *format_text(struct world *w, const char *fmt, const char *a, const char *b)
{
    return str_printf(world_arena(w), fmt, a, b).p;
}

static void forum_channel_has_tags_and_default_settings(struct world *w)
{
    struct forum f = create_forum(w);

    expect_json(client_get(f.ada, "/channels/%s", f.id),
                "{'type': 15, 'available_tags': [{'id': '%s', 'name': 'free', 'moderated': false, "
                "'emoji_id': null, 'emoji_name': 'x'}, {'id': '%s', 'moderated': true, "
                "'emoji_name': null}], 'default_sort_order': 1, 'default_forum_layout': 0, "
                "'default_tag_setting': 'match_some', 'default_reaction_emoji': {'emoji_id': null, "
                "'emoji_name': 'y'}, 'default_thread_rate_limit_per_user': 0}",
                f.open, f.moderated);
    /* The list replaces the tags: one is renamed, one is new, one is removed. */
    struct answer a = client_patch(
        f.ada,
        format_text(w,
                    "{'available_tags': [{'id': '%s', 'name': 'open'}, {'name': 'new'}], 'flags': "
                    "16, 'default_sort_order': null, 'default_tag_setting': 'match_all'%s}",
                    f.open, ""),
        "/channels/%s", f.id);
    expect_json(a,
                "{'available_tags': [{'id': '%s', 'name': 'open', 'emoji_name': null}, {'name': "
                "'new'}], 'flags': 16, 'default_sort_order': null, 'default_tag_setting': "
                "'match_all'}",
                f.open);
    expect_error(
        client_patch(f.ada, "{'available_tags': [{'id': '7', 'name': 'a'}]}", "/channels/%s", f.id),
        400, 10087);
    expect_error(client_patch(f.ada, "{'available_tags': [{'name': 'a'}, {'name': 'a'}]}",
                              "/channels/%s", f.id),
                 400, 40061);
    expect_invalid(client_patch(f.ada, "{'default_sort_order': 2}", "/channels/%s", f.id),
                   "default_sort_order", "BASE_TYPE_CHOICES");
    expect_invalid(client_patch(f.ada, "{'available_tags': [{'name': ''}]}", "/channels/%s", f.id),
                   "available_tags.0.name", "BASE_TYPE_BAD_LENGTH");
    const char *text = make_channel(f.ada, f.guild, "{'name': 't'}");
    expect_absent(client_patch(f.ada, "{'available_tags': [{'name': 'a'}]}", "/channels/%s", text),
                  "available_tags");
    const char *media = make_channel(f.ada, f.guild, "{'name': 'm', 'type': 16}");
    a = client_get(f.ada, "/channels/%s", media);
    expect_json(a, "{'type': 16, 'available_tags': []}");
    expect_absent(a, "default_forum_layout");
}

static void forum_tags_can_be_created_changed_and_deleted_singly(struct world *w)
{
    struct forum f = create_forum(w);

    expect_error(client_post(f.bob, "{'name': 'a'}", "/channels/%s/tags", f.id), 403, 50013);
    expect_json(client_post(f.ada, "{'name': 'a'}", "/channels/%s/tags", f.id),
                "{'available_tags': [{}, {}, {'name': 'a'}]}");
    expect_audit(w, f.guild, 11, f.id);
    expect_received(w, viewers(f.guild, f.id), "CHANNEL_UPDATE", "{'id': '%s'}", f.id);
    expect_error(client_post(f.ada, "{'name': 'a'}", "/channels/%s/tags", f.id), 400, 40061);
    expect_json(client_put(f.ada, "{'name': 'b'}", "/channels/%s/tags/%s", f.id, f.open),
                "{'available_tags': [{'id': '%s', 'name': 'b', 'emoji_name': null}, {}, {}]}",
                f.open);
    expect_error(client_put(f.ada, "{'name': 'c'}", "/channels/%s/tags/7", f.id), 404, 10087);
    expect_json(client_delete(f.ada, "/channels/%s/tags/%s", f.id, f.open),
                "{'available_tags': [{'id': '%s'}, {'name': 'a'}]}", f.moderated);
    const char *text = make_channel(f.ada, f.guild, "{'name': 't'}");
    expect_error(client_post(f.ada, "{'name': 'a'}", "/channels/%s/tags", text), 400, 50024);
    for (int i = 0; i < 18; i++)
        expect_status(client_post(f.ada, str_printf(world_arena(w), "{'name': 't%d'}", i).p,
                                  "/channels/%s/tags", f.id),
                      200);
    expect_error(client_post(f.ada, "{'name': 'z'}", "/channels/%s/tags", f.id), 400, 30048);
}

static void forum_post_is_created_with_its_first_message(struct world *w)
{
    struct forum f = create_forum(w);
    struct answer a = client_post(
        f.bob, format_text(w, "{'name': 'p', 'applied_tags': ['%s']" FIRST "%s}", f.open, ""),
        THREADS, f.id);

    expect_status(a, 201);
    const char *id = answer_text(a, "id");
    expect_json(a,
                "{'type': 11, 'parent_id': '%s', 'applied_tags': ['%s'], 'message': {'id': '%s', "
                "'channel_id': '%s', 'content': 'first', 'position': 0}, 'member': {'user_id': "
                "'%s'}, 'message_count': 0, 'total_message_sent': 0, 'member_count': 1}",
                f.id, f.open, id, id, f.bob->id);
    expect_audit(w, f.guild, 110, id);
    expect_received(w, viewers(f.guild, id), "THREAD_CREATE",
                    "{'id': '%s', 'newly_created': true, 'applied_tags': ['%s']}", id, f.open);
    expect_received(w, viewers(f.guild, id), "MESSAGE_CREATE", "{'id': '%s', 'position': 0}", id);
    expect_received(w, viewers(f.guild, id), "THREAD_MEMBERS_UPDATE", "{'id': '%s'}", id);
    expect_event(f.bob, "THREAD_MEMBERS_UPDATE", "{}");
    expect_nothing_received(w);
    expect_json(client_get(f.ada, "/channels/%s", f.id), "{'last_message_id': '%s'}", id);
    expect_json(client_post(f.ada, "{'content': 'more'}", "/channels/%s/messages", id),
                "{'position': 1}");
    expect_json(client_get(f.ada, "/channels/%s", id),
                "{'message_count': 1, 'total_message_sent': 1}");
    expect_error(client_post(f.ada, "{'content': 'a'}", "/channels/%s/messages", f.id), 400, 40058);
    /* A deleted tag is removed from posts. */
    expect_status(client_delete(f.ada, "/channels/%s/tags/%s", f.id, f.open), 200);
    expect_json(client_get(f.ada, "/channels/%s", id), "{'applied_tags': []}");
}

static void invalid_forum_posts_are_refused(struct world *w)
{
    struct forum f = create_forum(w);

    expect_invalid(client_post(f.bob, "{'name': 'p'}", THREADS, f.id), "message",
                   "BASE_TYPE_REQUIRED");
    expect_error(client_post(f.bob, "{'name': 'p', 'message': {}}", THREADS, f.id), 400, 50006);
    expect_error(client_post(f.bob, "{'name': 'p', 'applied_tags': ['7']" FIRST "}", THREADS, f.id),
                 400, 10087);
    expect_error(client_post(f.bob,
                             format_text(w, "{'name': 'p', 'applied_tags': ['%s']" FIRST "%s}",
                                         f.moderated, ""),
                             THREADS, f.id),
                 403, 50013);
    expect_invalid(
        client_post(
            f.bob,
            format_text(w, "{'name': 'p', 'applied_tags': ['%s', '%s']" FIRST "}", f.open, f.open),
            THREADS, f.id),
        "applied_tags", "SET_TYPE_ALREADY_CONTAINS_VALUE");
    expect_invalid(client_post(f.bob, "{'name': 'p', 'applied_tags': [1, 2, 3, 4, 5, 6]" FIRST "}",
                               THREADS, f.id),
                   "applied_tags", "BASE_TYPE_MAX_LENGTH");
    expect_nothing_received(w);
    expect_status(client_patch(f.ada, "{'flags': 16}", "/channels/%s", f.id), 200);
    expect_error(client_post(f.bob, "{'name': 'p'" FIRST "}", THREADS, f.id), 400, 40067);
    expect_error(client_post(f.ada, "{'name': 'p'" FIRST "}", THREADS, f.id), 400, 40067);
    expect_status(client_delete(f.ada, "/channels/%s/tags/%s", f.id, f.open), 200);
    expect_error(client_post(f.bob, "{'name': 'p'" FIRST "}", THREADS, f.id), 400, 40066);
    expect_error(client_post(f.ada, "{'name': 'p'" FIRST "}", THREADS, f.id), 400, 40067);
}

static void forum_allows_one_pinned_post_and_protects_moderated_tags(struct world *w)
{
    struct forum f = create_forum(w);
    const char *one =
        answer_text(client_post(f.bob, "{'name': 'p'" FIRST "}", THREADS, f.id), "id");
    const char *two =
        answer_text(client_post(f.bob, "{'name': 'q'" FIRST "}", THREADS, f.id), "id");

    expect_error(client_patch(f.bob, "{'flags': 2}", "/channels/%s", one), 403, 50013);
    expect_json(client_patch(f.ada, "{'flags': 2}", "/channels/%s", one), "{'flags': 2}");
    expect_error(client_patch(f.ada, "{'flags': 2}", "/channels/%s", two), 400, 30047);
    expect_json(client_patch(f.ada, "{'archived': true}", "/channels/%s", one), "{'flags': 0}");
    expect_json(client_patch(f.ada, "{'flags': 2}", "/channels/%s", two), "{'flags': 2}");
    expect_json(client_patch(f.bob, format_text(w, "{'applied_tags': ['%s']%s}", f.open, ""),
                             "/channels/%s", two),
                "{'applied_tags': ['%s']}", f.open);
    expect_error(client_patch(f.bob, format_text(w, "{'applied_tags': ['%s']%s}", f.moderated, ""),
                              "/channels/%s", two),
                 403, 50013);
}

/* Client libraries retain the old list if the field is absent. */
static void applied_tags_are_present_for_posts_and_absent_for_threads(struct world *w)
{
    struct forum f = create_forum(w);
    struct answer a = client_post(f.bob, "{'name': 'p'" FIRST "}", THREADS, f.id);
    const char *id = answer_text(a, "id");

    expect_json(a, "{'applied_tags': []}");
    expect_json(client_patch(f.bob, format_text(w, "{'applied_tags': ['%s']%s}", f.open, ""),
                             "/channels/%s", id),
                "{'applied_tags': ['%s']}", f.open);
    expect_json(client_patch(f.bob, "{'applied_tags': []}", "/channels/%s", id),
                "{'applied_tags': []}");
    expect_json(client_get(f.ada, "/channels/%s", id), "{'applied_tags': []}");
    a = client_post(f.ada, "{'name': 'talk'}", "/guilds/%s/channels", f.guild);
    a = client_post(f.ada, "{'name': 'aside', 'type': 11}", THREADS, answer_text(a, "id"));
    expect_status(a, 201);
    expect_absent(a, "applied_tags");
}

static void webhook_creates_forum_posts_with_thread_name(struct world *w)
{
    struct forum f = create_forum(w);
    struct answer hook = client_post(f.ada, "{'name': 'h'}", "/channels/%s/webhooks", f.id);
    const char *id = answer_text(hook, "id"), *token = answer_text(hook, "token");
    struct client *nobody = world_anonymous(w);
#define HOOK "/webhooks/%s/%s"

    expect_error(client_post(nobody, "{'content': 'a'}", HOOK, id, token), 400, 220001);
    struct answer a =
        client_post(nobody,
                    format_text(w, "{'content': 'a', 'thread_name': 'p', 'applied_tags': ['%s']%s}",
                                f.open, ""),
                    HOOK "?wait=true", id, token);
    expect_json(a, "{'content': 'a', 'webhook_id': '%s'}", id);
    const char *post = answer_text(a, "channel_id");
    expect_json(client_get(f.bob, "/channels/%s", post),
                "{'id': '%s', 'owner_id': '%s', 'member_count': 0, 'applied_tags': ['%s']}",
                answer_text(a, "id"), id, f.open);
    expect_json(
        client_post(nobody, "{'content': 'b'}", HOOK "?wait=true&thread_id=%s", id, token, post),
        "{'channel_id': '%s', 'position': 1}", post);
    expect_error(client_post(nobody, "{'content': 'b', 'thread_name': 'q'}", HOOK "?thread_id=%s",
                             id, token, post),
                 400, 220002);
    expect_error(client_post(nobody, "{'content': 'b'}", HOOK "?thread_id=%s", id, token, f.id),
                 404, 10003);
    expect_status(client_patch(f.ada, "{'locked': true}", "/channels/%s", post), 200);
    expect_error(client_post(nobody, "{'content': 'b'}", HOOK "?thread_id=%s", id, token, post),
                 400, 160005);
    expect_status(client_patch(f.ada, "{'flags': 16}", "/channels/%s", f.id), 200);
    expect_error(client_post(nobody, "{'content': 'a', 'thread_name': 'p'}", HOOK, id, token), 400,
                 40067);
    const char *text = make_channel(f.ada, f.guild, "{'name': 't'}");
    hook = client_post(f.ada, "{'name': 'h'}", "/channels/%s/webhooks", text);
    expect_error(client_post(nobody, "{'content': 'a', 'thread_name': 'p'}", HOOK,
                             answer_text(hook, "id"), answer_text(hook, "token")),
                 400, 220003);
}

static void post_data_route_returns_first_messages_of_posts(struct world *w)
{
    struct forum f = create_forum(w);
    const char *one =
                   answer_text(client_post(f.bob, "{'name': 'one'" FIRST "}", THREADS, f.id), "id"),
               *two =
                   answer_text(client_post(f.ada, "{'name': 'two'" FIRST "}", THREADS, f.id), "id");
    const char *all = TEXT(w, "{'thread_ids': ['%s', '%s', '7', '%s']}", one, two, one);

    expect_status(client_delete(f.ada, "/channels/%s/messages/%s", two, two), 204);
    struct answer a = client_post(f.bob, all, "/channels/%s/post-data", f.id);
    expect_json(a,
                "{'threads': {'%s': {'owner': {'user': {'username': 'bob'}}, 'first_message': "
                "{'id': '%s', 'content': 'first'}}, '%s': {'owner': {'user': {'username': 'ada'}}, "
                "'first_message': null}}}",
                one, one, two);
    expect_absent(a, "threads.7");
    /* An id given twice occurs once in the response. */
    struct str key = str_of(TEXT(w, "\"%s\":{", one));
    const char *there = memmem(a.body.p, a.body.n, key.p, key.n);
    expect(there && !memmem(there + 1, (size_t)(a.body.p + a.body.n - there - 1), key.p, key.n));
    expect_error(client_post(f.bob, all, "/channels/%s/post-data", one), 400, 50024);
    expect_invalid(client_post(f.bob, "{}", "/channels/%s/post-data", f.id), "thread_ids",
                   "BASE_TYPE_REQUIRED");
}

const struct test forums_tests[] = {
    TEST(forum_channel_has_tags_and_default_settings),
    TEST(forum_tags_can_be_created_changed_and_deleted_singly),
    TEST(forum_post_is_created_with_its_first_message),
    TEST(invalid_forum_posts_are_refused),
    TEST(post_data_route_returns_first_messages_of_posts),
    TEST(forum_allows_one_pinned_post_and_protects_moderated_tags),
    TEST(applied_tags_are_present_for_posts_and_absent_for_threads),
    TEST(webhook_creates_forum_posts_with_thread_name),
    { 0 },
};
