/* stream_routes.c - /streams: regions, previews, notifications. */
#include "streams.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "model/permissions/permissions.h"
#include "waits.h"

/* --- PATCH ---------------------------------------------------------------------------- */

static void stream_region_change_is_sent_to_owner_and_viewers(struct world *w)
{
    const char *key;
    struct test_voice h = world_audience(w, &key);

    expect_status(client_patch(h.ada, "{'region': 'us'}", "/streams/%s/stream", key), 204);
    struct client *both[] = { h.ada, h.bob };
    for (int i = 0; i < 2; i++) {
        expect_stream(both[i], "STREAM_UPDATE",
                      "{'stream_key': '%s', 'region': 'us', 'viewer_ids': ['%s'], 'paused': false}",
                      key, h.bob->id);
        expect_stream(both[i], "STREAM_SERVER_UPDATE", "{'endpoint': 'us.voice.example'}");
    }
    /* The same region keeps the stream's tokens. */
    expect_status(client_patch(h.ada, "{'region': 'us'}", "/streams/%s/stream", key), 204);
    for (int i = 0; i < 2; i++)
        expect_stream(both[i], "STREAM_UPDATE", "{'stream_key': '%s', 'region': 'us'}", key);
    expect_status(client_patch(h.ada, "{}", "/streams/%s/stream", key), 204);
    expect_no_stream(h.ada);
    expect_invalid(client_patch(h.ada, "{'region': 'moon'}", "/streams/%s/stream", key), "region",
                   "REGION_INVALID");
}

static void only_the_owner_can_change_a_stream(struct world *w)
{
    const char *key;
    struct test_voice h = world_audience(w, &key);
    struct client *eve = world_client(w, "eve");
    static const char *const paths[] = { "stream", "preview", "preview/video", "notify" };

    for (size_t i = 0; i < 4; i++) {
        const char *method = i ? "POST" : "PATCH", *head = "Content-Type: application/json\r\n";
        const char *path = str_printf(world_arena(w), "/api/v10/streams/%s/%s", key, paths[i]).p;
        const char *none = str_printf(world_arena(w), "/api/v10/streams/%s/%s",
                                      stream_key(&h, h.voice, h.bob), paths[i])
                               .p;
        const char *bad = str_printf(world_arena(w), "/api/v10/streams/guild:1:2/%s", paths[i]).p;

        expect_error(client_request(h.bob, method, path, head, STR("{}")), 403, 50013);
        expect_error(client_request(eve, method, path, head, STR("{}")), 404, 10049);
        expect_error(client_request(h.bob, method, none, head, STR("{}")), 404, 10049);
        expect_invalid(client_request(h.bob, method, bad, head, STR("{}")), "stream_key",
                       "STREAM_KEY_INVALID");
        expect_error(client_request(world_bot(w, "robot"), method, path, head, STR("{}")), 403,
                     20001);
    }
}

static void stream_key_may_have_percent_encoded_colons(struct world *w)
{
    const char *key;
    struct test_voice h = world_show(w, &key);

    expect_status(client_patch(h.ada, "{'region': 'us'}", "/streams/guild%%3A%s%%3A%s%%3A%s/stream",
                               h.guild, h.voice, h.ada->id),
                  204);
}

/* --- previews ------------------------------------------------------------------------- */

