/* redact.c - tests that the console replaces secrets in recorded traffic by asterisks. */
#include "unit/unit.h"

#include "admin/console/redact.h"

static struct buf out;

static void assert_secret_hidden_in_body(const char *text, const char *location, const char *shown)
{
    buf_reset(&out);
    redact_secrets_in_body(str_of(text), location, &out);
    if (!str_is(buf_as_str(&out), shown))
        fail_msg("%s became %.*s", text, STR_ARGS(buf_as_str(&out)));
}

static void assert_secret_hidden_in_path(const char *target, const char *location,
                                         const char *shown)
{
    buf_reset(&out);
    redact_secrets_in_request_target(str_of(target), location, &out);
    if (!str_is(buf_as_str(&out), shown))
        fail_msg("%s became %.*s", target, STR_ARGS(buf_as_str(&out)));
}

static void secrets_in_json_are_replaced_by_asterisks(void **state)
{
    (void)state;
    assert_secret_hidden_in_body("{\"a\":1,\"token\":\"abc\",\"b\":\"c\"}", NULL,
                                 "{\"a\":1,\"token\":\"***\",\"b\":\"c\"}");
    assert_secret_hidden_in_body("{\"new_password\" : \"a\\\"b\"}", NULL,
                                 "{\"new_password\" : \"***\"}");
    assert_secret_hidden_in_body(
        "{\"op\":{\"client_secret\":\"x\"},\"access_token\":null,\"x\":\"y\"}", NULL,
        "{\"op\":{\"client_secret\":\"***\"},\"access_token\":null,\"x\":\"y\"}");
    assert_secret_hidden_in_body("{\"to\\u006ben\":\"abc\"}", NULL, "{\"to\\u006ben\":\"***\"}");
    assert_secret_hidden_in_body("{\"url\":\"http://h/api/webhooks/1/abc\"}", NULL,
                                 "{\"url\":\"***\"}");
    assert_secret_hidden_in_body("[\"token\",\"abc\"]", NULL, "[\"token\",\"abc\"]");
    assert_secret_hidden_in_body("{\"content\":\"the token: is\"}", NULL,
                                 "{\"content\":\"the token: is\"}");
}

static void truncated_secrets_in_json_are_hidden(void **state)
{
    (void)state;
    assert_secret_hidden_in_body("{\"token\":\"ab", NULL, "{\"token\":\"***\"");
    assert_secret_hidden_in_body("{\"token\":\"ab\\", NULL, "{\"token\":\"***\"");
    assert_secret_hidden_in_body("{\"token\"", NULL, "{\"token\"");
    assert_secret_hidden_in_body("{\"a\":\"\xff\xc3", NULL, "{\"a\":\"\xef\xbf\xbd\xef\xbf\xbd");
    assert_secret_hidden_in_body("", NULL, "");
}

static void authorization_codes_are_hidden_on_token_routes(void **state)
{
    (void)state;
    assert_secret_hidden_in_body("{\"code\":\"abc\"}", "/invites/{invite.code}",
                                 "{\"code\":\"abc\"}");
    assert_secret_hidden_in_body("{\"url\":\"https://a/b?code=c\"}", "/oauth2/authorize",
                                 "{\"url\":\"***\"}");
    assert_secret_hidden_in_body("{\"url\":\"https://a/b\"}", "/channels/{channel.id}",
                                 "{\"url\":\"https://a/b\"}");
    assert_secret_hidden_in_body("{\"backup_codes\":[{\"code\":\"abcdefgh\"}]}",
                                 "/users/@me/mfa/totp/enable",
                                 "{\"backup_codes\":[{\"code\":\"***\"}]}");
    assert_secret_hidden_in_body("{\"code\":\"123456\"}", "/users/@me/disable",
                                 "{\"code\":\"***\"}");
    assert_secret_hidden_in_body("{\"code\":\"123456\"}", "/auth/sessions/logout",
                                 "{\"code\":\"***\"}");
    assert_secret_hidden_in_body("{\"fingerprint\":\"abc\"}", "/users/@me/remote-auth",
                                 "{\"fingerprint\":\"***\"}");
    assert_secret_hidden_in_body("{\"handshake_token\":\"abc\",\"code\":\"123456\"}",
                                 "/users/@me/remote-auth/finish",
                                 "{\"handshake_token\":\"***\",\"code\":\"***\"}");
    assert_secret_hidden_in_body("{\"mfa_type\":\"totp\",\"data\":\"123456\"}", "/mfa/finish",
                                 "{\"mfa_type\":\"totp\",\"data\":\"***\"}");
    assert_secret_hidden_in_body("{\"code\":\"claim-x\"}", "/auth/claim", "{\"code\":\"***\"}");
    assert_secret_hidden_in_body("{\"code\":\"a\",\"proof\":\"b\",\"state\":\"c\"}",
                                 "/auth/claim/identity/callback",
                                 "{\"code\":\"***\",\"proof\":\"***\",\"state\":\"***\"}");
    assert_secret_hidden_in_body("{\"proof\":\"b\",\"url\":\"http://x?state=c\"}",
                                 "/auth/claim/identity", "{\"proof\":\"***\",\"url\":\"***\"}");
    assert_secret_hidden_in_body("{\"code\":654321,\"ticket\":\"x\"}", "/auth/mfa/totp",
                                 "{\"code\":\"***\",\"ticket\":\"***\"}");
    assert_secret_hidden_in_body("{\"message\":\"Invalid two-factor code\",\"code\":60008}",
                                 "/auth/mfa/totp",
                                 "{\"message\":\"Invalid two-factor code\",\"code\":60008}");
    assert_secret_hidden_in_body("{\"upload_url\":\"http://h/uploads/k/f?token=x\"}", NULL,
                                 "{\"upload_url\":\"***\"}");
    assert_secret_hidden_in_body("{\"code\":\"abc\",\"location\":\"http://x?code=abc\"}",
                                 "/oauth2/authorize", "{\"code\":\"***\",\"location\":\"***\"}");
    assert_secret_hidden_in_body("grant_type=x&code=abc&client%5Fsecret=y&a", "/oauth2/token",
                                 "grant_type=x&code=***&client%5Fsecret=***&a");
}

