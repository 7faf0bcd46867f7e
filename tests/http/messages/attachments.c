/* attachments.c - attachments of messages and their downloads. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "files.h"
#include "channel_events.h"
#include "test_guild.h"

#define MESSAGES "/channels/%s/messages"
#define MESSAGE  "/channels/%s/messages/%s"

enum { MAX_PAYLOAD_FORM_BYTES = 10 * 1024 * 1024 };

static const struct upload hello[] = { { "files[0]", "hello.txt", STR_INIT("hello, world") },
                                       { 0 } };

/* Returns the path and query of an attachment URL. */
static const char *path_of(const char *url)
{
    const char *p = strstr(url, "/attachments/");

    expect(p != NULL);
    return p;
}

static struct answer fetch_attachment(struct client *c, const char *url, const char *headers)
{
    return client_request(c, "GET", path_of(url), headers, (struct str){ 0 });
}

static void uploaded_attachment_is_served_unchanged(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    struct channel_events room = world_channel_events(w, v.channel);

    struct answer a = client_upload(ada, "POST",
                                    "{'content': 'look', 'attachments': [{'id': 0, 'description': "
                                    "'a greeting'}]}",
                                    hello, MESSAGES, v.channel);
    expect_status(a, 200);
    expect_json(a, "{'content': 'look', 'attachments': [{'filename': 'hello.txt', 'size': 12, "
                   "'content_type': 'text/plain; charset=utf-8', 'description': 'a greeting'}]}");
    expect_absent(a, "attachments.0.width");
    expect(strlen(answer_text(a, "attachments.0.id")) > 15);
    expect_channel_event(&room, "MESSAGE_CREATE", "{'attachments': [{'id': '%s'}]}",
                         answer_text(a, "attachments.0.id"));
    const char *url = answer_text(a, "attachments.0.url");
    expect(strcmp(url, answer_text(a, "attachments.0.proxy_url")) == 0);

    struct answer f = fetch_attachment(world_anonymous(w), url, NULL);
    expect_status(f, 200);
    expect(str_is(f.body, "hello, world"));
    expect(str_is(answer_header(f, "Content-Type"), "text/plain; charset=utf-8"));
    expect(str_is(answer_header(f, "Content-Disposition"), "inline; filename=\"hello.txt\""));
    expect(str_is(answer_header(f, "X-Content-Type-Options"), "nosniff"));
    expect(str_is(answer_header(f, "Accept-Ranges"), "bytes"));
    /* Each read returns a newly signed URL. */
    a = client_get(ada, MESSAGE, v.channel, answer_text(a, "id"));
    expect_status(fetch_attachment(ada, answer_text(a, "attachments.0.url"), NULL), 200);
}

static void attachment_url_expires_after_a_day(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    struct answer a = client_upload(ada, "POST", NULL, hello, MESSAGES, v.channel);
    const char *url = answer_text(a, "attachments.0.url");

    world_wait(w, 86400 - 60);
    expect_status(fetch_attachment(ada, url, NULL), 200);
    world_wait(w, 120);
    expect_error(fetch_attachment(ada, url, NULL), 404, 0);
}

static void attachment_url_requires_a_valid_signature(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    struct answer a = client_upload(ada, "POST", NULL, hello, MESSAGES, v.channel);
    const char *path = path_of(answer_text(a, "attachments.0.url"));
    struct str bare = str_of(path), all = bare;
    bare = str_cut(&all, '?');
    struct arena *arena = world_arena(w);

    expect_error(fetch_attachment(ada, str_dup_cstring(arena, bare), NULL), 404, 0);
    /* Another file name, another expiry and another signature are refused. */
    char *other = str_dup_cstring(arena, str_of(path));
    *strstr(other, "hello") = 'j';
    expect_error(fetch_attachment(ada, other, NULL), 404, 0);
    other = str_dup_cstring(arena, str_of(path));
    char *ex = strstr(other, "ex=") + 3;
    *ex = *ex == '7' ? '8' : '7';
    expect_error(fetch_attachment(ada, other, NULL), 404, 0);
    other = str_dup_cstring(arena, str_of(path));
    char *hm = strstr(other, "hm=") + 3;
    *hm = *hm == 'a' ? 'b' : 'a';
    expect_error(fetch_attachment(ada, other, NULL), 404, 0);
    expect_status(fetch_attachment(ada, path, NULL), 200);
}

