/* cloud_uploads.c - attachments uploaded before their message. */
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

/* Requests an upload URL for one file of this size. */
static struct answer request_upload(struct client *c, const char *channel, const char *name,
                                    int size)
{
    return client_post(
        c,
        TEXT(c->world, "{'files': [{'id': '7', 'filename': '%s', 'file_size': %d}]}", name, size),
        ASK, channel);
}

/* Returns the path of an upload URL. */
static const char *path_of(const char *url)
{
    return strstr(url, "/uploads/");
}

static struct answer upload_bytes(struct world *w, const char *url, const char *bytes)
{
    return client_request(world_anonymous(w), "PUT", path_of(url),
                          "Content-Type: application/octet-stream\r\n", str_of(bytes));
}

static struct answer send_uploaded_file(struct client *c, const char *channel, const char *name)
{
    return client_post(c,
                       TEXT(c->world,
                            "{'attachments': [{'id': '0', 'filename': 'shown.txt', "
                            "'description': 'd', 'uploaded_filename': '%s'}]}",
                            name),
                       MESSAGES, channel);
}

static void file_uploaded_to_its_url_can_be_attached_once(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    struct answer a = request_upload(ada, v.channel, "my notes.txt", 5);
    const char *url, *name;

    expect_status(a, 200);
    expect_json(a, "{'attachments': [{'id': '7'}]}");
    url = answer_text(a, "attachments.0.upload_url");
    name = answer_text(a, "attachments.0.upload_filename");
    expect(strlen(name) == 36 + 1 + strlen("my_notes.txt"));
    expect_error(send_uploaded_file(ada, v.channel, name), 400,
                 50146); /* nothing was uploaded yet */
    expect_status(upload_bytes(w, url, "hell"), 400);
    expect_status(upload_bytes(w, url, "hello"), 200);
    expect_status(upload_bytes(w, url, "hullo"), 200);
    expect_files(w, "attachments", 1);
    a = send_uploaded_file(ada, v.channel, name);
    expect_status(a, 200);
    expect_json(a, "{'attachments': [{'filename': 'shown.txt', 'description': 'd', 'size': 5, "
                   "'content_type': 'text/plain; charset=utf-8'}]}");
    a = client_request(world_anonymous(w), "GET",
                       strstr(answer_text(a, "attachments.0.url"), "/attachments/"), "", STR(""));
    expect(str_is(a.body, "hullo"));
    expect_error(send_uploaded_file(ada, v.channel, name), 400, 50146); /* the upload is used */
    expect_status(upload_bytes(w, url, "hello"), 404);
    world_wait(w, 25 * 3600);
    world_settle(w);
    expect_files(w, "attachments", 1);
}

static void uploaded_file_can_be_used_only_by_its_uploader(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    struct answer a = request_upload(ada, v.channel, "a.txt", 2),
                  other = request_upload(ada, v.channel, "b.txt", 2);
    const char *url = answer_text(a, "attachments.0.upload_url");
    const char *name = answer_text(a, "attachments.0.upload_filename");
    const char *second = answer_text(other, "attachments.0.upload_filename");

    test_guild_add(&v, bob);
    expect_status(upload_bytes(w, url, "ok"), 200);
    expect_error(send_uploaded_file(bob, v.channel, name), 400, 50146);
    expect_error(client_delete(bob, "/attachments/%s", name), 400, 50146);
    expect_status(client_request(world_anonymous(w), "PUT", TEXT(w, "/uploads/%s?token=00", name),
                                 "", STR("ok")),
                  404);
    expect_status(client_delete(ada, "/attachments/%s", name), 204);
    expect_error(client_delete(ada, "/attachments/%s", name), 400, 50146);
    expect_files(w, "attachments", 0);
    expect_status(client_delete(ada, "/attachments/%.36s%%2Fb.txt", second), 204);
    expect(world_number(w, "select count(*) from cloud_uploads") == 0);
    expect(world_number(w, "select count(*) from jobs where kind = 'cloud-upload-expiry'") == 0);
}

static void unused_upload_is_deleted_after_a_day(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    struct answer a = request_upload(ada, v.channel, "a.txt", 2);

    expect_status(upload_bytes(w, answer_text(a, "attachments.0.upload_url"), "ok"), 200);
    expect_files(w, "attachments", 1);
    world_wait(w, 24 * 3600 + 1);
    world_settle(w);
    expect(world_number(w, "select count(*) from cloud_uploads") == 0);
    expect_files(w, "attachments", 0);
}

static void upload_url_requires_attach_files_and_10_mib_at_most(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    expect_error(request_upload(ada, v.channel, "a.txt", 10485761), 413, 40005);
    expect_status(request_upload(ada, v.channel, "a.txt", 10485760), 200);
    expect_invalid(request_upload(ada, v.channel, "a.txt", 0), "files.0.file_size",
                   "NUMBER_TYPE_MIN");
    expect_invalid(client_post(ada, "{'files': []}", ASK, v.channel), "files",
                   "BASE_TYPE_BAD_LENGTH");
    world_sql(w, "update roles set permissions = permissions - 32768 where id = %s", v.id);
    expect_error(request_upload(bob, v.channel, "a.txt", 5), 403, 50013);
    expect_error(request_upload(world_client(w, "eve"), v.channel, "a.txt", 5), 403, 50001);
}

static void uploaded_bytes_count_for_the_uploaders_quota(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    struct answer a = request_upload(ada, v.channel, "a.txt", 700000);
    char *bytes = arena_alloc(world_arena(w), 700001);

    memset(bytes, 'x', 700000);
    expect_status(upload_bytes(w, answer_text(a, "attachments.0.upload_url"), bytes), 200);
    a = request_upload(ada, v.channel, "b.txt", 700000);
    expect_error(upload_bytes(w, answer_text(a, "attachments.0.upload_url"), bytes), 413, 40005);
    expect_files(w, "attachments", 1);
}

