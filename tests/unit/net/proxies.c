/* proxies.c - tests how the client's address is found in the headers of trusted proxies. */
#include "unit/unit.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "net/proxies.h"

static struct trusted_proxy_networks trusted(const char *list)
{
    struct trusted_proxy_networks p;
    const char *problem = NULL;

    assert_true(parse_trusted_proxies(str_of(list), &p, &problem));
    return p;
}

static struct ip_address address(const char *text)
{
    struct ip_address a;

    assert_true(ip_address_parse(str_of(text), &a));
    return a;
}

static void trusted_proxy_lists_are_parsed(void **state)
{
    static const char *const bad[] = { "x",         "10.0.0.0/33", "::/129",     "1.2.3",
                                       "10.0.0.0/", "a,",          "1.1.1.1/8/8" };
    struct trusted_proxy_networks p = trusted("loopback, 10.0.0.0/8,2001:db8::/32, 192.0.2.1");
    struct ip_address yes[] = { address("127.9.9.9"),  address("::1"),
                                address("10.255.0.1"), address("2001:db8:ffff::1"),
                                address("192.0.2.1"),  address("::ffff:10.1.1.1") };
    struct ip_address no[] = { address("128.0.0.1"), address("::2"), address("11.0.0.1"),
                               address("2001:db9::1"), address("192.0.2.2") };
    const char *problem = NULL;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(yes); i++)
        assert_true(is_trusted_proxy(&p, &yes[i]));
    for (size_t i = 0; i < COUNT_OF(no); i++)
        assert_false(is_trusted_proxy(&p, &no[i]));
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_false(parse_trusted_proxies(str_of(bad[i]), &p, &problem));
    assert_int_equal(trusted("").count, 0);
}

static void ipv6_addresses_are_counted_by_their_64_bit_prefix(void **state)
{
    struct ip_address a = address("2001:db8:1:2::1"), b = address("2001:db8:1:2:ffff::9"),
                      c = address("2001:db8:1:3::1"), four = address("192.0.2.1"),
                      mapped = address("::ffff:192.0.2.1"), other = address("192.0.2.2");
    char text[ADDRESS_TEXT_SIZE];

    (void)state;
    assert_true(address_rate_limit_key(&a) == address_rate_limit_key(&b));
    assert_true(address_rate_limit_key(&a) != address_rate_limit_key(&c));
    assert_true(address_rate_limit_key(&four) == address_rate_limit_key(&mapped));
    assert_true(address_rate_limit_key(&four) != address_rate_limit_key(&other));
    ip_address_format(&mapped, text);
    assert_string_equal(text, "192.0.2.1");
}

static void ipv4_addresses_are_formatted_like_inet_ntop(void **state)
{
    char text[ADDRESS_TEXT_SIZE], usual[ADDRESS_TEXT_SIZE];

    (void)state;
    for (unsigned location = 0; location < 4; location++)
        for (unsigned n = 0; n < 256; n++) {
            struct ip_address a = address("10.200.3.45");

            a.bytes[12 + location] = (unsigned char)n;
            inet_ntop(AF_INET, a.bytes + 12, usual, sizeof usual);
            assert_int_equal(ip_address_format(&a, text), strlen(usual));
            assert_string_equal(text, usual);
        }
}

