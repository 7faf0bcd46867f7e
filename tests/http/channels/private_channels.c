/* private_channels.c - direct channels and groups. */
#include "channels.h"

#include <stdio.h>
#include <string.h>

#include "test_guild.h"

#define MINE       "/users/@me/channels"
#define RECIPIENTS "/channels/%s/recipients/%s"

static struct answer open_direct_channel(struct client *c, const struct client *other)
{
    return client_post(c, str_printf(world_arena(c->world), "{'recipient_id': '%s'}", other->id).p,
                       MINE);
}

static const char *direct_channel_with(struct client *c, const struct client *other)
{
    struct answer a = open_direct_channel(c, other);

    expect_status(a, 200);
    return answer_text(a, "id");
}

/* Writes a body with these recipients. */
static const char *write_recipients(struct world *w, struct client *const *others, size_t count)
{
    struct arena *arena = world_arena(w);
    const char *list = "";

    for (size_t i = 0; i < count; i++)
        list = str_printf(arena, "%s%s'%s'", list, i ? ", " : "", others[i]->id).p;
    return str_printf(arena, "{'recipients': [%s]}", list).p;
}

#define RECIPIENTS_OF(w, ...)                                      \
    write_recipients((w), (struct client *const[]){ __VA_ARGS__ }, \
                     sizeof((struct client *const[]){ __VA_ARGS__ }) / sizeof(struct client *))

/* Creates a group of ada with two friends. */
static const char *create_group(struct client *ada, struct client *bob, struct client *cleo)
{
    make_friends(ada, bob);
    make_friends(ada, cleo);
    struct answer a = client_post(ada, RECIPIENTS_OF(ada->world, bob, cleo), MINE);
    expect_status(a, 200);
    discard_received(ada->world);
    return answer_text(a, "id");
}

/* --- direct channels ------------------------------------------------------------------ */

static void opening_a_direct_channel_twice_returns_the_same_channel(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct answer a = open_direct_channel(ada, bob);

    expect_status(a, 200);
    expect_json(a,
                "{'type': 1, 'recipients': [{'id': '%s', 'username': 'bob'}], 'last_message_id': "
                "null, 'flags': 0, 'is_message_request': false}",
                bob->id);
    expect_absent(a, "owner_id");
    expect_absent(a, "guild_id");
    expect_absent(a, "name");
    expect(a.json->count == 7); /* exactly these fields */
    const char *id = answer_text(a, "id");
    expect_event(ada, "CHANNEL_CREATE", "{'id': '%s', 'recipients': [{'id': '%s'}]}", id, bob->id);
    /* The recipient gets CHANNEL_CREATE with the first message. */
    expect_silence(bob);
    expect_nothing_received(w);
    expect(client_get(bob, MINE).json->count == 0);

    expect(strcmp(direct_channel_with(ada, bob), id) == 0);
    expect_silence(ada);
    expect(strcmp(direct_channel_with(bob, ada), id) == 0);
    expect_event(bob, "CHANNEL_CREATE", "{'id': '%s', 'recipients': [{'id': '%s'}]}", id, ada->id);
    /* A list of one recipient also opens the direct channel. */
    a = client_post(ada, RECIPIENTS_OF(w, bob), MINE);
    expect_json(a, "{'id': '%s', 'type': 1}", id);
    expect_json(client_get(bob, "/channels/%s", id), "{'recipients': [{'id': '%s'}]}", ada->id);
    expect_error(client_get(world_client(w, "cleo"), "/channels/%s", id), 403, 50001);
}

