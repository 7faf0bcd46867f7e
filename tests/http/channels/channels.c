/* channels.c - listing, creating, moving, changing and deleting guild channels. */
#include "channels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "platforms.h"
#include "test_guild.h"

#define CHANNELS "/guilds/%s/channels"

static const char *repeat_letter(struct world *w, size_t n)
{
    char *text = arena_alloc(world_arena(w), n + 1);

    memset(text, 'x', n);
    return text;
}

/* --- listing and reading -------------------------------------------------------------- */

static void channel_list_contains_only_visible_channels(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *g = found_guild(ada, "Hall");

    put_member(g, bob);
    const char *secret = make_channel(
        ada, g,
        str_printf(world_arena(w),
                   "{'name': 'secret', 'permission_overwrites': [{'id': '%s', 'type': 0, "
                   "'deny': '1024'}]}",
                   g)
            .p);
    struct answer a = client_get(bob, CHANNELS, g);
    expect_status(a, 200);
    bool found = false;
    for (size_t i = 0; i < a.json->count; i++) {
        const struct dom *id = dom_member(&a.json->items[i], STR("id"));

        found |= str_is(id->text, secret);
        expect(!dom_member(&a.json->items[i], STR("permissions")));
    }
    expect(!found);
    expect(client_get(ada, CHANNELS, g).json->count == a.json->count + 1);
    expect_error(client_get(world_client(w, "stranger"), CHANNELS, g), 403, 50001);
    expect_error(client_get(ada, "/guilds/%s/channels", ada->id), 404, 10004);
    expect_error(client_get(bob, "/channels/%s", secret), 403, 50001);
    expect_error(client_get(bob, "/channels/%s", g), 404, 10003);
    expect_status(client_get(ada, "/channels/%s", secret), 200);
}

static void channel_list_contains_permissions_when_requested(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall");
    struct answer a = client_get(ada, "/guilds/%s/channels?permissions=true", g);

    expect_status(a, 200);
    expect(a.json->count > 0);
    for (size_t i = 0; i < a.json->count; i++)
        expect(dom_member(&a.json->items[i], STR("permissions")));
}

static void channel_object_contains_the_fields_of_its_type(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall");
    struct answer a = client_get(ada, "/channels/%s", make_channel(ada, g, "{'name': 'text'}"));

    expect_json(a,
                "{'type': 0, 'guild_id': '%s', 'name': 'text', 'topic': null, 'nsfw': false, "
                "'rate_limit_per_user': 0, 'last_message_id': null, 'parent_id': null, "
                "'permission_overwrites': [], 'flags': 0}",
                g);
    expect_absent(a, "bitrate");
    expect_absent(a, "recipients");
    expect_absent(a, "owner_id");
    expect_json(a, "{'default_thread_rate_limit_per_user': 0}");
    expect(a.json->count == 13); /* exactly these fields, plus id and position */
    a = client_get(ada, "/channels/%s", make_channel(ada, g, "{'name': 'voice', 'type': 2}"));
    expect_json(a, "{'type': 2, 'bitrate': 64000, 'user_limit': 0, 'rtc_region': null, "
                   "'video_quality_mode': 1}");
    expect(a.json->count == 15);
    a = client_get(ada, "/channels/%s", make_channel(ada, g, "{'name': 'stage', 'type': 13}"));
    expect_json(a, "{'type': 13, 'bitrate': 64000, 'user_limit': 0}");
    a = client_get(ada, "/channels/%s", make_channel(ada, g, "{'name': 'cat', 'type': 4}"));
    expect_json(a, "{'type': 4, 'name': 'cat'}");
    expect(a.json->count == 8);
    expect_absent(a, "topic");
    expect_absent(a, "bitrate");
    expect_absent(a, "last_message_id");
    expect_json(client_get(ada, "/channels/%s", make_channel(ada, g, "{'name': 'n', 'type': 5}")),
                "{'type': 5, 'topic': null}");
    expect_json(client_get(ada, "/channels/%s", make_channel(ada, g, "{'name': 'f', 'type': 15}")),
                "{'type': 15}");
}

/* --- creating ------------------------------------------------------------------------- */

