/* stickers.c - creating, changing, deleting and sending guild stickers. */
#include <string.h>

#include "gateway_conn.h"
#include "guilds.h"
#include "channel_events.h"
#include "test_guild.h"
#include "waits.h"

#define STICKERS "/guilds/%s/stickers"
#define STICKER  STICKERS "/%s"
#define MESSAGES "/channels/%s/messages"

/* A picture of one pixel. */
static const char GIF[] = "GIF89a\x01\0\x01\0\0\0\0"
                          "!\xf9\x04\0\x0a\0\0\0"
                          ",\0\0\0\0\x01\0\x01\0\0\x02\x02\x44\x01\0;";
static const char LOTTIE[] = "{\"v\": \"5.5\", \"fr\": 60, \"ip\": 0, \"op\": 120, \"w\": 320, "
                             "\"h\": 320, \"layers\": []}";

static struct str slice_of(const char *text, size_t size)
{
    return str_slice(text, size - 1);
}

/* Writes a PNG of this size; hundredths > 0: animated for so many hundredths of a second. */
static struct str write_png(char out[160], unsigned width, unsigned height, unsigned hundredths)
{
    static const char head[] = "\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR";
    size_t n = 0;

    memcpy(out, head, 16);
    memset(out + 16, 0, 144);
    out[18] = (char)(width >> 8), out[19] = (char)width;
    out[22] = (char)(height >> 8), out[23] = (char)height;
    n = 33;
    if (hundredths) {
        memcpy(out + n,
               "\0\0\0\x08"
               "acTL",
               8);
        n += 20;
        memcpy(out + n,
               "\0\0\0\x1a"
               "fcTL",
               8);
        out[n + 28] = (char)(hundredths >> 8), out[n + 29] = (char)hundredths;
        out[n + 31] = 100;
        n += 38;
    }
    memcpy(out + n, "\0\0\0\0IDAT", 8);
    return str_slice(out, n + 12);
}

static struct answer create_sticker(struct client *c, const char *guild, const char *name,
                                    struct str file)
{
    struct upload parts[] = { { "name", NULL, str_of(name) },
                              { "tags", NULL, STR("wave") },
                              { "description", NULL, STR("") },
                              { "file", "sticker.bin", file },
                              { 0 } };

    return client_upload(c, "POST", NULL, parts, STICKERS, guild);
}

static struct answer create_gif_sticker(struct client *c, const char *guild, const char *name)
{
    return create_sticker(c, guild, name, slice_of(GIF, sizeof GIF));
}

static void created_sticker_is_returned_sent_as_event_and_served(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    struct answer a = create_gif_sticker(ada, v.id, "hello");
    expect_status(a, 201);
    const char *id = answer_text(a, "id");
    expect_json(a,
                "{'name': 'hello', 'description': null, 'tags': 'wave', 'type': 2, "
                "'format_type': 4, 'available': true, 'guild_id': '%s', 'user': {'id': '%s'}}",
                v.id, ada->id);
    expect_guild_event(&v, PERMISSION(VIEW_AUDIT_LOG), "GUILD_AUDIT_LOG_ENTRY_CREATE",
                       "{'action_type': 90, 'target_id': '%s', 'changes': [{'key': 'name', "
                       "'new_value': 'hello'}, {'key': 'tags'}, {'key': 'format_type', "
                       "'new_value': 4}, {'key': 'guild_id'}, {'key': 'available'}]}",
                       id);
    expect_guild_event(&v, 0, "GUILD_STICKERS_UPDATE",
                       "{'guild_id': '%s', 'stickers': [{'id': '%s', 'name': 'hello'}]}", v.id, id);
    expect(!dom_at(world_last_event(w, "GUILD_STICKERS_UPDATE"), "stickers.0.user"));
    expect_json(client_get(bob, STICKERS, v.id), "[{'id': '%s'}]", id);
    expect_absent(client_get(bob, STICKERS, v.id), "0.user");
    expect_json(client_get(ada, STICKERS, v.id), "[{'user': {'id': '%s'}}]", ada->id);
    expect_json(client_get(bob, STICKER, v.id, id), "{'id': '%s'}", id);
    expect_json(client_get(bob, "/guilds/%s", v.id), "{'stickers': [{'id': '%s'}]}", id);
    expect_json(client_get(bob, "/guilds/%s/preview", v.id), "{'stickers': [{'id': '%s'}]}", id);
    expect_json(client_get(world_client(w, "eve"), "/stickers/%s", id), "{'name': 'hello'}");
    a = client_request(world_anonymous(w), "GET", TEXT(w, "/stickers/%s.png", id), NULL,
                       (struct str){ 0 });
    expect_status(a, 200);
    expect(str_is(answer_header(a, "Content-Type"), "image/gif"));
    expect(str_eq(a.body, slice_of(GIF, sizeof GIF)));
}