static void attachments_support_range_requests(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    struct answer a = client_upload(ada, "POST", NULL, hello, MESSAGES, v.channel);
    const char *url = answer_text(a, "attachments.0.url");

    a = fetch_attachment(ada, url, "Range: bytes=7-\r\n");
    expect_status(a, 206);
    expect(str_is(a.body, "world"));
    expect(str_is(answer_header(a, "Content-Range"), "bytes 7-11/12"));
    a = fetch_attachment(ada, url, "Range: bytes=0-0\r\n");
    expect_status(a, 206);
    expect(str_is(a.body, "h"));
    a = fetch_attachment(ada, url, "Range: bytes=-5\r\n");
    expect(str_is(a.body, "world"));
    a = fetch_attachment(ada, url, "Range: bytes=12-\r\n");
    expect_status(a, 416);
    expect(str_is(answer_header(a, "Content-Range"), "bytes */12"));
    a = fetch_attachment(ada, url, "Range: lines=1-2\r\n");
    expect_status(a, 200);
    expect(a.body.n == 12);
}

static void attachment_filenames_are_sanitized(struct world *w)
{
    static const struct {
        const char *sent, *stored;
    } cases[] = {
        { "../../etc/passwd", "_.._etc_passwd" },
        { "..", "file" },
        { ".bashrc", "bashrc" },
        { "a b\xc3\xa4<c>.png", "a_b__c_.png" },
        { "Report-1_2.TXT", "Report-1_2.TXT" },
    };
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct upload u[] = { { "files[0]", cases[i].sent, STR_INIT("x") }, { 0 } };
        struct answer a = client_upload(ada, "POST", NULL, u, MESSAGES, v.channel);

        expect_json(a, "{'attachments': [{'filename': '%s'}]}", cases[i].stored);
        expect_status(fetch_attachment(ada, answer_text(a, "attachments.0.url"), NULL), 200);
    }
    char name[160];
    snprintf(name, sizeof name, "%0120d.txt", 7);
    struct upload u[] = { { "files[0]", name, STR_INIT("x") }, { 0 } };
    struct answer a = client_upload(ada, "POST", NULL, u, MESSAGES, v.channel);
    const char *stored = answer_text(a, "attachments.0.filename");
    expect(strlen(stored) == 100 && strcmp(stored + 96, ".txt") == 0);
}

static void image_attachments_contain_width_and_height(struct world *w)
{
    static const char png[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0\0\0\0\x40\x08\x06\0\0\0";
    static const char gif[] = "GIF89a\x20\0\x10\0\0\0\0";
    static const char jpeg[] = "\xff\xd8\xff\xe0\0\x04zz\xff\xc0\0\x11\x08\0\x30\0\x50\x03\1";
    static const char webp[] = "RIFF\x1e\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x63\0\0\x31\0\0";
    const struct upload u[] = {
        { "files[0]", "a.png", STR_INIT(png) },         { "files[1]", "b.gif", STR_INIT(gif) },
        { "files[2]", "c.txt", STR_INIT(jpeg) },        { "files[3]", "d.webp", STR_INIT(webp) },
        { "files[4]", "fake.png", STR_INIT("<html>") }, { 0 },
    };
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);

    struct answer a = client_upload(ada, "POST", NULL, u, MESSAGES, v.channel);
    expect_json(a, "{'attachments': [{'content_type': 'image/png', 'width': 256, 'height': 64}, "
                   "{'content_type': 'image/gif', 'width': 32, 'height': 16}, "
                   "{'content_type': 'image/jpeg', 'width': 80, 'height': 48}, "
                   "{'content_type': 'image/webp', 'width': 100, 'height': 50}, "
                   "{'content_type': 'application/octet-stream'}]}");
    expect_absent(a, "attachments.4.width");
}