static const struct {
    const char *headers, *client;
    bool secure;
} cases[] = {
    { "", "10.0.0.1", false },
    { "X-Forwarded-For: 192.0.2.7\r\n", "192.0.2.7", false },
    { "x-forwarded-for: 6.6.6.6, 192.0.2.7\r\n", "192.0.2.7", false },
    { "X-Forwarded-For: 6.6.6.6, 192.0.2.7, 10.2.2.2\r\n", "192.0.2.7", false },
    { "X-Forwarded-For: 6.6.6.6\r\nX-Forwarded-For: 192.0.2.7\r\nX-Forwarded-For: 10.9.9.9\r\n",
      "192.0.2.7", false },
    { "X-Forwarded-For: 10.2.2.2\r\n", "10.2.2.2", false },
    { "X-Forwarded-For: 192.0.2.7:4711\r\n", "192.0.2.7", false },
    { "X-Forwarded-For: [2001:db8::7]:4711\r\n", "2001:db8::7", false },
    { "X-Forwarded-For: 2001:db8::7\r\n", "2001:db8::7", false },
    /* An unreadable entry ends the evaluation. */
    { "X-Forwarded-For: unknown\r\n", "10.0.0.1", false },
    { "X-Forwarded-For: \r\n", "10.0.0.1", false },
    { "X-Forwarded-For: ,,,\r\n", "10.0.0.1", false },
    { "X-Forwarded-For: 1.2.3.4.5, 10.2.2.2\r\n", "10.2.2.2", false },
    { "X-Forwarded-For: [2001:db8::7\r\n", "10.0.0.1", false },
    { "X-Forwarded-For: 192.0.2.7, \"\r\n", "10.0.0.1", false },
    { "Forwarded: for=192.0.2.7;proto=https\r\n", "192.0.2.7", true },
    { "Forwarded: for=6.6.6.6, For=\"[2001:db8::7]:80\" ; proto=http\r\n", "2001:db8::7", false },
    { "Forwarded: proto=https;by=_x\r\n", "10.0.0.1", true },
    { "Forwarded: for=_hidden\r\n", "10.0.0.1", false },
    { "Forwarded: for=\"a,b\", for=192.0.2.7\r\n", "192.0.2.7", false },
    /* An unclosed quote of the client does not hide the entries that the proxy added. */
    { "X-Forwarded-For: \"6.6.6.6, 192.0.2.7\r\n", "192.0.2.7", false },
    { "Forwarded: for=\"6.6.6.6, for=192.0.2.7;proto=https\r\n", "192.0.2.7", true },
    { "Forwarded: for=\"a\\, for=\"192.0.2.7:80\"\r\n", "192.0.2.7", false },
    /* Two headers that agree, and two of which one was sent by the client. */
    { "X-Forwarded-For: 192.0.2.7\r\nForwarded: for=192.0.2.7\r\n", "192.0.2.7", false },
    { "X-Forwarded-For: 192.0.2.7\r\nForwarded: for=6.6.6.6\r\n", "10.0.0.1", false },
    { "X-Forwarded-Proto: https\r\n", "10.0.0.1", true },
    { "X-Forwarded-Proto: http, https\r\n", "10.0.0.1", true },
    { "X-Forwarded-Proto: https, http\r\n", "10.0.0.1", false },
    { "X-Forwarded-Proto: gopher\r\n", "10.0.0.1", false },
};

static void forwarded_addresses_are_evaluated_from_right_to_left(void **state)
{
    struct trusted_proxy_networks p = trusted("10.0.0.0/8");

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct ip_address a = address("10.0.0.1");
        struct http_request r;
        char head[1024], text[ADDRESS_TEXT_SIZE];
        int n =
            snprintf(head, sizeof head, "GET / HTTP/1.1\r\nHost: x\r\n%s\r\n", cases[i].headers);

        assert_true(http_parse_head(str_slice(head, (size_t)n), &r) == n);
        find_forwarded_client_address(&p, &r, &a);
        ip_address_format(&a, text);
        assert_string_equal(text, cases[i].client);
        assert_int_equal(forwarded_headers_say_client_used_tls(&r, false), cases[i].secure);
    }
}

#define SIGNATURE "\r\n\r\n\0\r\nQUIT\n"

static void proxy_protocol_headers_are_parsed(void **state)
{
    static const char four[] = SIGNATURE "\x21\x11\0\x0c"
                                         "\xc0\0\2\7\x0a\0\0\1\x12\x34\0\x50GET";
    static const char local[] = SIGNATURE "\x20\0\0\0";
    static const char unix_socket[] = SIGNATURE "\x21\x31\0\0";
    static const char *const bad[] = { SIGNATURE "\x11\x11\0\x0c", SIGNATURE "\x22\x11\0\x0c",
                                       SIGNATURE "\x21\x11\xff\xff" };
    struct ip_address a, client = address("192.0.2.7");
    bool found;

    (void)state;
    for (size_t n = 0; n < 28; n++)
        assert_int_equal(parse_proxy_protocol_header(str_slice(four, n), &a, &found), 0);
    assert_int_equal(parse_proxy_protocol_header(str_slice(four, sizeof four - 1), &a, &found), 28);
    assert_true(found && memcmp(&a, &client, sizeof a) == 0);
    assert_int_equal(parse_proxy_protocol_header(str_slice(local, 16), &a, &found), 16);
    assert_false(found);
    assert_int_equal(parse_proxy_protocol_header(str_slice(unix_socket, 16), &a, &found), 16);
    assert_false(found);
    assert_int_equal(parse_proxy_protocol_header(STR("GET / HTTP/1.1"), &a, &found), PROXY_NONE);
    assert_int_equal(parse_proxy_protocol_header(STR("\r\nGET /"), &a, &found), PROXY_NONE);
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_int_equal(parse_proxy_protocol_header(str_slice(bad[i], 16), &a, &found), PROXY_BAD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trusted_proxy_lists_are_parsed),
        cmocka_unit_test(ipv6_addresses_are_counted_by_their_64_bit_prefix),
        cmocka_unit_test(ipv4_addresses_are_formatted_like_inet_ntop),
        cmocka_unit_test(forwarded_addresses_are_evaluated_from_right_to_left),
        cmocka_unit_test(proxy_protocol_headers_are_parsed),
    };
    hash_init_random_key();
    return cmocka_run_group_tests_name("net/proxies", tests, NULL, NULL);
}