static void direct_channel_with_oneself_or_unknown_user_is_refused(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    expect_error(open_direct_channel(ada, ada), 400, 50033);
    expect_error(client_post(ada, RECIPIENTS_OF(w, ada), MINE), 400, 50033);
    expect_error(client_post(ada, "{'recipient_id': '7'}", MINE), 400, 50033);
    expect_error(client_post(ada, "{'recipient_id': '7', 'access_tokens': ['x']}", MINE), 400,
                 50033);
    expect_error(client_post(ada, "{'access_tokens': ['x'], 'nicks': {}}", MINE), 400, 50033);
    expect_invalid(client_post(ada, "{}", MINE), "recipients", "BASE_TYPE_REQUIRED");
    expect_invalid(client_post(ada, "{'recipient_id': 'x'}", MINE), "recipient_id",
                   "NUMBER_TYPE_COERCE");
    expect_invalid(client_post(ada, "{'recipients': ['x']}", MINE), "recipients.0",
                   "NUMBER_TYPE_COERCE");
}

static void bot_can_open_direct_channels_with_users_only(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct client *bot = world_bot(w, "helper"), *other = world_bot(w, "other");

    expect_status(open_direct_channel(bot, ada), 200);
    expect_error(open_direct_channel(bot, other), 403, 50007);
    expect_error(client_post(bot, RECIPIENTS_OF(w, ada, bob), MINE), 403, 20001);
    expect_status(open_direct_channel(ada, bot), 200);
}

static void private_channels_are_listed_by_last_message(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *one = direct_channel_with(ada, world_client(w, "bob"));
    const char *two = direct_channel_with(ada, world_client(w, "cleo"));
    const char *three = direct_channel_with(ada, world_client(w, "dan"));

    expect_json(client_get(ada, MINE), "[{'id': '%s'}, {'id': '%s'}, {'id': '%s'}]", three, two,
                one);
    run_sql(w, "update channels set last_message_id = $2 where id = $1", one,
            "9000000000000000000");
    expect_json(client_get(ada, MINE), "[{'id': '%s'}, {'id': '%s'}, {'id': '%s'}]", one, three,
                two);
}

static void closing_a_direct_channel_hides_it_for_the_caller_only(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *id = direct_channel_with(ada, bob);

    direct_channel_with(bob, ada);
    discard_received(w);
    struct answer a = client_delete(ada, "/channels/%s", id);
    expect_status(a, 200);
    expect_json(a, "{'id': '%s', 'recipients': [{'id': '%s'}]}", id, bob->id);
    expect_event(ada, "CHANNEL_DELETE", "{'id': '%s'}", id);
    expect_silence(bob);
    expect(client_get(ada, MINE).json->count == 0);
    expect(client_get(bob, MINE).json->count == 1);
    expect_status(client_get(ada, "/channels/%s", id), 200);
    expect(strcmp(direct_channel_with(ada, bob), id) == 0);
    expect_event(ada, "CHANNEL_CREATE", "{'id': '%s'}", id);
}

static void first_message_opens_the_direct_channel_for_the_recipient(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *id = direct_channel_with(ada, bob);

    make_friends(ada, bob);
    discard_received(w);
    expect_status(client_post(ada, "{'content': 'Hello'}", "/channels/%s/messages", id), 200);
    expect_event(bob, "CHANNEL_CREATE", "{'id': '%s', 'recipients': [{'id': '%s'}]}", id, ada->id);
    expect_silence(ada);
    expect_received(w, audience_of_private_channel(id_of(id)), "MESSAGE_CREATE",
                    "{'content': 'Hello'}");
    expect_json(client_get(bob, MINE), "[{'id': '%s'}]", id);
    expect_status(client_delete(bob, "/channels/%s", id), 200);
    discard_received(w);
    expect_status(client_post(ada, "{'content': 'Again'}", "/channels/%s/messages", id), 200);
    expect_event(bob, "CHANNEL_CREATE", "{'id': '%s'}", id);
}

static void direct_channel_cannot_be_patched_or_given_overwrites(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *id = direct_channel_with(ada, world_client(w, "bob"));

    expect_error(client_patch(ada, "{'name': 'x'}", "/channels/%s", id), 403, 50003);
    expect_error(client_patch(ada, "{'name': 7}", "/channels/%s", id), 403, 50003);
    expect_error(client_put(ada, "{'type': 1}", "/channels/%s/permissions/%s", id, ada->id), 403,
                 50003);
}