static void creating_a_channel_sends_channel_create_and_audit_entry(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall");
    struct answer a = try_channel(ada, g,
                                  "'topic': 'All of it', 'nsfw': true, "
                                  "'rate_limit_per_user': 21600, 'position': 7, "
                                  "'default_auto_archive_duration': 4320");

    expect_status(a, 201);
    expect_json(a, "{'name': 'new', 'topic': 'All of it', 'nsfw': true, 'position': 7, "
                   "'rate_limit_per_user': 21600, 'default_auto_archive_duration': 4320}");
    expect_audit(w, g, 10, answer_text(a, "id"));
    expect_received(w, viewers(g, answer_text(a, "id")), "CHANNEL_CREATE",
                    "{'id': '%s', 'guild_id': '%s', 'name': 'new'}", answer_text(a, "id"), g);
    expect_nothing_received(w);
    expect_silence(ada);
}

static void audit_log_reason_header_is_stored_in_the_entry(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall");
    char path[100];

    snprintf(path, sizeof path, "/api/v10/guilds/%s/channels", g);
    struct answer a = client_request(ada, "POST", path,
                                     "Content-Type: application/json\r\n"
                                     "X-Audit-Log-Reason: more%20room\r\n",
                                     STR("{\"name\": \"new\"}"));
    expect_status(a, 201);
    expect_received(w, audience_of_members_with_permission(id_of(g), 0, PERMISSION(VIEW_AUDIT_LOG)),
                    "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'reason': 'more room'}");
}

static void new_channel_gets_the_last_position(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall");

    make_channel(ada, g, "{'name': 'far', 'position': 40}");
    expect_json(try_channel(ada, g, ""), "{'position': 41}");
}

static void channel_fields_outside_their_limits_are_refused(struct world *w)
{
    static const struct {
        const char *rest, *field, *code; /* code NULL: accepted */
    } cases[] = {
        { "'type': 1", "type", "BASE_TYPE_CHOICES" },
        { "'type': 3", "type", "BASE_TYPE_CHOICES" },
        { "'type': 11", "type", "BASE_TYPE_CHOICES" },
        { "'type': 'x'", "type", "NUMBER_TYPE_COERCE" },
        { "'type': 2, 'bitrate': 7999", "bitrate", "NUMBER_TYPE_MIN" },
        { "'type': 2, 'bitrate': 8000", NULL, NULL },
        { "'type': 2, 'bitrate': 96000", NULL, NULL },
        { "'type': 2, 'bitrate': 96001", "bitrate", "NUMBER_TYPE_MAX" },
        { "'type': 13, 'bitrate': 64000", NULL, NULL },
        { "'type': 13, 'bitrate': 64001", "bitrate", "NUMBER_TYPE_MAX" },
        { "'type': 2, 'user_limit': 99", NULL, NULL },
        { "'type': 2, 'user_limit': 100", "user_limit", "NUMBER_TYPE_MAX" },
        { "'type': 2, 'user_limit': -1", "user_limit", "NUMBER_TYPE_MIN" },
        { "'type': 13, 'user_limit': 10000", NULL, NULL },
        { "'type': 13, 'user_limit': 10001", "user_limit", "NUMBER_TYPE_MAX" },
        { "'rate_limit_per_user': 21600", NULL, NULL },
        { "'rate_limit_per_user': 21601", "rate_limit_per_user", "NUMBER_TYPE_MAX" },
        { "'rate_limit_per_user': -1", "rate_limit_per_user", "NUMBER_TYPE_MIN" },
        { "'position': -1", "position", "NUMBER_TYPE_MIN" },
        { "'nsfw': 'maybe'", "nsfw", "BOOLEAN_TYPE_CONVERT" },
        { "'type': 2, 'rtc_region': 'main'", NULL, NULL },
        { "'type': 2, 'rtc_region': null", NULL, NULL },
        { "'type': 2, 'rtc_region': 'moon'", "rtc_region", "BASE_TYPE_CHOICES" },
        { "'type': 2, 'video_quality_mode': 2", NULL, NULL },
        { "'type': 2, 'video_quality_mode': 0", "video_quality_mode", "BASE_TYPE_CHOICES" },
        { "'type': 2, 'video_quality_mode': 3", "video_quality_mode", "BASE_TYPE_CHOICES" },
        { "'default_auto_archive_duration': 60", NULL, NULL },
        { "'default_auto_archive_duration': 10080", NULL, NULL },
        { "'default_auto_archive_duration': 61", "default_auto_archive_duration",
          "BASE_TYPE_CHOICES" },
        { "'permission_overwrites': {}", "permission_overwrites", "LIST_TYPE_CONVERT" },
        { "'permission_overwrites': [{'type': 0}]", "permission_overwrites.0.id",
          "BASE_TYPE_REQUIRED" },
        { "'permission_overwrites': [{'id': '1', 'type': 2}]", "permission_overwrites.0.type",
          "BASE_TYPE_CHOICES" },
    };
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall");

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct answer a = try_channel(ada, g, cases[i].rest);

        if (cases[i].code)
            expect_invalid(a, cases[i].field, cases[i].code);
        else
            expect_status(a, 201);
    }
}

