/* stages.c - stage instances. */
#include "channels.h"

#include <string.h>

#define STAGES "/stage-instances"
#define STAGE  "/stage-instances/%s"

static const uint64_t MODERATOR =
    PERMISSION(MANAGE_CHANNELS) | PERMISSION(MUTE_MEMBERS) | PERMISSION(MOVE_MEMBERS);

static struct answer post_stage_instance(struct client *c, const char *channel, const char *rest)
{
    return client_post(
        c, str_printf(world_arena(c->world), "{'channel_id': '%s'%s}", channel, rest).p, STAGES);
}

static void stage_instance_can_be_created_changed_and_deleted(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall");
    const char *c = make_channel(ada, g, "{'name': 's', 'type': 13}");

    expect_error(client_get(ada, STAGE, c), 404, 10067);
    struct answer a = post_stage_instance(ada, c, ", 'topic': ' Tea '");
    expect_status(a, 200);
    expect_json(a,
                "{'guild_id': '%s', 'channel_id': '%s', 'topic': 'Tea', 'privacy_level': 2, "
                "'discoverable_disabled': false, 'invite_code': null, 'guild_scheduled_event_id': "
                "null}",
                g, c);
    const char *id = answer_text(a, "id");
    expect_audit(w, g, 83, id);
    expect_received(w, viewers(g, c), "STAGE_INSTANCE_CREATE", "{'id': '%s', 'topic': 'Tea'}", id);
    expect_received(w, viewers(g, c), "MESSAGE_CREATE",
                    "{'type': 27, 'content': 'Tea', 'author': {'id': '%s'}, 'channel_id': '%s'}",
                    ada->id, c);
    expect_nothing_received(w);
    expect_json(client_get(ada, STAGE, c), "{'id': '%s'}", id);
    expect_error(post_stage_instance(ada, c, ", 'topic': 'More'"), 400, 150006);

    expect_json(client_patch(ada, "{'topic': 'Coffee', 'privacy_level': 1}", STAGE, c),
                "{'id': '%s', 'topic': 'Coffee', 'privacy_level': 1}", id);
    expect_audit(w, g, 84, id);
    expect_received(w, viewers(g, c), "STAGE_INSTANCE_UPDATE", "{'topic': 'Coffee'}");
    expect_received(w, viewers(g, c), "MESSAGE_CREATE", "{'type': 31, 'content': 'Coffee'}");
    expect_json(client_patch(ada, "{'topic': 'Coffee'}", STAGE, c), "{'topic': 'Coffee'}");
    expect_audit(w, g, 84, id);
    expect_received(w, viewers(g, c), "STAGE_INSTANCE_UPDATE", "{'topic': 'Coffee'}");
    expect_nothing_received(w);

    expect_status(client_delete(ada, STAGE, c), 204);
    expect_received(w, viewers(g, c), "STAGE_INSTANCE_DELETE", "{'id': '%s', 'channel_id': '%s'}",
                    id, c);
    expect_audit(w, g, 85, id);
    expect_received(w, viewers(g, c), "MESSAGE_CREATE", "{'type': 28, 'content': 'Coffee'}");
    expect_nothing_received(w);
    expect_error(client_delete(ada, STAGE, c), 404, 10067);
    expect_error(client_patch(ada, "{}", STAGE, c), 404, 10067);
}

static void invalid_stage_instances_are_refused(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall");
    const char *c = make_channel(ada, g, "{'name': 's', 'type': 13}");
    struct arena *arena = world_arena(w);
    char topic[122] = { 0 };

    memset(topic, 'x', 121);
    expect_invalid(client_post(ada, "{}", STAGES), "channel_id", "BASE_TYPE_REQUIRED");
    expect_invalid(post_stage_instance(ada, c, ""), "topic", "BASE_TYPE_REQUIRED");
    expect_invalid(post_stage_instance(ada, c, ", 'topic': ''"), "topic", "BASE_TYPE_BAD_LENGTH");
    expect_invalid(post_stage_instance(ada, c, str_printf(arena, ", 'topic': '%s'", topic).p),
                   "topic", "BASE_TYPE_BAD_LENGTH");
    expect_invalid(post_stage_instance(ada, c, ", 'topic': 'x', 'privacy_level': 3"),
                   "privacy_level", "BASE_TYPE_CHOICES");
    expect_invalid(post_stage_instance(ada, c, ", 'topic': 'x', 'privacy_level': 0"),
                   "privacy_level", "BASE_TYPE_CHOICES");
    expect_status(
        post_stage_instance(ada, c,
                            str_printf(arena, ", 'topic': '%s', 'privacy_level': 1", topic + 1).p),
        200);
    expect_invalid(client_patch(ada, "{'topic': ''}", STAGE, c), "topic", "BASE_TYPE_BAD_LENGTH");
}

static void stage_instances_require_moderators_and_a_stage_channel(struct world *w)
{
    static const uint64_t perms[] = { PERMISSION(MANAGE_CHANNELS), PERMISSION(MUTE_MEMBERS),
                                      PERMISSION(MOVE_MEMBERS) };
    static const char *const names[] = { "bob", "cleo", "dan" };
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall");
    const char *c = make_channel(ada, g, "{'name': 's', 'type': 13}");
    const char *voice = make_channel(ada, g, "{'name': 'v', 'type': 2}");

    for (size_t i = 0; i < 3; i++) {
        struct client *lacks = member_with(ada, g, names[i], MODERATOR & ~perms[i]);

        expect_error(post_stage_instance(lacks, c, ", 'topic': 'x'"), 403, 50013);
        expect_error(client_patch(lacks, "{'topic': 7}", STAGE, c), 403, 50013);
        expect_error(client_delete(lacks, STAGE, c), 403, 50013);
    }
    struct client *eve = member_with(ada, g, "eve", MODERATOR);
    expect_error(post_stage_instance(eve, voice, ", 'topic': 'x'"), 400, 50024);
    expect_status(post_stage_instance(eve, c, ", 'topic': 'x'"), 200);
    struct client *fay = world_client(w, "fay");
    expect_error(client_get(fay, STAGE, c), 403, 50001);
    expect_error(post_stage_instance(fay, c, ", 'topic': 'x'"), 403, 50001);
    put_member(g, fay);
    expect_status(client_get(fay, STAGE, c), 200);
    expect_error(post_stage_instance(fay, g, ", 'topic': 'x'"), 404, 10003);
    struct answer dm =
        client_post(ada, str_printf(world_arena(w), "{'recipient_id': '%s'}", fay->id).p,
                    "/users/@me/channels");
    expect_error(post_stage_instance(ada, answer_text(dm, "id"), ", 'topic': 'x'"), 403, 50003);
}

static void deleting_a_channel_deletes_its_stage_instance(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall");
    const char *c = make_channel(ada, g, "{'name': 's', 'type': 13}");

    expect_status(post_stage_instance(ada, c, ", 'topic': 'x'"), 200);
    discard_received(w);
    expect_status(client_delete(ada, "/channels/%s", c), 200);
    expect_received(w, viewers(g, c), "STAGE_INSTANCE_DELETE", "{'channel_id': '%s'}", c);
    expect_audit(w, g, 12, c);
    expect_received(w, viewers(g, c), "CHANNEL_DELETE", "{'id': '%s'}", c);
    expect_nothing_received(w);
}

const struct test stages_tests[] = {
    TEST(stage_instance_can_be_created_changed_and_deleted),
    TEST(invalid_stage_instances_are_refused),
    TEST(stage_instances_require_moderators_and_a_stage_channel),
    TEST(deleting_a_channel_deletes_its_stage_instance),
    { 0 },
};