/* --- groups --------------------------------------------------------------------------- */

static void creating_a_group_sends_channel_create_to_all_recipients(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *cleo = world_client(w, "cleo");

    make_friends(ada, bob);
    make_friends(ada, cleo);
    struct answer a = client_post(ada, RECIPIENTS_OF(w, bob, cleo, bob), MINE);
    expect_status(a, 200);
    expect_json(a,
                "{'type': 3, 'name': null, 'icon': null, 'owner_id': '%s', 'recipients': [{'id': "
                "'%s'}, {'id': '%s'}]}",
                ada->id, bob->id, cleo->id);
    expect_absent(a, "is_message_request");
    expect_absent(a, "managed");
    expect(a.json->count == 9); /* exactly these fields */
    const char *id = answer_text(a, "id");
    expect_event(ada, "CHANNEL_CREATE", "{'id': '%s', 'recipients': [{'id': '%s'}, {'id': '%s'}]}",
                 id, bob->id, cleo->id);
    expect_event(bob, "CHANNEL_CREATE", "{'id': '%s', 'recipients': [{'id': '%s'}, {'id': '%s'}]}",
                 id, ada->id, cleo->id);
    expect_event(cleo, "CHANNEL_CREATE", "{'id': '%s', 'owner_id': '%s'}", id, ada->id);
    expect_silence(ada);
    expect_silence(bob);
    expect_nothing_received(w);
    expect_json(client_get(cleo, MINE), "[{'id': '%s', 'type': 3}]", id);
}

static void group_recipients_must_be_friends(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *cleo = world_client(w, "cleo");

    make_friends(ada, bob);
    expect_error(client_post(ada, RECIPIENTS_OF(w, bob, cleo), MINE), 403, 20037);
    run_sql(w, "insert into relationships (user_id, target_id, type) values ($1, $2, 4)", ada->id,
            cleo->id);
    expect_error(client_post(ada, RECIPIENTS_OF(w, bob, cleo), MINE), 403, 20037);
    expect_silence(bob);
    /* A list that contains the caller creates a group, even with one friend or none. */
    expect_json(client_post(ada, RECIPIENTS_OF(w, ada, bob), MINE), "{'type': 3}");
    expect_json(client_post(ada, "{'recipients': []}", MINE), "{'type': 3, 'recipients': []}");
}

static void group_is_limited_to_ten_recipients(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *others[10];

    for (int i = 0; i < 10; i++) {
        char name[16];

        snprintf(name, sizeof name, "friend%d", i);
        others[i] = world_client(w, name);
        make_friends(ada, others[i]);
    }
    expect_error(client_post(ada, write_recipients(w, others, 10), MINE), 400, 30004);
    struct answer a = client_post(ada, write_recipients(w, others, 9), MINE);
    expect_status(a, 200);
    expect_error(client_put(ada, "{}", RECIPIENTS, answer_text(a, "id"), others[9]->id), 400,
                 30004);
}

static void user_is_limited_to_ten_groups(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");

    for (int i = 0; i < 10; i++)
        expect_status(client_post(ada, "{'recipients': []}", MINE), 200);
    expect_error(client_post(ada, "{'recipients': []}", MINE), 400, 30011);
    expect_status(open_direct_channel(ada, bob), 200);
}

static void group_limit_check_is_fast_with_60000_direct_channels(struct world *w)
{
    static const char numbers[] =
        "with recursive n(i) as (select 1 union all select i + 1 from n where i < 60000) ";
    struct client *ada = world_client(w, "ada");

    world_sql(w, "%sinsert into channels (id, type) select i, 1 from n", numbers);
    world_sql(w,
              "%sinsert into recipients (channel_id, user_id, closed, since) select i, %s, 1, 0 "
              "from n",
              numbers, ada->id);
    expect_status(client_post(ada, "{'recipients': []}", MINE), 200);
    expect_short_writes("create_private_channel", 5);
}