static void channel_name_and_topic_have_length_limits(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall");
    struct arena *arena = world_arena(w);
#define NAMED(n) str_printf(arena, "{'name': '%s'}", repeat_letter(w, n)).p
#define TOPIC(n) str_printf(arena, "'topic': '%s'", repeat_letter(w, n)).p

    expect_invalid(client_post(ada, "{}", CHANNELS, g), "name", "BASE_TYPE_REQUIRED");
    expect_invalid(client_post(ada, "{'name': '  '}", CHANNELS, g), "name", "BASE_TYPE_BAD_LENGTH");
    expect_json(client_post(ada, "{'name': ' a '}", CHANNELS, g), "{'name': 'a'}");
    expect_status(client_post(ada, NAMED(100), CHANNELS, g), 201);
    expect_invalid(client_post(ada, NAMED(101), CHANNELS, g), "name", "BASE_TYPE_BAD_LENGTH");
    expect_status(try_channel(ada, g, TOPIC(1024)), 201);
    expect_invalid(try_channel(ada, g, TOPIC(1025)), "topic", "BASE_TYPE_MAX_LENGTH");
}

static void creating_a_channel_requires_manage_channels(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *g = found_guild(ada, "Hall");

    put_member(g, bob);
    expect_error(try_channel(bob, g, ""), 403, 50013);
    /* The permission is checked before the body. */
    expect_error(client_post(bob, "{}", CHANNELS, g), 403, 50013);
    expect_error(client_patch(bob, "[]", CHANNELS, g), 403, 50013);
    struct client *cleo = member_with(ada, g, "cleo", PERMISSION(MANAGE_CHANNELS));
    expect_status(try_channel(cleo, g, ""), 201);
    expect_error(try_channel(world_client(w, "stranger"), g, ""), 403, 50001);
}

static void parent_id_must_be_a_category_of_the_same_guild(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall"), *other = found_guild(ada, "Other");
    const char *cat = make_channel(ada, g, "{'name': 'cat', 'type': 4}");
    const char *text = make_channel(ada, g, "{'name': 'text'}");
    const char *far = make_channel(ada, other, "{'name': 'far', 'type': 4}");
    struct arena *arena = world_arena(w);
#define UNDER(id) str_printf(arena, "'parent_id': '%s'", id).p

    expect_json(try_channel(ada, g, UNDER(cat)), "{'parent_id': '%s'}", cat);
    expect_invalid(try_channel(ada, g, UNDER(text)), "parent_id", "CHANNEL_PARENT_INVALID_TYPE");
    expect_invalid(try_channel(ada, g, UNDER(far)), "parent_id", "CHANNEL_PARENT_INVALID");
    expect_invalid(try_channel(ada, g, UNDER(g)), "parent_id", "CHANNEL_PARENT_INVALID");
    expect_invalid(try_channel(ada, g, str_printf(arena, "'type': 4, 'parent_id': '%s'", cat).p),
                   "parent_id", "CHANNEL_PARENT_INVALID_TYPE");
}

static void category_is_limited_to_50_channels(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall");
    const char *cat = make_channel(ada, g, "{'name': 'cat', 'type': 4}");
    const char *under = str_printf(world_arena(w), "'parent_id': '%s'", cat).p;
    const char *last = NULL;

    for (int i = 0; i < 50; i++) {
        struct answer a = try_channel(ada, g, under);

        expect_status(a, 201);
        last = answer_text(a, "id");
    }
    expect_invalid(try_channel(ada, g, under), "parent_id", "CHANNEL_PARENT_MAX_CHANNELS");
    /* A channel that is already in the category may repeat its parent_id. */
    expect_status(
        client_patch(ada, str_printf(world_arena(w), "{%s}", under).p, "/channels/%s", last), 200);
}