static void html_and_svg_attachments_are_served_for_download_only(struct world *w)
{
    const struct upload u[] = { { "files[0]", "x.html", STR_INIT("<script>") },
                                { "files[1]", "x.svg", STR_INIT("<svg/>") },
                                { 0 } };
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    struct answer a = client_upload(ada, "POST", NULL, u, MESSAGES, v.channel);

    struct answer f = fetch_attachment(ada, answer_text(a, "attachments.0.url"), NULL);
    expect(str_is(answer_header(f, "Content-Disposition"), "attachment; filename=\"x.html\""));
    f = fetch_attachment(ada, answer_text(a, "attachments.1.url"), NULL);
    expect(str_is(answer_header(f, "Content-Disposition"), "attachment; filename=\"x.svg\""));
}

/* The web pages allow scripts of this server; browsers send the purpose of a request in Sec-
 * Fetch-Dest. */
static void attachments_are_not_served_as_scripts_or_styles(struct world *w)
{
    static const struct {
        const char *wanted;
        int status;
    } cases[] = { { "image", 200 },  { "document", 200 }, { "empty", 200 },
                  { "video", 200 },  { "script", 404 },   { "style", 404 },
                  { "worker", 404 }, { "iframe", 404 },   { "serviceworker", 404 } };
    const struct upload u[] = { { "files[0]", "x.js", STR_INIT("alert(1)") }, { 0 } };
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    struct answer a = client_upload(ada, "POST", NULL, u, MESSAGES, v.channel);

    for (size_t i = 0; i < COUNT_OF(cases); i++)
        expect_status(fetch_attachment(
                          ada, answer_text(a, "attachments.0.url"),
                          str_printf(world_arena(w), "Sec-Fetch-Dest: %s\r\n", cases[i].wanted).p),
                      cases[i].status);
    expect_status(fetch_attachment(ada, answer_text(a, "attachments.0.url"), NULL), 200);
}

static void attachment_is_limited_to_10_mib(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    char *bytes = mem_new(MAX_PAYLOAD_FORM_BYTES + 1);
    struct upload u[] = { { "files[0]", "big", { bytes, MAX_PAYLOAD_FORM_BYTES } }, { 0 } };

    struct answer a = client_upload(ada, "POST", NULL, u, MESSAGES, v.channel);
    expect_json(a, "{'attachments': [{'size': %d}]}", MAX_PAYLOAD_FORM_BYTES);
    u[0].bytes.n++;
    expect_error(client_upload(ada, "POST", NULL, u, MESSAGES, v.channel), 400, 50045);
    const struct upload many[] = { { "files[0]", "a", { bytes, MAX_PAYLOAD_FORM_BYTES } },
                                   { "files[1]", "b", { bytes, MAX_PAYLOAD_FORM_BYTES } },
                                   { "files[2]", "c", { bytes, MAX_PAYLOAD_FORM_BYTES } },
                                   { "files[3]", "d", { bytes, MAX_PAYLOAD_FORM_BYTES } },
                                   { 0 } };
    struct client *bob = world_client_with(w, ada->authorization);
    expect_error(client_upload(bob, "POST", NULL, many, MESSAGES, v.channel), 413, 40005);
    expect_files(w, "attachments", 1);
    mem_free(bytes);
}

