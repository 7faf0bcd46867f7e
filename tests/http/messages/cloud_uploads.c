/* cloud_uploads.c - files that are sent before the message that shows them. */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "apps.h"
#include "base/buf.h"
#include "files.h"
#include "guilds.h"
#include "channel_events.h"
#include "test_guild.h"
#include "waits.h"

#define ASK      "/channels/%s/attachments"
#define MESSAGES "/channels/%s/messages"

/* Asks for one address; what was sent before is of this length. */
static struct answer ask(struct client *c, const char *channel, const char *name, int size)
{
    return client_post(
        c,
        TEXT(c->world, "{'files': [{'id': '7', 'filename': '%s', 'file_size': %d}]}", name, size),
        ASK, channel);
}

/* The path of an address. */
static const char *path_of(const char *url)
{
    return strstr(url, "/uploads/");
}

static struct answer send_bytes(struct world *w, const char *url, const char *bytes)
{
    return client_request(world_stranger(w), "PUT", path_of(url),
                          "Content-Type: application/octet-stream\r\n", str_of(bytes));
}

static struct answer say(struct client *c, const char *channel, const char *name)
{
    return client_post(c,
                       TEXT(c->world,
                            "{'attachments': [{'id': '0', 'filename': 'shown.txt', "
                            "'description': 'd', 'uploaded_filename': '%s'}]}",
                            name),
                       MESSAGES, channel);
}

static void a_file_is_sent_and_then_shown(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    struct answer a = ask(ada, v.channel, "my notes.txt", 5);
    const char *url, *name;

    expect_status(a, 200);
    expect_json(a, "{'attachments': [{'id': '7'}]}");
    url = answer_text(a, "attachments.0.upload_url");
    name = answer_text(a, "attachments.0.upload_filename");
    expect(strlen(name) == 36 + 1 + strlen("my_notes.txt"));
    expect_error(say(ada, v.channel, name), 400, 50146); /* nothing was sent yet */
    expect_status(send_bytes(w, url, "hell"), 400);
    expect_status(send_bytes(w, url, "hello"), 200);
    expect_status(send_bytes(w, url, "hullo"), 200);
    expect_files(w, "attachments", 1);
    a = say(ada, v.channel, name);
    expect_status(a, 200);
    expect_json(a, "{'attachments': [{'filename': 'shown.txt', 'description': 'd', 'size': 5, "
                   "'content_type': 'text/plain; charset=utf-8'}]}");
    a = client_request(world_stranger(w), "GET",
                       strstr(answer_text(a, "attachments.0.url"), "/attachments/"), "", STR(""));
    expect(str_is(a.body, "hullo"));
    expect_error(say(ada, v.channel, name), 400, 50146); /* it is used */
    expect_status(send_bytes(w, url, "hello"), 404);
    world_wait(w, 25 * 3600);
    world_settle(w);
    expect_files(w, "attachments", 1);
}

static void a_file_belongs_to_who_asked(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    struct answer a = ask(ada, v.channel, "a.txt", 2), other = ask(ada, v.channel, "b.txt", 2);
    const char *url = answer_text(a, "attachments.0.upload_url");
    const char *name = answer_text(a, "attachments.0.upload_filename");
    const char *second = answer_text(other, "attachments.0.upload_filename");

    test_guild_add(&v, bob);
    expect_status(send_bytes(w, url, "ok"), 200);
    expect_error(say(bob, v.channel, name), 400, 50146);
    expect_error(client_delete(bob, "/attachments/%s", name), 400, 50146);
    expect_status(client_request(world_stranger(w), "PUT", TEXT(w, "/uploads/%s?token=00", name),
                                 "", STR("ok")),
                  404);
    expect_status(client_delete(ada, "/attachments/%s", name), 204);
    expect_error(client_delete(ada, "/attachments/%s", name), 400, 50146);
    expect_files(w, "attachments", 0);
    expect_status(client_delete(ada, "/attachments/%.36s%%2Fb.txt", second), 204);
    expect(world_number(w, "select count(*) from cloud_uploads") == 0);
    expect(world_number(w, "select count(*) from jobs where kind = 'cloud-upload-expiry'") == 0);
}