static void guild_is_limited_to_500_channels(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall");
    size_t have = client_get(ada, CHANNELS, g).json->count;
    static const char add[] =
        "insert into channels (id, guild_id, type, name) values ($2, $1, 0, 'x')";

    for (; have < 499; have++) {
        char id[24];

        snprintf(id, sizeof id, "%llu", (unsigned long long)snowflake_new());
        run_sql(w, add, g, id);
    }
    expect_status(try_channel(ada, g, ""), 201);
    expect_error(try_channel(ada, g, ""), 400, 30013);
}

/* --- moving --------------------------------------------------------------------------- */

static void moving_channels_sends_channel_update_for_each_moved_one(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall");
    struct arena *arena = world_arena(w);
    const char *cat = make_channel(ada, g, "{'name': 'cat', 'type': 4}");
    const char *a = make_channel(ada, g, "{'name': 'a', 'position': 10}");
    const char *b = make_channel(ada, g, "{'name': 'b', 'position': 11}");
    const char *c = make_channel(ada, g, "{'name': 'c', 'position': 12}");

    struct answer done = client_patch(
        ada,
        str_printf(arena,
                   "[{'id': '%s', 'position': 11}, {'id': '%s', 'position': 10, 'parent_id': "
                   "'%s'}, {'id': '%s', 'position': 12}]",
                   a, b, cat, c)
            .p,
        CHANNELS, g);
    expect_status(done, 204);
    expect_received(w, viewers(g, a), "CHANNEL_UPDATE", "{'id': '%s', 'position': 11}", a);
    expect_received(w, viewers(g, b), "CHANNEL_UPDATE",
                    "{'id': '%s', 'position': 10, 'parent_id': '%s'}", b, cat);
    expect_nothing_received(w);
    expect_status(
        client_patch(ada, str_printf(arena, "[{'id': '%s', 'parent_id': null}]", b).p, CHANNELS, g),
        204);
    expect_json(client_get(ada, "/channels/%s", b), "{'parent_id': null, 'position': 10}");
}

static void moving_unknown_channels_changes_nothing(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall"), *other = found_guild(ada, "Other");
    struct arena *arena = world_arena(w);
    const char *a = make_channel(ada, g, "{'name': 'a', 'position': 10}");
    const char *far = make_channel(ada, other, "{'name': 'far'}");

    expect_error(
        client_patch(
            ada,
            str_printf(arena, "[{'id': '%s', 'position': 1}, {'id': '%s', 'position': 2}]", a, far)
                .p,
            CHANNELS, g),
        404, 10003);
    /* No position of the request was applied. */
    expect_json(client_get(ada, "/channels/%s", a), "{'position': 10}");
    expect_nothing_received(w);
    expect_invalid(client_patch(ada, "[{'position': 1}]", CHANNELS, g), "0.id",
                   "BASE_TYPE_REQUIRED");
    expect_invalid(client_patch(ada, str_printf(arena, "[{'id': '%s', 'parent_id': '%s'}]", a, a).p,
                                CHANNELS, g),
                   "0.parent_id", "CHANNEL_PARENT_INVALID_TYPE");
    struct answer both =
        client_patch(ada,
                     str_printf(arena,
                                "[{'id': '%s', 'parent_id': '%s'}, {'id': '%s', 'position': 1}, "
                                "{'id': '%s', 'parent_id': '5'}]",
                                a, a, a, a)
                         .p,
                     CHANNELS, g);
    expect_invalid(both, "0.parent_id", "CHANNEL_PARENT_INVALID_TYPE");
    expect_invalid(both, "2.parent_id", "CHANNEL_PARENT_INVALID");
    expect_json(client_get(ada, "/channels/%s", a), "{'position': 10}");
    expect_nothing_received(w);
}