static void group_recipient_can_add_a_friend(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *cleo = world_client(w, "cleo"), *dan = world_client(w, "dan");
    const char *id = create_group(ada, bob, cleo);

    expect_error(client_put(bob, "{}", RECIPIENTS, id, dan->id), 403, 20037);
    make_friends(bob, dan);
    expect_error(client_put(dan, "{}", RECIPIENTS, id, bob->id), 403, 50001);
    expect_error(client_put(bob, "{'access_token': 'x'}", RECIPIENTS, id, dan->id), 400, 50033);
    expect_status(client_put(bob, "{'access_token': null}", RECIPIENTS, id, dan->id), 204);
    expect_event(ada, "CHANNEL_RECIPIENT_ADD", "{'channel_id': '%s', 'user': {'id': '%s'}}", id,
                 dan->id);
    expect_event(bob, "CHANNEL_RECIPIENT_ADD", "{}");
    expect_event(cleo, "CHANNEL_RECIPIENT_ADD", "{}");
    expect_event(dan, "CHANNEL_CREATE",
                 "{'id': '%s', 'recipients': [{'id': '%s'}, {'id': '%s'}, {'id': '%s'}]}", id,
                 ada->id, bob->id, cleo->id);
    expect_silence(dan);
    expect_received(w, audience_of_private_channel(id_of(id)), "MESSAGE_CREATE",
                    "{'type': 1, 'channel_id': '%s', 'author': {'id': '%s'}, 'mentions': [{'id': "
                    "'%s'}]}",
                    id, bob->id, dan->id);
    expect_nothing_received(w);

    /* A second PUT changes nothing. */
    expect_status(client_put(bob, "{}", RECIPIENTS, id, dan->id), 204);
    expect_silence(ada);
    expect_nothing_received(w);
    expect_error(client_put(bob, "{}", RECIPIENTS, id, bob->id), 400, 50033);
    expect_error(client_put(bob, "{}", RECIPIENTS, id, "7"), 404, 10013);
}

static void users_cannot_add_recipients_to_an_application_group(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *cleo = world_client(w, "cleo"), *dan = world_client(w, "dan");
    const char *id = create_group(ada, bob, cleo);

    make_friends(ada, dan);
    expect_absent(client_get(ada, "/channels/%s", id), "managed");
    run_sql(w, "update channels set application_id = $2 where id = $1", id, "77");
    expect_json(client_get(ada, "/channels/%s", id), "{'managed': true, 'application_id': '77'}");
    expect_error(client_put(ada, "{}", RECIPIENTS, id, dan->id), 403, 50013);
    expect_silence(dan);
}

static void adding_a_recipient_to_a_direct_channel_creates_a_group(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *cleo = world_client(w, "cleo");
    const char *dm = direct_channel_with(ada, bob);

    expect_error(client_put(ada, "{}", RECIPIENTS, dm, cleo->id), 403, 20037);
    make_friends(ada, cleo);
    make_friends(ada, bob);
    expect_error(client_put(ada, "{}", RECIPIENTS, dm, bob->id), 400, 50033);
    discard_received(w);
    struct answer a = client_put(ada, "{}", RECIPIENTS, dm, cleo->id);
    expect_status(a, 200);
    expect_json(a, "{'type': 3, 'owner_id': '%s', 'recipients': [{'id': '%s'}, {'id': '%s'}]}",
                ada->id, bob->id, cleo->id);
    const char *id = answer_text(a, "id");
    expect(strcmp(id, dm) != 0);
    expect_event(ada, "CHANNEL_CREATE", "{'id': '%s', 'origin_channel_id': '%s'}", id, dm);
    expect_event(bob, "CHANNEL_CREATE", "{'id': '%s', 'origin_channel_id': '%s'}", id, dm);
    expect_event(cleo, "CHANNEL_CREATE", "{'id': '%s', 'origin_channel_id': '%s'}", id, dm);
    expect_silence(cleo);
    expect_status(client_get(ada, "/channels/%s", dm), 200);
}