static void what_no_message_names_goes_after_a_day(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    struct answer a = ask(ada, v.channel, "a.txt", 2);

    expect_status(send_bytes(w, answer_text(a, "attachments.0.upload_url"), "ok"), 200);
    expect_files(w, "attachments", 1);
    world_wait(w, 24 * 3600 + 1);
    world_settle(w);
    expect(world_number(w, "select count(*) from cloud_uploads") == 0);
    expect_files(w, "attachments", 0);
}

static void asking_takes_rights_and_sizes(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    expect_error(ask(ada, v.channel, "a.txt", 10485761), 413, 40005);
    expect_status(ask(ada, v.channel, "a.txt", 10485760), 200);
    expect_invalid(ask(ada, v.channel, "a.txt", 0), "files.0.file_size", "NUMBER_TYPE_MIN");
    expect_invalid(client_post(ada, "{'files': []}", ASK, v.channel), "files",
                   "BASE_TYPE_BAD_LENGTH");
    world_sql(w, "update roles set permissions = permissions - 32768 where id = %s", v.id);
    expect_error(ask(bob, v.channel, "a.txt", 5), 403, 50013);
    expect_error(ask(world_client(w, "eve"), v.channel, "a.txt", 5), 403, 50001);
}

static void bytes_count_for_who_asked(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    struct answer a = ask(ada, v.channel, "a.txt", 700000);
    char *bytes = arena_alloc(world_arena(w), 700001);

    memset(bytes, 'x', 700000);
    expect_status(send_bytes(w, answer_text(a, "attachments.0.upload_url"), bytes), 200);
    a = ask(ada, v.channel, "b.txt", 700000);
    expect_error(send_bytes(w, answer_text(a, "attachments.0.upload_url"), bytes), 413, 40005);
    expect_files(w, "attachments", 1);
}

/* What is answered to a head whose body never comes. */
static void expect_told_by_head(struct world *w, const char *path, const char *lines,
                                const char *first_line)
{
    const char *head = TEXT(w, "PUT %s HTTP/1.1\r\nHost: x\r\n%s\r\n", path, lines);
    int fd = client_dial(world_stranger(w));
    char in[13] = "";

    expect(send(fd, head, strlen(head), MSG_NOSIGNAL) == (ssize_t)strlen(head));
    expect(recv(fd, in, sizeof in, MSG_WAITALL) == sizeof in);
    if (memcmp(in, first_line, sizeof in) != 0)
        fail_test(__FILE__, __LINE__, "expected '%s', not '%.13s'", first_line, in);
    close(fd);
}

static void bytes_come_only_to_an_address_that_was_given(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    struct answer a = ask(ada, v.channel, "a.txt", 9000000);
    const char *right = path_of(answer_text(a, "attachments.0.upload_url"));
    const char *name = answer_text(a, "attachments.0.upload_filename");
    const char *wrong = TEXT(w, "/uploads/%s?token=%064d", name, 0);
    const char *whole = "Content-Length: 9000000\r\n", *chunks = "Transfer-Encoding: chunked\r\n";

    expect_told_by_head(w, wrong, whole, "HTTP/1.1 404 ");
    expect_told_by_head(w, wrong, chunks, "HTTP/1.1 404 ");
    expect_told_by_head(w, TEXT(w, "/uploads/%s", name), whole, "HTTP/1.1 404 ");
    expect_told_by_head(w, "/uploads/no/such?token=0", whole, "HTTP/1.1 404 ");
    expect_told_by_head(w, right, "Content-Length: 9000001\r\n", "HTTP/1.1 400 ");
    expect_told_by_head(w, right, "Content-Length: 9000000\r\nExpect: 100-continue\r\n",
                        "HTTP/1.1 100 ");
}

static struct answer ask_ten(struct client *c, const char *channel)
{
    struct buf body;

    buf_init(&body, 1 << 16);
    for (int i = 0; i < 10; i++)
        buf_printf(&body, "%s{'filename': 'a.txt', 'file_size': 2}", i ? ", " : "{'files': [");
    buf_add_lit(&body, "]}");
    const char *text = str_dupz(world_arena(c->world), buf_str(&body));
    buf_clear(&body);
    return client_post(c, text, ASK, channel);
}

static void an_account_has_a_hundred_open_addresses(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    struct answer a = { 0 };

    test_guild_add(&v, bob);
    for (int i = 0; i < 10; i++) {
        a = ask_ten(ada, v.channel);
        expect_status(a, 200);
    }
    expect_error(ask(ada, v.channel, "a.txt", 2), 413, 40005);
    expect_status(ask(bob, v.channel, "a.txt", 2), 200);
    expect_status(
        client_delete(ada, "/attachments/%s", answer_text(a, "attachments.9.upload_filename")),
        204);
    expect_status(ask(ada, v.channel, "a.txt", 2), 200);
}