#define TOKEN_LIKE "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static void assert_secret_hidden_in_error_message(const char *problem, const char *shown)
{
    buf_reset(&out);
    redact_secrets_in_error_text(str_of(problem), NULL, &out);
    if (!str_is(buf_as_str(&out), shown))
        fail_msg("%s became %.*s", problem, STR_ARGS(buf_as_str(&out)));
}

static void secrets_that_are_not_json_strings_are_hidden(void **state)
{
    (void)state;
    assert_secret_hidden_in_body("{\"password\": 1234, \"a\": 5}", NULL,
                                 "{\"password\": \"***\", \"a\": 5}");
    assert_secret_hidden_in_body("{\"password\":[\"a]\",{\"b\":1}],\"a\":5}", NULL,
                                 "{\"password\":\"***\",\"a\":5}");
    assert_secret_hidden_in_body("{\"password\": {\"a\": \"s}\", \"b\": [{}]}, \"a\": 5}", NULL,
                                 "{\"password\": \"***\", \"a\": 5}");
    assert_secret_hidden_in_body("{\"token\":{},\"a\":5}", NULL, "{\"token\":\"***\",\"a\":5}");
    assert_secret_hidden_in_body("{\"new_password\":{\"a\":{\"b\":\"secret", NULL,
                                 "{\"new_password\":\"***\"");
    assert_secret_hidden_in_body("{\"code\":\"123456\"}", "/api/v10/users/@me",
                                 "{\"code\":\"***\"}");
    assert_secret_hidden_in_body("{\"code\":\"123456\"}",
                                 "/api/v10/auth/verify/view-backup-codes-challenge",
                                 "{\"code\":\"***\"}");
    assert_secret_hidden_in_body("{\"token\":[\"ab", NULL, "{\"token\":\"***\"");
    assert_secret_hidden_in_body("{\"token\":-1}", NULL, "{\"token\":\"***\"}");
    assert_secret_hidden_in_body("{\"message\":\"no\",\"code\":50035}", "/oauth2/token",
                                 "{\"message\":\"no\",\"code\":50035}");
}

static void error_messages_do_not_quote_secrets(void **state)
{
    (void)state;
    assert_secret_hidden_in_error_message("password: Could not interpret \"[\"a\"]\" as string.",
                                          "password: Could not interpret \"***\" as string.");
    assert_secret_hidden_in_error_message("user_id: Value \"x\" is not snowflake.",
                                          "user_id: Value \"x\" is not snowflake.");
    assert_secret_hidden_in_error_message("user_id: Value \"" TOKEN_LIKE "\" is not snowflake.",
                                          "user_id: Value \"***\" is not snowflake.");
    assert_secret_hidden_in_error_message("a.token: Value \"cut", "a.token: Value \"***");
    assert_secret_hidden_in_error_message("password: Too short.", "password: Too short.");
    assert_secret_hidden_in_error_message("", "");
    assert_secret_hidden_in_body(
        "{\"password\":{\"_errors\":[{\"code\":\"X\",\"message\":\"Not \\\"1\\\".\"}]}}", NULL,
        "{\"password\":{\"_errors\":[{\"code\":\"X\",\"message\":\"Not \\\"***\\\".\"}]}}");
    assert_secret_hidden_in_body("{\"a\":{\"_errors\":[{\"message\":\"Not \\\"1\\\".\"}]}}", NULL,
                                 "{\"a\":{\"_errors\":[{\"message\":\"Not \\\"1\\\".\"}]}}");
    assert_secret_hidden_in_body(
        "{\"a\":{\"_errors\":[{\"message\":\"Not \\\"" TOKEN_LIKE "\\\".\"}]}}", NULL,
        "{\"a\":{\"_errors\":[{\"message\":\"Not \\\"***\\\".\"}]}}");
}