static void group_recipients_can_have_nicks(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *cleo = world_client(w, "cleo"), *dan = world_client(w, "dan");
    struct arena *arena = world_arena(w);
    struct answer a;

    make_friends(ada, bob);
    make_friends(ada, cleo);
    make_friends(ada, dan);
    a = client_post(ada,
                    str_printf(arena, "{'recipients': ['%s', '%s'], 'nicks': {'%s': ' Bobby '}}",
                               bob->id, cleo->id, bob->id)
                        .p,
                    MINE);
    expect_json(a, "{'nicks': [{'id': '%s', 'nick': 'Bobby'}]}", bob->id);
    const char *id = answer_text(a, "id");
    expect_absent(client_get(bob, "/channels/%s", id), "nicks");
    discard_received(w);
    expect_status(client_put(ada, "{'nick': 'Danny'}", RECIPIENTS, id, dan->id), 204);
    expect_event(bob, "CHANNEL_RECIPIENT_ADD", "{'user': {'id': '%s'}, 'nick': 'Danny'}", dan->id);
    expect_json(client_get(ada, MINE),
                "[{'nicks': [{'id': '%s', 'nick': 'Bobby'}, {'id': '%s', 'nick': 'Danny'}]}]",
                bob->id, dan->id);
    expect_invalid(
        client_put(ada, "{'nick': 'abcdefghijklmnopqrstuvwxyz0123456'}", RECIPIENTS, id, dan->id),
        "nick", "BASE_TYPE_MAX_LENGTH");
}

static void recipient_routes_refuse_guild_channels_and_bots(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *g = found_guild(ada, "Hall");
    const char *c = make_channel(ada, g, "{'name': 'a'}");

    expect_error(client_put(ada, "{}", RECIPIENTS, c, bob->id), 400, 50024);
    expect_error(client_delete(ada, RECIPIENTS, c, bob->id), 400, 50024);
    expect_error(client_delete(ada, RECIPIENTS, direct_channel_with(ada, bob), bob->id), 403,
                 50003);
    expect_error(client_put(world_bot(w, "helper"), "{}", RECIPIENTS, c, bob->id), 403, 20001);
}

static void group_owner_can_remove_recipients(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *cleo = world_client(w, "cleo");
    const char *id = create_group(ada, bob, cleo);

    expect_error(client_delete(bob, RECIPIENTS, id, cleo->id), 403, 50013);
    expect_error(client_delete(ada, RECIPIENTS, id, world_client(w, "dan")->id), 404, 10013);
    expect_status(client_delete(ada, RECIPIENTS, id, bob->id), 204);
    expect_event(bob, "CHANNEL_DELETE", "{'id': '%s'}", id);
    expect_silence(bob);
    expect_event(ada, "CHANNEL_RECIPIENT_REMOVE", "{'channel_id': '%s', 'user': {'id': '%s'}}", id,
                 bob->id);
    expect_event(cleo, "CHANNEL_RECIPIENT_REMOVE", "{}");
    expect_silence(cleo);
    expect_received(w, audience_of_private_channel(id_of(id)), "MESSAGE_CREATE",
                    "{'type': 2, 'author': {'id': '%s'}, 'mentions': [{'id': '%s'}]}", ada->id,
                    bob->id);
    expect_nothing_received(w);
    expect_error(client_get(bob, "/channels/%s", id), 403, 50001);
}