static void changing_and_deleting_stickers_requires_permission(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *eve = world_client(w, "eve");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add_with(&v, bob, 1, PERMISSION(CREATE_EXPRESSIONS));
    test_guild_add(&v, eve);
    const char *own = answer_text(create_gif_sticker(bob, v.id, "own"), "id"),
               *others = answer_text(create_gif_sticker(ada, v.id, "others"), "id");
    expect_error(create_gif_sticker(eve, v.id, "none"), 403, 50013);
    expect_error(client_patch(bob, "{'name': 'mine'}", STICKER, v.id, others), 403, 50013);
    expect_error(client_delete(bob, STICKER, v.id, others), 403, 50013);
    struct test_guild here = world_test_guild(w, ada);
    expect_error(client_get(ada, STICKER, here.id, own), 404, 10060);
    const char *guild = answer_text(client_get(ada, "/stickers/%s", own), "guild_id");
    discard_received(w);
    expect_json(
        client_patch(bob, "{'name': 'mine', 'description': 'dear to me'}", STICKER, guild, own),
        "{'name': 'mine', 'description': 'dear to me', 'tags': 'wave'}");
    expect_received(
        w, audience_of_members_with_permission(id_of(guild), 0, PERMISSION(VIEW_AUDIT_LOG)),
        "GUILD_AUDIT_LOG_ENTRY_CREATE",
        "{'action_type': 91, 'changes': [{'key': 'name', 'old_value': 'own', 'new_value': "
        "'mine'}, {'key': 'description', 'new_value': 'dear to me'}]}");
    expect_received(w, audience_of_guild(id_of(guild)), "GUILD_STICKERS_UPDATE",
                    "{'stickers': [{}, {}]}");
    /* A PATCH without changes sends no event. */
    expect_status(client_patch(bob, "{'name': 'mine'}", STICKER, guild, own), 200);
    expect_nothing_received(w);
    expect_status(client_delete(bob, STICKER, guild, own), 204);
    expect_received(
        w, audience_of_members_with_permission(id_of(guild), 0, PERMISSION(VIEW_AUDIT_LOG)),
        "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 92, 'target_id': '%s'}", own);
    expect_received(w, audience_of_guild(id_of(guild)), "GUILD_STICKERS_UPDATE",
                    "{'stickers': [{'id': '%s'}]}", others);
    expect_error(client_get(bob, STICKER, guild, own), 404, 10060);
    expect_error(client_get(bob, "/stickers/%s", own), 404, 10060);
    expect_status(
        client_request(bob, "GET", TEXT(w, "/stickers/%s.gif", own), NULL, (struct str){ 0 }), 404);
}

static void invalid_sticker_files_and_fields_are_refused(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    struct upload none[] = { { "name", NULL, STR("hello") }, { "tags", NULL, STR("wave") }, { 0 } };
    static char large[512 * 1024 + 1];
    char png[160];

    world_sql(w, "update guilds set features = '[\"MORE_STICKERS\"]' where id = %s", v.id);
    expect_invalid(client_upload(ada, "POST", NULL, none, STICKERS, v.id), "file",
                   "BASE_TYPE_REQUIRED");
    expect_invalid(create_gif_sticker(ada, v.id, "x"), "name", "BASE_TYPE_BAD_LENGTH");
    expect_invalid(client_patch(ada, "{'description': 'x'}", STICKER, v.id,
                                answer_text(create_gif_sticker(ada, v.id, "xx"), "id")),
                   "description", "BASE_TYPE_BAD_LENGTH");
    expect_error(create_sticker(ada, v.id, "text", STR("hello")), 400, 50046);
    memcpy(large, GIF, sizeof GIF - 1);
    expect_error(create_sticker(ada, v.id, "large", str_slice(large, sizeof large)), 400, 50045);
    expect_error(create_sticker(ada, v.id, "wide", write_png(png, 321, 320, 0)), 400, 170005);
    expect_error(create_sticker(ada, v.id, "high", write_png(png, 320, 321, 0)), 400, 170005);
    expect_json(create_sticker(ada, v.id, "still", write_png(png, 320, 320, 0)),
                "{'format_type': 1}");
    expect_json(create_sticker(ada, v.id, "moves", write_png(png, 320, 320, 500)),
                "{'format_type': 2}");
    expect_error(create_sticker(ada, v.id, "long", write_png(png, 320, 320, 501)), 400, 170007);
    world_wait(w, 20);
    expect_error(create_sticker(ada, v.id, "drawing", slice_of(LOTTIE, sizeof LOTTIE)), 400,
                 170001);
    world_sql(w, "update guilds set features = '[\"VERIFIED\"]' where id = %s", v.id);
    struct answer a = create_sticker(ada, v.id, "drawing", slice_of(LOTTIE, sizeof LOTTIE));
    expect_json(a, "{'format_type': 3}");
    a = client_request(ada, "GET", TEXT(w, "/stickers/%s.json", answer_text(a, "id")), NULL,
                       (struct str){ 0 });
    expect(str_is(answer_header(a, "Content-Type"), "application/json"));
    expect_error(create_sticker(ada, v.id, "nothing", STR("{\"layers\": 1}")), 400, 50046);
    expect_error(create_sticker(ada, v.id, "broken", STR("{\"layers\": [")), 400, 50046);
    expect_json(client_get(world_anonymous(w), "/sticker-packs"), "{'sticker_packs': []}");
    expect_error(client_get(ada, "/sticker-packs/1"), 404, 10061);
}