static void message_is_limited_to_ten_attachments(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    struct upload u[12] = { { 0 } };
    char names[11][12];

    for (int i = 0; i < 11; i++) {
        snprintf(names[i], sizeof names[i], "files[%d]", i);
        u[i] = (struct upload){ names[i], "x.txt", STR("x") };
    }
    expect_invalid(client_upload(ada, "POST", NULL, u, MESSAGES, v.channel), "files",
                   "BASE_TYPE_MAX_LENGTH");
    expect_files(w, "attachments", 0);
    u[10].name = NULL;
    struct answer a = client_upload(ada, "POST", NULL, u, MESSAGES, v.channel);
    expect_status(a, 200);
    expect(answer_text(a, "attachments.9.id") != NULL);
}

static void attachment_part_may_have_the_deprecated_name_file(struct world *w)
{
    const struct upload u[] = { { "file", "old.txt", STR_INIT("x") }, { 0 } };
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);

    expect_json(client_upload(ada, "POST", "{'content': 'x'}", u, MESSAGES, v.channel),
                "{'attachments': [{'filename': 'old.txt'}]}");
}

static void invalid_attachment_metadata_is_refused(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    char body[1200];

    expect_invalid(client_upload(ada, "POST", "{'attachments': [{'id': 0}, {'id': 1}]}", hello,
                                 MESSAGES, v.channel),
                   "attachments.1.id", "ATTACHMENT_NOT_FOUND");
    expect_invalid(
        client_post(ada, "{'content': 'x', 'attachments': [{'id': 0}]}", MESSAGES, v.channel),
        "attachments.0.id", "ATTACHMENT_NOT_FOUND");
    snprintf(body, sizeof body, "{'attachments': [{'id': 0, 'description': '%01025d'}]}", 1);
    expect_invalid(client_upload(ada, "POST", body, hello, MESSAGES, v.channel),
                   "attachments.0.description", "BASE_TYPE_MAX_LENGTH");
    snprintf(body, sizeof body,
             "{'attachments': [{'id': 0, 'filename': 'n.txt', 'description': '%01024d'}]}", 1);
    expect_json(client_upload(ada, "POST", body, hello, MESSAGES, v.channel),
                "{'attachments': [{'filename': 'n.txt'}]}");
    expect_files(w, "attachments", 1);
}

static void refused_uploads_store_no_files(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *eve = world_client(w, "eve");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);

    expect_error(client_upload(eve, "POST", NULL, hello, MESSAGES, v.channel), 403, 50001);
    expect_error(client_upload(ada, "POST", NULL, hello, MESSAGES, "77"), 404, 10003);
    world_sql(w, "update roles set permissions = %llu where id = %s",
              (unsigned long long)(PERMISSIONS_DEFAULT & ~PERMISSION(ATTACH_FILES)), v.id);
    expect_error(client_upload(bob, "POST", NULL, hello, MESSAGES, v.channel), 403, 50013);
    /* The handler refuses the request after the file was written: the file is deleted. */
    expect_invalid(client_upload(ada, "POST",
                                 "{'message_reference': {'message_id': '77'}, 'attachments': []}",
                                 hello, MESSAGES, v.channel),
                   "message_reference", "REPLIES_UNKNOWN_MESSAGE");
    expect_files(w, "attachments", 0);
}