static void small_quota(struct config *config)
{
    config->upload_quota_mib = 1;
}

static void addresses_are_signed_anew(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *eve = world_client(w, "eve");
    struct test_guild v = world_test_guild(w, ada);
    struct answer a = ask(ada, v.channel, "a.txt", 2);
    const char *name = answer_text(a, "attachments.0.upload_filename"), *url, *body, *fresh;

    expect_status(send_bytes(w, answer_text(a, "attachments.0.upload_url"), "ok"), 200);
    url = strstr(answer_text(say(ada, v.channel, name), "attachments.0.url"), "/attachments/");
    url = TEXT(w, "https://cdn.example%.*s?ex=1&width=5&height=6", (int)strcspn(url, "?"), url);
    body = TEXT(w, "{'attachment_urls': ['%s', 'nonsense']}", url);
    a = client_post(ada, body, "/attachments/refresh-urls");
    expect_status(a, 200);
    expect_json(a, "{'refreshed_urls': [{'original': '%s'}, {'refreshed': 'nonsense'}]}", url);
    fresh = answer_text(a, "refreshed_urls.0.refreshed");
    expect(strstr(fresh, "width=5&height=6"));
    a = client_request(world_stranger(w), "GET", strstr(fresh, "/attachments/"), "", STR(""));
    expect_status(a, 200);
    expect_json(client_post(eve, body, "/attachments/refresh-urls"),
                "{'refreshed_urls': [{'refreshed': '%s'}, {}]}", url);
    /* A member renews it until they no longer see the channel; the same with a bot. */
    struct client *more[] = { eve, world_bot(w, "helper"), NULL };
    for (struct client **c = more; *c; c++) {
        test_guild_add(&v, *c);
        a = client_post(*c, body, "/attachments/refresh-urls");
        expect(strstr(answer_text(a, "refreshed_urls.0.refreshed"), "hm="));
    }
    expect_status(client_put(ada, "{'type': 0, 'deny': '1024'}", "/channels/%s/permissions/%s",
                             v.channel, v.id),
                  204);
    for (struct client **c = more; *c; c++)
        expect_json(client_post(*c, body, "/attachments/refresh-urls"),
                    "{'refreshed_urls': [{'refreshed': '%s'}, {}]}", url);
}

static void an_application_shows_a_file_for_a_day(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *application = make_application(ada, "Helper"), *path;
    struct client *bot = application_bot(ada, application);
    struct upload file[] = { { "file", "a.txt", STR("hello") }, { 0 } };
    struct upload none[] = { { "other", NULL, STR("hello") }, { 0 } };
    struct answer a =
        client_upload(bot, "POST", NULL, file, "/applications/%s/attachment", application);

    expect_status(a, 200);
    expect_json(a, "{'attachment': {'filename': 'a.txt', 'size': 5}, 'ephemeral': true}");
    path = strstr(answer_text(a, "attachment.url"), "/attachments/");
    expect(str_is(client_request(world_stranger(w), "GET", path, "", STR("")).body, "hello"));
    expect_invalid(
        client_upload(bot, "POST", NULL, none, "/applications/%s/attachment", application), "file",
        "BASE_TYPE_REQUIRED");
    expect_error(client_upload(world_bot(w, "other"), "POST", NULL, file,
                               "/applications/%s/attachment", application),
                 403, 20012);
    expect_files(w, "attachments", 1);
    world_wait(w, 24 * 3600 + 1);
    world_settle(w);
    expect_files(w, "attachments", 0);
}

const struct test cloud_uploads_tests[] = {
    TEST(a_file_is_sent_and_then_shown),
    TEST(a_file_belongs_to_who_asked),
    TEST(what_no_message_names_goes_after_a_day),
    TEST(asking_takes_rights_and_sizes),
    TEST_WITH(bytes_count_for_who_asked, small_quota),
    TEST(an_account_has_a_hundred_open_addresses),
    TEST(bytes_come_only_to_an_address_that_was_given),
    TEST(addresses_are_signed_anew),
    TEST(an_application_shows_a_file_for_a_day),
    { 0 },
};