static void guild_is_limited_to_five_stickers(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);

    for (int i = 0; i < 5; i++)
        expect_status(create_gif_sticker(ada, v.id, "sticker"), 201);
    expect_error(create_gif_sticker(ada, v.id, "sticker"), 400, 30039);
    world_sql(w, "update guilds set features = '[\"MORE_STICKERS\"]' where id = %s", v.id);
    expect_status(create_gif_sticker(ada, v.id, "sticker"), 201);
    /* Deleting the guild deletes its stickers and their files. */
    expect_status(client_delete(ada, "/guilds/%s", v.id), 204);
    expect_soon((world_wait(w, 1), world_number(w, "select count(*) from files")) == 0);
    expect(world_number(w, "select count(*) from stickers") == 0);
}

static void messages_contain_stickers_of_their_guild_only(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada), other = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    const char *here = answer_text(create_gif_sticker(ada, v.id, "here"), "id"),
               *there = answer_text(create_gif_sticker(ada, other.id, "there"), "id");
    const char *body = TEXT(w, "{'sticker_ids': ['%s']}", here),
               *foreign = TEXT(w, "{'sticker_ids': ['%s']}", there);
    struct answer a = client_post(bob, body, MESSAGES, v.channel);

    expect_json(a,
                "{'content': '', 'sticker_items': [{'id': '%s', 'name': 'here', "
                "'format_type': 4}]}",
                here);
    const char *message = answer_text(a, "id");
    expect_absent(client_post(bob, "{'content': 'x', 'sticker_ids': []}", MESSAGES, v.channel),
                  "sticker_items");
    expect_error(client_post(bob, foreign, MESSAGES, v.channel), 403, 50600);
    test_guild_add(&other, bob);
    world_sql(w, "update roles set permissions = %llu where id = %s",
              BITS(PERMISSION(VIEW_CHANNEL) | PERMISSION(SEND_MESSAGES)), v.id);
    expect_error(client_post(bob, foreign, MESSAGES, v.channel), 403, 50600);
    world_sql(w, "update roles set permissions = %llu where id = %s",
              BITS(PERMISSION(VIEW_CHANNEL) | PERMISSION(SEND_MESSAGES) |
                   PERMISSION(USE_EXTERNAL_STICKERS) | PERMISSION(READ_MESSAGE_HISTORY)),
              v.id);
    expect_status(client_post(bob, foreign, MESSAGES, v.channel), 200);
    expect_error(client_post(bob, "{'sticker_ids': ['5']}", MESSAGES, v.channel), 400, 50081);
    expect_invalid(
        client_post(bob, TEXT(w, "{'sticker_ids': ['%s', '%s']}", here, here), MESSAGES, v.channel),
        "sticker_ids", "SET_TYPE_ALREADY_CONTAINS_VALUE");
    expect_invalid(client_post(bob, "{'sticker_ids': ['1', '2', '3', '4']}", MESSAGES, v.channel),
                   "sticker_ids", "BASE_TYPE_MAX_LENGTH");
    expect_error(client_patch(bob, body, MESSAGES "/%s", v.channel, message), 400, 50080);
    struct answer hook = client_post(ada, "{'name': 'hook'}", "/channels/%s/webhooks", v.channel);
    expect_invalid(client_post(world_anonymous(w), body, "/webhooks/%s/%s", answer_text(hook, "id"),
                               answer_text(hook, "token")),
                   "sticker_ids", "STICKERS_NOT_ALLOWED");
    /* A message keeps the name of a deleted sticker. */
    expect_status(client_delete(ada, STICKER, v.id, here), 204);
    expect_json(client_get(bob, MESSAGES "/%s", v.channel, message),
                "{'sticker_items': [{'name': 'here'}]}");
}

static void stickers_are_in_guild_create_and_guild_stickers_update(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bot = world_bot(w, "robot");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bot);
    const char *id = answer_text(create_gif_sticker(ada, v.id, "hello"), "id");
    struct gateway_conn *g = conn_session(bot, "v=10&encoding=json", "'intents': 9");
    expect_dispatch(g, "GUILD_CREATE", "{'stickers': [{'id': '%s', 'tags': 'wave'}]}", id);
    expect_status(client_delete(ada, STICKER, v.id, id), 204);
    expect_dispatch(g, "GUILD_STICKERS_UPDATE", "{'guild_id': '%s', 'stickers': []}", v.id);
}

const struct test stickers_tests[] = {
    TEST(created_sticker_is_returned_sent_as_event_and_served),
    TEST(changing_and_deleting_stickers_requires_permission),
    TEST(invalid_sticker_files_and_fields_are_refused),
    TEST(guild_is_limited_to_five_stickers),
    TEST(messages_contain_stickers_of_their_guild_only),
    TEST(stickers_are_in_guild_create_and_guild_stickers_update),
    { 0 },
};