static void editing_attachments_deletes_the_files_not_listed(struct world *w)
{
    const struct upload two[] = { { "files[0]", "a.txt", STR_INIT("a") },
                                  { "files[1]", "b.txt", STR_INIT("b") },
                                  { 0 } };
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    struct answer a = client_upload(ada, "POST", "{'content': 'x'}", two, MESSAGES, v.channel);
    const char *id = answer_text(a, "id"), *first = answer_text(a, "attachments.0.id"),
               *url = answer_text(a, "attachments.1.url");
    char body[200];

    expect_json(client_patch(ada, "{'content': 'y'}", MESSAGE, v.channel, id),
                "{'attachments': [{'filename': 'a.txt'}, {'filename': 'b.txt'}]}");
    snprintf(body, sizeof body, "{'attachments': [{'id': '%s', 'description': 'one'}, {'id': 0}]}",
             first);
    a = client_upload(ada, "PATCH", body, hello, MESSAGE, v.channel, id);
    expect_json(a,
                "{'content': 'y', 'attachments': [{'id': '%s', 'description': 'one'}, "
                "{'filename': 'hello.txt'}]}",
                first);
    expect_error(fetch_attachment(ada, url, NULL), 404, 0);
    expect_files(w, "attachments", 2);
    snprintf(body, sizeof body, "{'attachments': [{'id': '%s', 'description': null}]}", first);
    a = client_patch(ada, body, MESSAGE, v.channel, id);
    expect_json(a, "{'attachments': [{'id': '%s'}]}", first);
    expect_absent(a, "attachments.0.description");
    expect_invalid(client_patch(ada, "{'attachments': [{'id': '77'}]}", MESSAGE, v.channel, id),
                   "attachments.0.id", "ATTACHMENT_NOT_FOUND");
    a = client_patch(ada, "{'attachments': []}", MESSAGE, v.channel, id);
    expect_json(a, "{'attachments': []}");
    expect_files(w, "attachments", 0);
    expect_error(client_patch(ada, "{'content': ''}", MESSAGE, v.channel, id), 400, 50006);
}

static void deleting_a_message_deletes_its_attachments(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    struct answer a = client_upload(ada, "POST", NULL, hello, MESSAGES, v.channel);

    expect_files(w, "attachments", 1);
    expect_status(client_delete(ada, MESSAGE, v.channel, answer_text(a, "id")), 204);
    expect_error(fetch_attachment(ada, answer_text(a, "attachments.0.url"), NULL), 404, 0);
    expect_files(w, "attachments", 0);
}

static void deleting_a_guild_deletes_its_attachments(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada), other = world_test_guild(w, ada);
    struct answer a = client_post(ada, "{'name': 'aside'}", "/channels/%s/threads", v.channel);

    client_upload(ada, "POST", NULL, hello, MESSAGES, v.channel);
    client_upload(ada, "POST", NULL, hello, MESSAGES, answer_text(a, "id"));
    client_upload(ada, "POST", NULL, hello, MESSAGES, other.channel);
    expect_files(w, "attachments", 3);
    expect_status(client_delete(ada, "/guilds/%s", v.id), 204);
    expect_files(w, "attachments", 1);
}

static void deleting_an_empty_group_deletes_its_attachments(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct answer a = client_post(ada, "{'recipients': []}", "/users/@me/channels");

    client_upload(ada, "POST", NULL, hello, MESSAGES, answer_text(a, "id"));
    expect_files(w, "attachments", 1);
    expect_status(client_delete(ada, "/channels/%s", answer_text(a, "id")), 200);
    expect_files(w, "attachments", 0);
}

/* --- voice messages ------------------------------------------------------------------- */

#define DETAILS "'attachments': [{'id': '0', 'duration_secs': 1.5, 'waveform': 'AAA='}]"