/* Writes a PNG of that size, padded to n bytes, as a data URI. */
static const char *write_thumbnail(struct world *w, uint32_t width, uint32_t height, size_t n)
{
    unsigned char *png = arena_alloc(world_arena(w), n);
    size_t room = sodium_base64_ENCODED_LEN(n, sodium_base64_VARIANT_ORIGINAL);
    char *text = arena_alloc(world_arena(w), room);

    memcpy(png, "\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16);
    for (int i = 0; i < 4; i++) {
        png[16 + i] = (unsigned char)(width >> (24 - 8 * i));
        png[20 + i] = (unsigned char)(height >> (24 - 8 * i));
    }
    png[n - 1] = (unsigned char)n;
    sodium_bin2base64(text, room, png, n, sodium_base64_VARIANT_ORIGINAL);
    return str_printf(world_arena(w), "{'thumbnail': 'data:image/jpeg;base64,%s'}", text).p;
}

static void stream_preview_is_stored_served_and_replaced(struct world *w)
{
    const char *key;
    struct test_voice h = world_show(w, &key);
    struct client *nobody = world_anonymous(w);

    expect_error(client_get(h.bob, "/streams/%s/preview", key), 404, 10049);
    expect_status(client_post(h.ada, write_thumbnail(w, 640, 360, 100), "/streams/%s/preview", key),
                  204);
    struct answer a = client_get(h.bob, "/streams/%s/preview", key);
    expect_status(a, 200);
    const char *url = answer_text(a, "url");
    const char *path = strstr(url, "/streams/");
    expect(strncmp(path + 9, key, strlen(key)) == 0 && strcmp(url + strlen(url) - 4, ".png") == 0);
    expect(strlen(path) == 9 + strlen(key) + 1 + 32 + 4);
    a = client_request(nobody, "GET", path, NULL, STR(""));
    expect_status(a, 200);
    expect(str_is(answer_header(a, "Content-Type"), "image/png") && a.body.n == 100);

    /* A new preview replaces the old one. */
    expect_status(client_post(h.ada, write_thumbnail(w, 640, 360, 101), "/streams/%s/preview", key),
                  204);
    expect_status(client_request(nobody, "GET", path, NULL, STR("")), 404);
    path = strstr(answer_text(client_get(h.bob, "/streams/%s/preview", key), "url"), "/streams/");
    expect_status(client_request(nobody, "GET", path, NULL, STR("")), 200);

    /* Ending the stream deletes the preview. */
    ask_about_stream(h.ada, 19, key);
    expect_stream(h.ada, "STREAM_DELETE", "{}");
    expect_status(client_request(nobody, "GET", path, NULL, STR("")), 404);
    expect_error(client_get(h.bob, "/streams/%s/preview", key), 404, 10049);
}

static void invalid_stream_previews_are_refused(struct world *w)
{
    const char *key;
    struct test_voice h = world_show(w, &key);
    static const struct {
        const char *body, *code;
    } bad[] = {
        { "{}", "BASE_TYPE_REQUIRED" },
        { "{'thumbnail': null}", "BASE_TYPE_REQUIRED" },
        { "{'thumbnail': 'hello'}", "IMAGE_INVALID" },
        { "{'thumbnail': 'data:image/png;base64,aGVsbG8='}", "IMAGE_INVALID" },
        { "{'thumbnail': 'data:image/jpeg;base64,R0lGODlhAQABAAAAACw='}", "IMAGE_INVALID" },
        /* begins like a JPEG and has no size */
        { "{'thumbnail': 'data:image/jpeg;base64,/9j/4AAQSkZJRgABAQAAAQABAAD/'}", "IMAGE_INVALID" },
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_invalid(client_post(h.ada, bad[i].body, "/streams/%s/preview", key), "thumbnail",
                       bad[i].code);
    expect_invalid(
        client_post(h.ada, write_thumbnail(w, 1921, 1080, 100), "/streams/%s/preview", key),
        "thumbnail", "IMAGE_TOO_LARGE");
    expect_invalid(
        client_post(h.ada, write_thumbnail(w, 1920, 1081, 100), "/streams/%s/preview", key),
        "thumbnail", "IMAGE_TOO_LARGE");
    expect_invalid(client_post(h.ada, write_thumbnail(w, 0, 1080, 100), "/streams/%s/preview", key),
                   "thumbnail", "IMAGE_INVALID");
    expect_status(
        client_post(h.ada, write_thumbnail(w, 1920, 1080, 1 << 20), "/streams/%s/preview", key),
        204);
    expect_status(client_post(h.ada, write_thumbnail(w, 1920, 1080, (1 << 20) + 1),
                              "/streams/%s/preview", key),
                  413);
    expect_status(client_post(h.ada, write_thumbnail(w, 9, 9, 3 << 20), "/streams/%s/preview", key),
                  413);
}

static void stream_preview_requires_the_connect_permission(struct world *w)
{
    const char *key;
    struct test_voice h = world_show(w, &key);
    struct client *cleo = test_voice_member(&h, "cleo", 0), *eve = world_client(w, "eve");
    char overwrite[100];

    expect_status(client_post(h.ada, write_thumbnail(w, 9, 9, 100), "/streams/%s/preview", key),
                  204);
    expect_status(client_get(cleo, "/streams/%s/preview", key), 200);
    expect_error(client_get(eve, "/streams/%s/preview", key), 403, 50001);
    snprintf(overwrite, sizeof overwrite, "{'type': 1, 'deny': '%llu'}",
             (unsigned long long)PERMISSION(CONNECT));
    expect_status(client_put(h.ada, overwrite, "/channels/%s/permissions/%s", h.voice, cleo->id),
                  204);
    expect_error(client_get(cleo, "/streams/%s/preview", key), 403, 50001);
    expect_error(client_get(world_bot(w, "robot"), "/streams/%s/preview", key), 403, 20001);
    expect_invalid(client_get(cleo, "/streams/x/preview"), "stream_key", "STREAM_KEY_INVALID");
}

static void configure_enabled_rate_limits(struct config *c)
{
    c->rate_limits = true;
}

static void stream_preview_can_be_uploaded_every_five_seconds(struct world *w)
{
    const char *key;
    struct test_voice h = world_show(w, &key);

    /* Refused uploads do not count towards the owner's limit. */
    expect_status(client_post(h.bob, write_thumbnail(w, 9, 9, 99), "/streams/%s/preview", key),
                  403);
    expect_status(client_post(h.ada, write_thumbnail(w, 9, 9, 100), "/streams/%s/preview", key),
                  204);
    expect_status(client_post(h.ada, write_thumbnail(w, 9, 9, 101), "/streams/%s/preview", key),
                  429);
    world_wait(w, 5);
    expect_status(client_post(h.ada, write_thumbnail(w, 9, 9, 101), "/streams/%s/preview", key),
                  204);
}

/* --- video ---------------------------------------------------------------------------- */

static struct answer upload_video(struct client *c, const char *key, const char *field,
                                  const char *head, size_t n)
{
    struct world *w = c->world;
    char *bytes = arena_alloc(world_arena(w), n + 1);
    struct buf body;

    memcpy(bytes, head, n < 12 ? n : 12);
    buf_init(&body, 32 * 1024 * 1024);
    buf_printf(&body,
               "--xyz\r\nContent-Disposition: form-data; name=\"%s\"; filename=\"v\"\r\n\r\n",
               field);
    buf_add(&body, bytes, n);
    buf_add_lit(&body, "\r\n--xyz--\r\n");
    struct answer a = client_request(
        c, "POST", str_printf(world_arena(w), "/api/v10/streams/%s/preview/video", key).p,
        "Content-Type: multipart/form-data; boundary=xyz\r\n", buf_as_str(&body));
    buf_clear(&body);
    return a;
}

static void stream_video_preview_must_be_mp4_or_webm(struct world *w)
{
    const char *key;
    struct test_voice h = world_show(w, &key);
    static const char mp4[] = "\0\0\0\x10"
                              "ftypisom";

    expect_status(upload_video(h.ada, key, "file", mp4, 100), 204);
    expect_status(upload_video(h.ada, key, "file", "\x1a\x45\xdf\xa3 webm...", 100), 204);
    expect_invalid(upload_video(h.ada, key, "file", "GIF89a......", 100), "file", "VIDEO_INVALID");
    expect_invalid(upload_video(h.ada, key, "file", "", 0), "file", "VIDEO_INVALID");
    expect_invalid(upload_video(h.ada, key, "film", mp4, 100), "file", "BASE_TYPE_REQUIRED");
    expect_status(upload_video(h.ada, key, "file", mp4, 8 << 20), 204);
    expect_status(upload_video(h.ada, key, "file", mp4, (8 << 20) + 1), 413);
    expect_invalid(client_post(h.ada, "{}", "/streams/%s/preview/video", key), "file",
                   "BASE_TYPE_REQUIRED");
    expect_error(client_get(h.bob, "/streams/%s/preview", key), 404,
                 10049); /* the route returns only image previews */
}

/* --- notify --------------------------------------------------------------------------- */

static void befriend(struct world *w, const struct client *a, const struct client *b)
{
    world_sql(w, "insert into relationships (user_id, target_id, type) values (%s, %s, 1)", a->id,
              b->id);
    world_sql(w, "insert into relationships (user_id, target_id, type) values (%s, %s, 1)", b->id,
              a->id);
}

static void friends_in_the_guild_are_notified_of_a_stream_once(struct world *w)
{
    const char *key;
    struct test_voice h = world_show(w, &key);
    struct client *cleo = test_voice_member(&h, "cleo", 0); /* a friend */
    struct client *dara = test_voice_member(&h, "dara", 0); /* not a friend */
    struct client *emil = test_voice_member(&h, "emil", 0); /* disabled stream notifications */
    struct client *fay = test_voice_member(&h, "fay", 0);   /* ignores the streamer */
    struct client *gus = test_voice_member(&h, "gus", 0);   /* cannot view the channel */
    struct client *eve = world_client(w, "eve");            /* a friend in another guild */
    struct client *friends[] = { h.bob, cleo, emil, fay, gus, eve };
    char overwrite[100];

    client_connect(eve);
    for (size_t i = 0; i < 6; i++)
        befriend(w, h.ada, friends[i]);
    expect_status(
        client_patch(emil, "{'stream_notifications_enabled': false}", "/users/@me/settings"), 200);
    world_sql(w, "update relationships set ignored = 1 where user_id = %s", fay->id);
    snprintf(overwrite, sizeof overwrite, "{'type': 1, 'deny': '%llu'}",
             (unsigned long long)PERMISSION(VIEW_CHANNEL));
    expect_status(client_put(h.ada, overwrite, "/channels/%s/permissions/%s", h.voice, gus->id),
                  204);

    expect_status(client_post(h.ada, NULL, "/streams/%s/notify", key), 204);
    for (;;) {
        const struct dom *m = conn_read(cleo->gate, 60000);

        expect(m);
        if (!str_is(dom_at(m, "t")->text, "NOTIFICATION_CENTER_ITEM_CREATE"))
            continue;
        expect(str_is(dom_at(m, "d.type")->text, "go_live_push") &&
               str_is(dom_at(m, "d.other_user.id")->text, h.ada->id) &&
               str_is(dom_at(m, "d.guild_id")->text, h.guild) &&
               dom_at(m, "d.message")->kind == JSON_NULL && !dom_at(m, "d.acked")->truth);
        break;
    }
    expect_status(client_post(h.ada, NULL, "/streams/%s/notify", key),
                  204); /* no second notification */
    struct client *others[] = { h.ada, h.bob, cleo, dara, emil, fay, gus, eve };
    for (size_t i = 0; i < 8; i++) {
        const struct dom *m;

        conn_send(others[i]->gate, "{'op': 1, 'd': null}");
        while ((m = conn_read(others[i]->gate, 60000)) && !str_is(dom_at(m, "op")->text, "11"))
            expect(!str_is(dom_at(m, "t")->text, "NOTIFICATION_CENTER_ITEM_CREATE"));
        expect(m);
    }
}

static void stream_notifications_work_in_guilds_over_50_members(struct world *w)
{
    const char *key;
    struct test_voice h = world_show(w, &key);
    struct client *cleo = test_voice_member(&h, "cleo", 0);

    befriend(w, h.ada, cleo);
    for (int i = 0; i < 48; i++) {
        world_sql(w, "insert into users (id, username) values (%d, 'u%d')", 100 + i, i);
        world_sql(w, "insert into members (guild_id, user_id, joined_at) values (%s, %d, 0)",
                  h.guild, 100 + i);
    }
    expect(world_number(w, "select count(*) from members") == 51);
    expect_status(client_post(h.ada, NULL, "/streams/%s/notify", key), 204);
    world_received(w); /* a busy loop may acknowledge a heartbeat first */
    int notifications = 0;
    const struct dom *m;
    conn_send(cleo->gate, "{'op': 1, 'd': null}");
    while ((m = conn_read(cleo->gate, 60000)) && !str_is(dom_at(m, "op")->text, "11"))
        notifications += str_is(dom_at(m, "t")->text, "NOTIFICATION_CENTER_ITEM_CREATE");
    expect(notifications == 1);
}

/* --- in private calls ----------------------------------------------------------------- */

static void streams_in_private_calls_are_for_recipients_only(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct client *eve = world_client(w, "eve");

    make_friends(ada, bob);
    const char *dm = answer_text(
        client_post(ada, TEXT(w, "{'recipient_id': '%s'}", bob->id), "/users/@me/channels"), "id");
    world_sql(w, "update recipients set closed = 0");
    client_connect(ada);
    client_connect(bob);
    ask_voice(ada, NULL, dm, "");
    expect_voice(ada, "VOICE_STATE_UPDATE", "{}");
    expect_voice(ada, "VOICE_SERVER_UPDATE", "{}");
    ask_voice(bob, NULL, dm, "");
    expect_voice(bob, "VOICE_STATE_UPDATE", "{}");
    ask_stream(ada, NULL, dm, "");
    const char *key = TEXT(w, "call:%s:%s", dm, ada->id);
    expect_stream(ada, "STREAM_CREATE", "{'stream_key': '%s'}", key);
    expect_stream(ada, "STREAM_SERVER_UPDATE", "{'guild_id': null}");
    ask_about_stream(bob, 20, key);
    expect_stream(bob, "STREAM_CREATE", "{'viewer_ids': ['%s']}", bob->id);
    expect_stream(bob, "STREAM_SERVER_UPDATE", "{}");
    expect_stream(bob, "STREAM_UPDATE", "{}");

    expect_status(client_post(ada, write_thumbnail(w, 9, 9, 100), "/streams/%s/preview", key), 204);
    expect_status(client_get(bob, "/streams/%s/preview", key), 200);
    expect_error(client_get(eve, "/streams/%s/preview", key), 403, 50001);
    expect_error(client_post(eve, NULL, "/streams/%s/notify", key), 404, 10049);
    expect_error(client_post(ada, NULL, "/streams/%s/notify", key), 400, 50024);
    ask_voice(ada, NULL, NULL, "");
    expect_stream(bob, "STREAM_DELETE", "{'stream_key': '%s', 'reason': 'stream_ended'}", key);
}

const struct test stream_routes_tests[] = {
    TEST_WITH(stream_region_change_is_sent_to_owner_and_viewers, with_two_regions),
    TEST(only_the_owner_can_change_a_stream),
    TEST_WITH(stream_key_may_have_percent_encoded_colons, with_two_regions),
    TEST(stream_preview_is_stored_served_and_replaced),
    TEST(invalid_stream_previews_are_refused),
    TEST(stream_preview_requires_the_connect_permission),
    TEST_WITH(stream_preview_can_be_uploaded_every_five_seconds, configure_enabled_rate_limits),
    TEST(stream_video_preview_must_be_mp4_or_webm),
    TEST(friends_in_the_guild_are_notified_of_a_stream_once),
    TEST(stream_notifications_work_in_guilds_over_50_members),
    TEST(streams_in_private_calls_are_for_recipients_only),
    { 0 },
};