static void tokens_in_request_paths_are_hidden(void **state)
{
    (void)state;
    assert_secret_hidden_in_path("/api/v10/webhooks/1/abc?wait=true",
                                 "/webhooks/{webhook.id}/{webhook.token}",
                                 "/api/v10/webhooks/1/***?wait=true");
    assert_secret_hidden_in_path(
        "/api/webhooks/1/abc/messages/2",
        "/webhooks/{webhook.id}/{webhook.token}/messages/{webhook.message.id}",
        "/api/webhooks/1/***/messages/2");
    assert_secret_hidden_in_path("/api/v10/channels/1/messages", "/channels/{channel.id}/messages",
                                 "/api/v10/channels/1/messages");
    assert_secret_hidden_in_path("/x?token=abc&limit=1", NULL, "/x?token=***&limit=1");
    assert_secret_hidden_in_path(
        "/webhooks/1/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", NULL,
        "/webhooks/1/***");
    assert_secret_hidden_in_path("/", NULL, "/");
}

static void assert_secret_hidden_in_headers(const char *lines, const char *location,
                                            const char *shown)
{
    buf_reset(&out);
    redact_secrets_in_headers(str_of(lines), location, &out);
    if (!str_is(buf_as_str(&out), shown))
        fail_msg("%s became %.*s", lines, STR_ARGS(buf_as_str(&out)));
}

static void secrets_in_http_headers_are_hidden(void **state)
{
    (void)state;
    assert_secret_hidden_in_headers("Host: a\r\nAuthorization: Bot abc\r\nAccept:*/*", NULL,
                                    "Host: a\nAuthorization: Bot ***\nAccept: */*\n");
    assert_secret_hidden_in_headers("authorization:bearer abc", NULL,
                                    "authorization: Bearer ***\n");
    assert_secret_hidden_in_headers("AUTHORIZATION: abc", NULL, "AUTHORIZATION: ***\n");
    assert_secret_hidden_in_headers("Authorization: Bot", NULL, "Authorization: ***\n");
    assert_secret_hidden_in_headers("Authorization: abc def", NULL, "Authorization: ***\n");
    assert_secret_hidden_in_headers("Proxy-Authorization: Basic abc", NULL,
                                    "Proxy-Authorization: Basic ***\n");
    assert_secret_hidden_in_headers("Cookie: a=b; c=d\r\nX-Api-Key: abc\r\nX-Auth-Token: abc\r\n",
                                    NULL, "Cookie: ***\nX-Api-Key: ***\nX-Auth-Token: ***\n");
    assert_secret_hidden_in_headers("Location: https://a/b?code=c&x=y", "/oauth2/authorize",
                                    "Location: https://a/b?code=***&x=y\n");
    assert_secret_hidden_in_headers("Referer: https://a/b?token=c", NULL,
                                    "Referer: https://a/b?token=***\n");
    assert_secret_hidden_in_headers("Location: https://a/b#access_token=c", NULL,
                                    "Location: https://a/b#***\n");
    assert_secret_hidden_in_headers("X-Original-Uri: /a?token=c\r\nX-Iap-Jwt-Assertion: abc", NULL,
                                    "X-Original-Uri: /a?token=***\nX-Iap-Jwt-Assertion: ***\n");
    assert_secret_hidden_in_headers("X: \xff\r\nAuthorizat", NULL, "X: \xef\xbf\xbd\n");
    assert_secret_hidden_in_headers("", NULL, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(secrets_in_json_are_replaced_by_asterisks),
        cmocka_unit_test(truncated_secrets_in_json_are_hidden),
        cmocka_unit_test(authorization_codes_are_hidden_on_token_routes),
        cmocka_unit_test(tokens_in_request_paths_are_hidden),
        cmocka_unit_test(secrets_that_are_not_json_strings_are_hidden),
        cmocka_unit_test(error_messages_do_not_quote_secrets),
        cmocka_unit_test(secrets_in_http_headers_are_hidden),
    };

    buf_init(&out, 1 << 20);
    int failed = cmocka_run_group_tests_name("workbench/hide", tests, NULL, NULL);
    buf_clear(&out);
    return failed;
}