static void voice_message_requires_exactly_one_audio_attachment(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    const struct upload said[] = { { "files[0]", "voice-message.ogg", STR("OggS0000") }, { 0 } };
    const struct upload read[] = { { "files[0]", "words.txt", STR("hello") }, { 0 } };

    test_guild_add(&v, bob);
    struct answer a =
        client_upload(bob, "POST", "{'flags': 8192, " DETAILS "}", said, MESSAGES, v.channel);
    expect_status(a, 200);
    expect_json(a, "{'flags': 8192, 'content': '', 'attachments': [{'content_type': 'audio/ogg', "
                   "'duration_secs': 1.5, 'waveform': 'AAA='}]}");
    const char *id = answer_text(a, "id");
    expect_json(client_get(ada, MESSAGE, v.channel, id),
                "{'attachments': [{'duration_secs': 1.5, 'waveform': 'AAA='}]}");
    static const char *const recordings[][2] = { { "a.opus", "audio/ogg" },
                                                 { "a.m4a", "audio/mp4" },
                                                 { "a.weba", "audio/webm" } };

    for (size_t i = 0; i < COUNT_OF(recordings); i++) {
        const struct upload file[] = { { "files[0]", recordings[i][0], STR("0000") }, { 0 } };

        a = client_upload(bob, "POST", "{'flags': 8192, " DETAILS "}", file, MESSAGES, v.channel);
        expect_json(a, "{'attachments': [{'content_type': '%s'}]}", recordings[i][1]);
    }
    expect_error(client_patch(bob, "{'content': 'x'}", MESSAGE, v.channel, id), 400, 50162);

    expect_error(client_upload(bob, "POST", "{'flags': 8192, 'content': 'x', " DETAILS "}", said,
                               MESSAGES, v.channel),
                 400, 50159);
    expect_error(
        client_upload(bob, "POST", "{'flags': 8192, " DETAILS "}", read, MESSAGES, v.channel), 400,
        50160);
    expect_error(client_post(bob, "{'flags': 8192}", MESSAGES, v.channel), 400, 50160);
    expect_error(client_upload(bob, "POST", "{'flags': 8192}", said, MESSAGES, v.channel), 400,
                 50161);
    expect_invalid(client_upload(bob, "POST",
                                 "{'flags': 8192, 'attachments': [{'id': '0', 'duration_secs': 1, "
                                 "'waveform': '!'}]}",
                                 said, MESSAGES, v.channel),
                   "attachments.0.waveform", "BASE_TYPE_CHOICES");
    test_guild_take_right(&v, PERMISSION(SEND_VOICE_MESSAGES));
    expect_error(
        client_upload(bob, "POST", "{'flags': 8192, " DETAILS "}", said, MESSAGES, v.channel), 403,
        50173);
    expect_files(w, "attachments", 4);
}

static void attachments_can_have_title_and_spoiler_flag(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    const struct upload two[] = { { "files[0]", "SPOILER_a.txt", STR("a") },
                                  { "files[1]", "b.txt", STR("b") },
                                  { "files[2]", "c.txt", STR("c") },
                                  { 0 } };

    struct answer a = client_upload(ada, "POST",
                                    "{'attachments': [{'id': '0', 'is_remix': true}, {'id': '1', "
                                    "'title': 'Bee', 'is_spoiler': true}]}",
                                    two, MESSAGES, v.channel);
    expect_json(a, "{'attachments': [{'flags': 12}, {'flags': 8, 'title': 'Bee'}, "
                   "{'filename': 'c.txt'}]}");
    expect_absent(a, "attachments.2.flags");
    expect_json(client_get(ada, MESSAGE, v.channel, answer_text(a, "id")),
                "{'attachments': [{'flags': 12}, {'title': 'Bee'}, {'size': 1}]}");
}

const struct test attachments_tests[] = {
    TEST(voice_message_requires_exactly_one_audio_attachment),
    TEST(attachments_can_have_title_and_spoiler_flag),
    TEST(uploaded_attachment_is_served_unchanged),
    TEST(attachment_url_expires_after_a_day),
    TEST(attachment_url_requires_a_valid_signature),
    TEST(attachments_support_range_requests),
    TEST(attachment_filenames_are_sanitized),
    TEST(image_attachments_contain_width_and_height),
    TEST(html_and_svg_attachments_are_served_for_download_only),
    TEST(attachments_are_not_served_as_scripts_or_styles),
    TEST(attachment_is_limited_to_10_mib),
    TEST(message_is_limited_to_ten_attachments),
    TEST(attachment_part_may_have_the_deprecated_name_file),
    TEST(invalid_attachment_metadata_is_refused),
    TEST(refused_uploads_store_no_files),
    TEST(editing_attachments_deletes_the_files_not_listed),
    TEST(deleting_a_message_deletes_its_attachments),
    TEST(deleting_a_guild_deletes_its_attachments),
    TEST(deleting_an_empty_group_deletes_its_attachments),
    { 0 },
};