static void group_ownership_passes_on_when_the_owner_leaves(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *cleo = world_client(w, "cleo");
    const char *id = create_group(ada, bob, cleo);

    expect_status(client_delete(ada, "/channels/%s?silent=true", id), 200);
    expect_event(ada, "CHANNEL_DELETE", "{'id': '%s'}", id);
    expect_event(bob, "CHANNEL_RECIPIENT_REMOVE", "{'user': {'id': '%s'}}", ada->id);
    expect_event(bob, "CHANNEL_UPDATE", "{'owner_id': '%s', 'recipients': [{'id': '%s'}]}", bob->id,
                 cleo->id);
    expect_event(cleo, "CHANNEL_RECIPIENT_REMOVE", "{}");
    expect_event(cleo, "CHANNEL_UPDATE", "{'owner_id': '%s'}", bob->id);
    /* silent=true sends no system message. */
    expect_nothing_received(w);

    expect_status(client_delete(bob, RECIPIENTS, id, bob->id), 204);
    expect_received(w, audience_of_private_channel(id_of(id)), "MESSAGE_CREATE", "{'type': 2}");
    expect_json(client_get(cleo, "/channels/%s", id), "{'owner_id': '%s', 'recipients': []}",
                cleo->id);
    expect_status(client_delete(cleo, "/channels/%s", id), 200);
    expect_error(client_get(cleo, "/channels/%s", id), 404, 10003);
}

static void group_recipients_can_change_name_and_icon(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *cleo = world_client(w, "cleo");
    const char *id = create_group(ada, bob, cleo);
    struct arena *arena = world_arena(w);
    char name[102] = { 0 };

    struct answer a = client_patch(
        bob, str_printf(arena, "{'name': ' Club ', 'icon': '%s'}", PNG).p, "/channels/%s", id);
    expect_status(a, 200);
    expect_json(a, "{'name': 'Club', 'owner_id': '%s'}", ada->id);
    expect(strlen(answer_text(a, "icon")) == 32);
    expect_event(ada, "CHANNEL_UPDATE",
                 "{'name': 'Club', 'recipients': [{'id': '%s'}, {'id': '%s'}]}", bob->id, cleo->id);
    expect_event(bob, "CHANNEL_UPDATE", "{'recipients': [{'id': '%s'}, {'id': '%s'}]}", ada->id,
                 cleo->id);
    expect_event(cleo, "CHANNEL_UPDATE", "{}");
    struct audience people = audience_of_private_channel(id_of(id));
    expect_received(w, people, "MESSAGE_CREATE",
                    "{'type': 4, 'content': 'Club', 'author': {'id': '%s'}, 'mentions': []}",
                    bob->id);
    expect_received(w, people, "MESSAGE_CREATE", "{'type': 5, 'content': ''}");
    expect_nothing_received(w);
    a = client_request(ada, "GET",
                       str_printf(arena, "/channels/%s/icons/%s.png", id, answer_text(a, "icon")).p,
                       "", STR(""));
    expect_status(a, 200);
    expect(str_is(answer_header(a, "Content-Type"), "image/png"));

    expect_json(client_patch(cleo, "{'name': null, 'icon': null}", "/channels/%s", id),
                "{'name': null, 'icon': null}");
    memset(name, 'x', 101);
    expect_invalid(
        client_patch(ada, str_printf(arena, "{'name': '%s'}", name).p, "/channels/%s", id), "name",
        "BASE_TYPE_BAD_LENGTH");
    expect_status(
        client_patch(ada, str_printf(arena, "{'name': '%s'}", name + 1).p, "/channels/%s", id),
        200);
    expect_invalid(client_patch(ada, "{'icon': 'data:image/png;base64,AAAA'}", "/channels/%s", id),
                   "icon", "IMAGE_INVALID");
    expect_error(client_patch(world_client(w, "dan"), "{'name': 'x'}", "/channels/%s", id), 403,
                 50001);
}