static void lock_permissions_copies_overwrites_of_the_category(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall");
    struct arena *arena = world_arena(w);
    struct client *bob = member_with(ada, g, "bob", PERMISSION(MANAGE_CHANNELS));
    const char *cat = make_channel(ada, g,
                                   str_printf(arena,
                                              "{'name': 'cat', 'type': 4, 'permission_overwrites': "
                                              "[{'id': '%s', 'type': 0, 'deny': '2048'}]}",
                                              g)
                                       .p);
    const char *a = make_channel(ada, g, "{'name': 'a'}");
    const char *move =
        str_printf(arena, "[{'id': '%s', 'parent_id': '%s', 'lock_permissions': true}]", a, cat).p;

    expect_error(client_patch(bob, move, CHANNELS, g), 403, 50013);
    expect_status(client_patch(ada, move, CHANNELS, g), 204);
    expect_received(w, viewers(g, a), "CHANNEL_UPDATE",
                    "{'parent_id': '%s', 'permission_overwrites': [{'id': '%s', 'deny': '2048'}]}",
                    cat, g);
    expect_nothing_received(w);
    expect_status(client_patch(ada, move, CHANNELS, g), 204);
    expect_nothing_received(w);
}

enum { FULL = 1000, FULL_CHANNELS = 50 }; /* overwrites per channel, and number of such channels */

#define NUMBERS(first, count)                                                                    \
    " with recursive n (i) as (select cast(" #first " as bigint) union all select i + 1 from n " \
    "where i < " #first " + " #count " - 1) "

/* Creates a category with channels 5000 and up, each with the maximum number of overwrites. */
static const char *create_full_channels(struct world *w, struct client *ada, const char *g)
{
    const char *cat = make_channel(ada, g, "{'name': 'cat', 'type': 4}");

    world_sql(w,
              "insert into channels (id, guild_id, type, name, parent_id)" NUMBERS(
                  5000, 50) "select i, %s, 0, 'x', %s from n",
              g, cat);
    world_sql(w, "insert into overwrites (channel_id, target_id, type)" NUMBERS(
                     1, 1000) "select c.id, n.i, 1 from n cross join channels c where c.id >= 5000 "
                              "and c.id < 5050");
    return cat;
}

/* 50,000 overwrites are read and sent in several transactions; the test fails if one takes long. */
static void channel_update_events_of_many_channels_come_in_batches(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall");
    const char *cat = create_full_channels(w, ada, g);
    struct buf body;

    buf_init(&body, 1 << 20);
    for (int i = 0; i < FULL_CHANNELS; i++)
        buf_printf(&body, "%s{'id': '%d', 'position': %d}", i ? ", " : "[", 5000 + i, 100 - i);
    buf_add_lit(&body, "]");
    expect_status(
        client_patch(ada, str_dup_cstring(world_arena(w), buf_as_str(&body)), CHANNELS, g), 204);
    buf_clear(&body);
    expect_number(w, 0, "select count(*) from jobs where kind = 'channel-news'");
    for (int i = 0; i < FULL_CHANNELS; i++) {
        const char *id = TEXT(w, "%d", 5000 + i);

        expect_received(w, viewers(g, id), "CHANNEL_UPDATE", "{'id': '%s', 'position': %d}", id,
                        100 - i);
    }
    expect_nothing_received(w);
    expect_status(client_delete(ada, "/channels/%s", cat), 200);
    expect_number(w, 0, "select count(*) from jobs where kind = 'channel-news'");
    expect_number(w, 0, TEXT(w, "select count(*) from channels where parent_id = %s", cat));
}

static void at_most_500_channels_can_be_moved_in_one_request(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall");
    const char *a = make_channel(ada, g, "{'name': 'a'}");
    struct buf body;

    buf_init(&body, 1 << 20);
    for (int i = 0; i < 500; i++)
        buf_printf(&body, "%s{'id': '%s', 'position': %d}", i ? ", " : "[", a, i + 1);
    const char *most =
        str_dup_cstring(world_arena(w), STR_CONCAT(world_arena(w), buf_as_str(&body), STR("]")));
    const char *more =
        TEXT(w, "%.*s, {'id': '%s', 'position': 7}]", STR_ARGS(buf_as_str(&body)), a);
    buf_clear(&body);
    expect_error(client_patch(ada, more, CHANNELS, g), 400, 50035);
    expect_status(client_patch(ada, most, CHANNELS, g), 204);
    expect_json(client_get(ada, "/channels/%s", a), "{'position': 500}");
}