/* Expects this response to a request head without its body. */
static void expect_response_to_head(struct world *w, const char *path, const char *lines,
                                    const char *first_line)
{
    const char *head = TEXT(w, "PUT %s HTTP/1.1\r\nHost: x\r\n%s\r\n", path, lines);
    int fd = client_dial(world_anonymous(w));
    char in[13] = "";

    expect(send(fd, head, strlen(head), MSG_NOSIGNAL) == (ssize_t)strlen(head));
    expect(recv(fd, in, sizeof in, MSG_WAITALL) == sizeof in);
    if (memcmp(in, first_line, sizeof in) != 0)
        fail_test(__FILE__, __LINE__, "expected '%s', not '%.13s'", first_line, in);
    close(fd);
}

static void upload_without_a_valid_token_is_refused_before_its_body(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    struct answer a = request_upload(ada, v.channel, "a.txt", 9000000);
    const char *right = path_of(answer_text(a, "attachments.0.upload_url"));
    const char *name = answer_text(a, "attachments.0.upload_filename");
    const char *wrong = TEXT(w, "/uploads/%s?token=%064d", name, 0);
    const char *whole = "Content-Length: 9000000\r\n", *chunks = "Transfer-Encoding: chunked\r\n";

    expect_response_to_head(w, wrong, whole, "HTTP/1.1 404 ");
    expect_response_to_head(w, wrong, chunks, "HTTP/1.1 404 ");
    expect_response_to_head(w, TEXT(w, "/uploads/%s", name), whole, "HTTP/1.1 404 ");
    expect_response_to_head(w, "/uploads/no/such?token=0", whole, "HTTP/1.1 404 ");
    expect_response_to_head(w, right, "Content-Length: 9000001\r\n", "HTTP/1.1 400 ");
    expect_response_to_head(w, right, "Content-Length: 9000000\r\nExpect: 100-continue\r\n",
                            "HTTP/1.1 100 ");
}

static struct answer request_ten_uploads(struct client *c, const char *channel)
{
    struct buf body;

    buf_init(&body, 1 << 16);
    for (int i = 0; i < 10; i++)
        buf_printf(&body, "%s{'filename': 'a.txt', 'file_size': 2}", i ? ", " : "{'files': [");
    buf_add_lit(&body, "]}");
    const char *text = str_dup_cstring(world_arena(c->world), buf_as_str(&body));
    buf_clear(&body);
    return client_post(c, text, ASK, channel);
}

static void account_is_limited_to_100_pending_uploads(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    struct answer a = { 0 };

    test_guild_add(&v, bob);
    for (int i = 0; i < 10; i++) {
        a = request_ten_uploads(ada, v.channel);
        expect_status(a, 200);
    }
    expect_error(request_upload(ada, v.channel, "a.txt", 2), 413, 40005);
    expect_status(request_upload(bob, v.channel, "a.txt", 2), 200);
    expect_status(
        client_delete(ada, "/attachments/%s", answer_text(a, "attachments.9.upload_filename")),
        204);
    expect_status(request_upload(ada, v.channel, "a.txt", 2), 200);
}

static void configure_quota_of_1_mib(struct config *config)
{
    config->upload_quota_mib = 1;
}

static void refresh_urls_renews_attachment_urls_of_visible_channels(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *eve = world_client(w, "eve");
    struct test_guild v = world_test_guild(w, ada);
    struct answer a = request_upload(ada, v.channel, "a.txt", 2);
    const char *name = answer_text(a, "attachments.0.upload_filename"), *url, *body, *fresh;

    expect_status(upload_bytes(w, answer_text(a, "attachments.0.upload_url"), "ok"), 200);
    url = strstr(answer_text(send_uploaded_file(ada, v.channel, name), "attachments.0.url"),
                 "/attachments/");
    url = TEXT(w, "https://cdn.example%.*s?ex=1&width=5&height=6", (int)strcspn(url, "?"), url);
    body = TEXT(w, "{'attachment_urls': ['%s', 'nonsense']}", url);
    a = client_post(ada, body, "/attachments/refresh-urls");
    expect_status(a, 200);
    expect_json(a, "{'refreshed_urls': [{'original': '%s'}, {'refreshed': 'nonsense'}]}", url);
    fresh = answer_text(a, "refreshed_urls.0.refreshed");
    expect(strstr(fresh, "width=5&height=6"));
    a = client_request(world_anonymous(w), "GET", strstr(fresh, "/attachments/"), "", STR(""));
    expect_status(a, 200);
    expect_json(client_post(eve, body, "/attachments/refresh-urls"),
                "{'refreshed_urls': [{'refreshed': '%s'}, {}]}", url);
    /* A member can renew the URL until the channel is hidden, and so can a bot. */
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

static void application_attachment_is_deleted_after_a_day(struct world *w)
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
    expect(str_is(client_request(world_anonymous(w), "GET", path, "", STR("")).body, "hello"));
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
    TEST(file_uploaded_to_its_url_can_be_attached_once),
    TEST(uploaded_file_can_be_used_only_by_its_uploader),
    TEST(unused_upload_is_deleted_after_a_day),
    TEST(upload_url_requires_attach_files_and_10_mib_at_most),
    TEST_WITH(uploaded_bytes_count_for_the_uploaders_quota, configure_quota_of_1_mib),
    TEST(account_is_limited_to_100_pending_uploads),
    TEST(upload_without_a_valid_token_is_refused_before_its_body),
    TEST(refresh_urls_renews_attachment_urls_of_visible_channels),
    TEST(application_attachment_is_deleted_after_a_day),
    { 0 },
};