static void only_the_group_owner_can_transfer_ownership(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *cleo = world_client(w, "cleo"), *dan = world_client(w, "dan");
    const char *id = create_group(ada, bob, cleo);
    struct arena *arena = world_arena(w);
#define OWNER(c) str_printf(arena, "{'owner': '%s'}", (c)->id).p

    expect_error(client_patch(bob, OWNER(bob), "/channels/%s", id), 403, 50013);
    expect_error(client_patch(ada, OWNER(dan), "/channels/%s", id), 400, 50033);
    expect_json(client_patch(ada, OWNER(cleo), "/channels/%s", id), "{'owner_id': '%s'}", cleo->id);
    expect_event(bob, "CHANNEL_UPDATE", "{'owner_id': '%s'}", cleo->id);
    expect_status(client_delete(cleo, RECIPIENTS, id, ada->id), 204);
}

static void private_channels_show_last_pin_timestamp(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct client *cleo = world_client(w, "cleo");
    const char *one = direct_channel_with(ada, bob), *many = create_group(ada, bob, cleo);

    expect_json(open_direct_channel(ada, bob),
                "{'last_message_id': null, 'last_pin_timestamp': null}");
    expect_json(client_get(ada, "/channels/%s", many),
                "{'name': null, 'icon': null, 'owner_id': '%s', 'flags': 0, 'last_message_id': "
                "null, 'last_pin_timestamp': null}",
                ada->id);
    const char *id =
        answer_text(client_post(ada, "{'content': 'x'}", "/channels/%s/messages", one), "id");
    expect_status(client_put(ada, NULL, "/channels/%s/pins/%s", one, id), 204);
    const char *at = answer_text(client_get(bob, "/channels/%s", one), "last_pin_timestamp");
    expect_json(client_get(bob, MINE), "[{'id': '%s', 'last_pin_timestamp': '%s'}, {}]", one, at);
}

/* Some clients send their own user id in place of @me. */
static void users_own_id_path_is_accepted_like_users_me(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *id = direct_channel_with(ada, bob);

    expect_json(client_get(ada, "/users/%s/channels", ada->id), "[{'id': '%s'}]", id);
    expect_json(client_post(ada, str_printf(world_arena(w), "{'recipient_id': '%s'}", bob->id).p,
                            "/users/%s/channels", ada->id),
                "{'id': '%s'}", id);
    expect_error(client_get(bob, "/users/%s/channels", ada->id), 404, 0);
    expect_error(client_get(ada, "/users/%s/channels", bob->id), 404, 0);
    expect_error(client_get(ada, "/users/%s/nowhere", ada->id), 404, 0);
    expect_error(client_get(world_anonymous(w), "/users/%s/channels", ada->id), 401, 0);
}

const struct test private_channels_tests[] = {
    TEST(users_own_id_path_is_accepted_like_users_me),
    TEST(private_channels_show_last_pin_timestamp),
    TEST(opening_a_direct_channel_twice_returns_the_same_channel),
    TEST(direct_channel_with_oneself_or_unknown_user_is_refused),
    TEST(bot_can_open_direct_channels_with_users_only),
    TEST(private_channels_are_listed_by_last_message),
    TEST(closing_a_direct_channel_hides_it_for_the_caller_only),
    TEST(first_message_opens_the_direct_channel_for_the_recipient),
    TEST(direct_channel_cannot_be_patched_or_given_overwrites),
    TEST(creating_a_group_sends_channel_create_to_all_recipients),
    TEST(group_recipients_must_be_friends),
    TEST(group_is_limited_to_ten_recipients),
    TEST(user_is_limited_to_ten_groups),
    TEST(group_limit_check_is_fast_with_60000_direct_channels),
    TEST(group_recipient_can_add_a_friend),
    TEST(users_cannot_add_recipients_to_an_application_group),
    TEST(adding_a_recipient_to_a_direct_channel_creates_a_group),
    TEST(group_recipients_can_have_nicks),
    TEST(recipient_routes_refuse_guild_channels_and_bots),
    TEST(group_owner_can_remove_recipients),
    TEST(group_ownership_passes_on_when_the_owner_leaves),
    TEST(group_recipients_can_change_name_and_icon),
    TEST(only_the_group_owner_can_transfer_ownership),
    { 0 },
};