/* Each locked channel costs a comparison or a write of all of its overwrites. */
static void lock_permissions_is_limited_by_the_number_of_overwrites(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall");
    const char *cat = make_channel(ada, g, "{'name': 'cat', 'type': 4}");
    const char *a = make_channel(ada, g, "{'name': 'a'}"),
               *b = make_channel(ada, g, "{'name': 'b'}"),
               *c = make_channel(ada, g, "{'name': 'c'}");
    const char *two = TEXT(w,
                           "[{'id': '%s', 'parent_id': '%s', 'lock_permissions': true}, "
                           "{'id': '%s', 'parent_id': '%s', 'lock_permissions': true}",
                           a, cat, b, cat);

    world_sql(w, "insert into users (id, username)" NUMBERS(1, 1000) "select i, 'u' || i from n");
    world_sql(w,
              "insert into members (guild_id, user_id, joined_at)" NUMBERS(
                  1, 1000) "select %s, i, 0 from n",
              g);
    world_sql(w,
              "insert into overwrites (channel_id, target_id, type)" NUMBERS(
                  1, 1000) "select %s, i, 1 from n",
              cat);
    expect_invalid(
        client_patch(
            ada,
            TEXT(w, "%s, {'id': '%s', 'parent_id': '%s', 'lock_permissions': true}]", two, c, cat),
            CHANNELS, g),
        "2.lock_permissions", "BASE_TYPE_CHOICES");
    expect_number(w, FULL, "select count(*) from overwrites");
    expect_status(client_patch(ada, TEXT(w, "%s]", two), CHANNELS, g), 204);
    expect_number(w, 3 * FULL, "select count(*) from overwrites");
}

/* --- changing ------------------------------------------------------------------------- */

static void channel_patch_keeps_absent_fields_and_resets_null_fields(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall");
    const char *c = make_channel(ada, g,
                                 "{'name': 'a', 'topic': 'old', 'nsfw': true, 'position': 3, "
                                 "'rate_limit_per_user': 5}");
    struct answer a =
        client_patch(ada, "{'name': 'b', 'rate_limit_per_user': null}", "/channels/%s", c);

    expect_status(a, 200);
    expect_json(a, "{'name': 'b', 'topic': 'old', 'nsfw': true, 'position': 3, "
                   "'rate_limit_per_user': 0}");
    expect_audit(w, g, 11, c);
    expect_received(w, viewers(g, c), "CHANNEL_UPDATE", "{'id': '%s', 'name': 'b'}", c);
    expect_nothing_received(w);
    expect_json(client_patch(ada, "{'topic': null, 'nsfw': null}", "/channels/%s", c),
                "{'topic': null, 'nsfw': false, 'name': 'b'}");
    expect_invalid(client_patch(ada, "{'name': null}", "/channels/%s", c), "name",
                   "BASE_TYPE_REQUIRED");
    expect_invalid(client_patch(ada, "{'name': ''}", "/channels/%s", c), "name",
                   "BASE_TYPE_BAD_LENGTH");
    /* Fields that the channel type does not have are ignored. */
    a = client_patch(ada, "{'bitrate': 9000, 'user_limit': 4}", "/channels/%s", c);
    expect_status(a, 200);
    expect_absent(a, "bitrate");
}

static void voice_channel_fields_are_validated_when_changed(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall");
    const char *voice = make_channel(ada, g, "{'name': 'v', 'type': 2, 'user_limit': 9}");
    const char *stage = make_channel(ada, g, "{'name': 's', 'type': 13}");

    expect_json(client_patch(ada, "{'bitrate': 96000, 'user_limit': 99, 'rtc_region': 'main'}",
                             "/channels/%s", voice),
                "{'bitrate': 96000, 'user_limit': 99, 'rtc_region': 'main'}");
    expect_json(client_patch(ada, "{'bitrate': null, 'rtc_region': null}", "/channels/%s", voice),
                "{'bitrate': 64000, 'user_limit': 99, 'rtc_region': null}");
    expect_invalid(client_patch(ada, "{'user_limit': 100}", "/channels/%s", voice), "user_limit",
                   "NUMBER_TYPE_MAX");
    struct answer a =
        client_patch(ada, "{'bitrate': 64001, 'rtc_region': 'moon'}", "/channels/%s", stage);
    expect_invalid(a, "bitrate", "NUMBER_TYPE_MAX");
    expect_invalid(a, "rtc_region", "BASE_TYPE_CHOICES");
    expect_json(client_patch(ada, "{'user_limit': 10000}", "/channels/%s", stage),
                "{'user_limit': 10000}");
}

static void channel_type_changes_only_between_text_and_announcement(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall");
    const char *text = make_channel(ada, g, "{'name': 'a', 'topic': 'kept'}");
    const char *voice = make_channel(ada, g, "{'name': 'v', 'type': 2}");

    expect_json(client_patch(ada, "{'type': 5}", "/channels/%s", text),
                "{'type': 5, 'topic': 'kept'}");
    expect_json(client_patch(ada, "{'type': 0}", "/channels/%s", text), "{'type': 0}");
    expect_invalid(client_patch(ada, "{'type': 2}", "/channels/%s", text), "type",
                   "BASE_TYPE_CHOICES");
    expect_invalid(client_patch(ada, "{'type': 0}", "/channels/%s", voice), "type",
                   "BASE_TYPE_CHOICES");
    expect_status(client_patch(ada, "{'type': 2}", "/channels/%s", voice), 200);
}

static void changing_a_channel_requires_manage_channels(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *g = found_guild(ada, "Hall");
    const char *c = make_channel(ada, g, "{'name': 'a'}");

    put_member(g, bob);
    expect_error(client_patch(bob, "{'name': 'b'}", "/channels/%s", c), 403, 50013);
    expect_error(client_patch(bob, "{'name': 7}", "/channels/%s", c), 403, 50013);
    expect_error(client_delete(bob, "/channels/%s", c), 403, 50013);
    struct client *cleo = member_with(ada, g, "cleo", PERMISSION(MANAGE_CHANNELS));
    expect_status(client_patch(cleo, "{'name': 'b'}", "/channels/%s", c), 200);
    expect_error(client_patch(cleo, "{'permission_overwrites': []}", "/channels/%s", c), 403,
                 50013);
    struct client *dan =
        member_with(ada, g, "dan", PERMISSION(MANAGE_CHANNELS) | PERMISSION(MANAGE_ROLES));
    expect_status(client_patch(dan, "{'permission_overwrites': []}", "/channels/%s", c), 200);
}

static void configure_enabled_rate_limits(struct config *config)
{
    config->rate_limits = true;
}

static void channel_can_be_renamed_twice_in_ten_minutes(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall");
    const char *c = make_channel(ada, g, "{'name': 'a'}");
    struct client *bob = member_with(ada, g, "bob", PERMISSION(MANAGE_CHANNELS));

    expect_status(client_patch(ada, "{'name': 'b'}", "/channels/%s", c), 200);
    expect_status(client_patch(ada, "{'topic': 't'}", "/channels/%s", c), 200);
    struct answer a = client_patch(bob, "{'name': 'c'}", "/channels/%s", c);
    expect_status(a, 429);
    expect(str_is(answer_header(a, "X-RateLimit-Scope"), "shared"));
    /* Client libraries then delay only this call, not the others of the route. */
    expect(atoi(answer_header(a, "X-RateLimit-Remaining").p) > 0);
    /* Unchanged names and other fields do not count. */
    expect_status(client_patch(ada, "{'name': 'b', 'nsfw': true}", "/channels/%s", c), 200);
    world_wait(w, 601);
    expect_status(client_patch(ada, "{'name': 'c'}", "/channels/%s", c), 200);
}

/* --- deleting ------------------------------------------------------------------------- */

static void deleting_a_channel_returns_it_and_sends_channel_delete(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall");
    const char *c = make_channel(ada, g, "{'name': 'a'}");
    struct answer a = client_delete(ada, "/channels/%s", c);

    expect_status(a, 200);
    expect_json(a, "{'id': '%s', 'name': 'a'}", c);
    expect_audit(w, g, 12, c);
    expect_received(w, viewers(g, c), "CHANNEL_DELETE", "{'id': '%s', 'guild_id': '%s'}", c, g);
    expect_nothing_received(w);
    expect_error(client_get(ada, "/channels/%s", c), 404, 10003);
}

static void deleting_a_category_removes_its_channels_parent_id(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall");
    struct arena *arena = world_arena(w);
    const char *cat = make_channel(ada, g, "{'name': 'cat', 'type': 4}");
    const char *under = str_printf(arena, "{'name': 'x', 'parent_id': '%s'}", cat).p;
    const char *a = make_channel(ada, g, under), *b = make_channel(ada, g, under);

    expect_status(client_delete(ada, "/channels/%s", cat), 200);
    expect_received(w, viewers(g, a), "CHANNEL_UPDATE", "{'id': '%s', 'parent_id': null}", a);
    expect_received(w, viewers(g, b), "CHANNEL_UPDATE", "{'id': '%s', 'parent_id': null}", b);
    expect_audit(w, g, 12, cat);
    expect_received(w, viewers(g, cat), "CHANNEL_DELETE", "{'id': '%s'}", cat);
    expect_nothing_received(w);
}

static void deleting_the_system_channel_clears_the_guild_field(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall");
    const char *c = make_channel(ada, g, "{'name': 'a'}");
    const char *voice = make_channel(ada, g, "{'name': 'v', 'type': 2}");

    run_sql(w, "update guilds set system_channel_id = $2, afk_channel_id = 7 where id = $1", g, c);
    expect_status(client_delete(ada, "/channels/%s", c), 200);
    expect_received(w, audience_of_guild(id_of(g)), "GUILD_UPDATE",
                    "{'id': '%s', 'system_channel_id': null, 'afk_channel_id': '7'}", g);
    discard_received(w);
    expect_status(client_delete(ada, "/channels/%s", voice), 200);
    expect_audit(w, g, 12, voice);
    expect_received(w, viewers(g, voice), "CHANNEL_DELETE", "{}");
}

static void deleting_a_channel_deletes_its_attachments(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall");
    const char *c = make_channel(ada, g, "{'name': 'a'}");
    char path[100];

    snprintf(path, sizeof path, "/api/v10/channels/%s/messages", c);
    struct answer a = client_request(
        ada, "POST", path, "Content-Type: multipart/form-data; boundary=xyz\r\n",
        STR("--xyz\r\nContent-Disposition: form-data; name=\"files[0]\"; filename=\"a.txt\"\r\n"
            "\r\nhello\r\n--xyz--\r\n"));
    expect_status(a, 200);
    const char *url = strstr(strstr(answer_text(a, "attachments.0.url"), "://") + 3, "/");
    expect_status(client_request(ada, "GET", url, "", STR("")), 200);
    expect_status(client_delete(ada, "/channels/%s", c), 200);
    expect_status(client_request(ada, "GET", url, "", STR("")), 404);
}

const struct test channels_tests[] = {
    TEST(channel_list_contains_only_visible_channels),
    TEST(channel_list_contains_permissions_when_requested),
    TEST(channel_object_contains_the_fields_of_its_type),
    TEST(creating_a_channel_sends_channel_create_and_audit_entry),
    TEST(audit_log_reason_header_is_stored_in_the_entry),
    TEST(new_channel_gets_the_last_position),
    TEST(channel_fields_outside_their_limits_are_refused),
    TEST(channel_name_and_topic_have_length_limits),
    TEST(creating_a_channel_requires_manage_channels),
    TEST(parent_id_must_be_a_category_of_the_same_guild),
    TEST(category_is_limited_to_50_channels),
    TEST(guild_is_limited_to_500_channels),
    TEST(moving_channels_sends_channel_update_for_each_moved_one),
    TEST(moving_unknown_channels_changes_nothing),
    TEST(lock_permissions_copies_overwrites_of_the_category),
    TEST(channel_update_events_of_many_channels_come_in_batches),
    TEST(at_most_500_channels_can_be_moved_in_one_request),
    TEST(lock_permissions_is_limited_by_the_number_of_overwrites),
    TEST(channel_patch_keeps_absent_fields_and_resets_null_fields),
    TEST(voice_channel_fields_are_validated_when_changed),
    TEST(channel_type_changes_only_between_text_and_announcement),
    TEST(changing_a_channel_requires_manage_channels),
    TEST_WITH(channel_can_be_renamed_twice_in_ten_minutes, configure_enabled_rate_limits),
    TEST(deleting_a_channel_returns_it_and_sends_channel_delete),
    TEST(deleting_a_category_removes_its_channels_parent_id),
    TEST(deleting_the_system_channel_clears_the_guild_field),
    TEST(deleting_a_channel_deletes_its_attachments),
    { 0 },
};
