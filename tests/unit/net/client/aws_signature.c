/* aws_signature.c - tests signatures with the examples of the S3 documentation ("Signature
 * Calculations for the Authorization Header", "Using Query Parameters") and with cases of the
 * published test suite of signature version 4. */
#include "unit/unit.h"

#include <string.h>

#include "net/client/aws_signature.h"

static const struct aws_credentials example = {
    "AKIAIOSFODNN7EXAMPLE",
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "us-east-1",
    "s3",
};
static const char example_time[] = "20130524T000000Z";

#define EMPTY_DIGEST "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define EXAMPLE_HEADERS                                     \
    { STR("host"), STR("examplebucket.s3.amazonaws.com") }, \
        { STR("x-amz-date"), STR("20130524T000000Z") },     \
    {                                                       \
        STR("x-amz-content-sha256"), STR(EMPTY_DIGEST)      \
    }

static void assert_aws_authorization_header(const struct aws_credentials *c,
                                            const struct aws_request *r, const char *timestamp,
                                            const char *expected)
{
    struct buf out;

    buf_init(&out, 4096);
    aws_append_authorization(&out, c, r, timestamp);
    buf_add_char(&out, '\0');
    assert_string_equal(out.p, expected);
    buf_clear(&out);
}

static void aws_get_request_of_a_range_is_signed(void **state)
{
    const struct aws_parameter headers[] = { EXAMPLE_HEADERS, { STR("range"), STR("bytes=0-9") } };

    (void)state;
    assert_aws_authorization_header(
        &example,
        &(struct aws_request){ .method = "GET",
                               .path = STR("/test.txt"),
                               .headers = headers,
                               .header_count = 4,
                               .payload_digest = STR(EMPTY_DIGEST) },
        example_time,
        "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
        "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
        "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

static void aws_put_request_with_an_encoded_name_is_signed(void **state)
{
    char digest[AWS_DIGEST_SIZE];
    struct buf path;

    (void)state;
    aws_compute_sha256(STR("Welcome to Amazon S3."), digest);
    const struct aws_parameter headers[] = {
        { STR("date"), STR("Fri, 24 May 2013 00:00:00 GMT") },
        { STR("host"), STR("examplebucket.s3.amazonaws.com") },
        { STR("x-amz-date"), STR("20130524T000000Z") },
        { STR("x-amz-storage-class"), STR("REDUCED_REDUNDANCY") },
        { STR("x-amz-content-sha256"), str_of(digest) },
    };
    buf_init(&path, 100);
    aws_append_percent_encoded(&path, STR("/test$file.text"), true);
    assert_aws_authorization_header(
        &example,
        &(struct aws_request){ .method = "PUT",
                               .path = buf_as_str(&path),
                               .headers = headers,
                               .header_count = 5,
                               .payload_digest = str_of(digest) },
        example_time,
        "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
        "SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class,"
        "Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
    buf_clear(&path);
}

static void aws_query_parameters_are_sorted_before_signing(void **state)
{
    const struct aws_parameter headers[] = { EXAMPLE_HEADERS };
    const struct aws_parameter lifecycle[] = { { STR("lifecycle"), STR("") } };
    const struct aws_parameter list[] = { { STR("prefix"), STR("J") },
                                          { STR("max-keys"), STR("2") } };
    struct aws_request r = { .method = "GET",
                             .path = STR("/"),
                             .query = lifecycle,
                             .query_count = 1,
                             .headers = headers,
                             .header_count = 3,
                             .payload_digest = STR(EMPTY_DIGEST) };

    (void)state;
    assert_aws_authorization_header(
        &example, &r, example_time,
        "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
        "SignedHeaders=host;x-amz-content-sha256;x-amz-date,"
        "Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
    r.query = list;
    r.query_count = 2;
    assert_aws_authorization_header(
        &example, &r, example_time,
        "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
        "SignedHeaders=host;x-amz-content-sha256;x-amz-date,"
        "Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

static void aws_url_is_presigned(void **state)
{
    const struct aws_parameter headers[] = { { STR("host"),
                                               STR("examplebucket.s3.amazonaws.com") } };
    struct buf out;

    (void)state;
    buf_init(&out, 4096);
    aws_append_presigned_query(
        &out, &example,
        &(struct aws_request){
            .method = "GET", .path = STR("/test.txt"), .headers = headers, .header_count = 1 },
        example_time, 86400);
    buf_add_char(&out, '\0');
    assert_string_equal(
        out.p, "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%"
               "2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&"
               "X-Amz-SignedHeaders=host&X-Amz-Signature="
               "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404");
    buf_clear(&out);
}

/* The cases get-vanilla, post-vanilla and get-vanilla-query-order-key-case of the test suite. */
static void aws_test_suite_requests_are_signed(void **state)
{
    static const struct aws_credentials suite = {
        "AKIDEXAMPLE",
        "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
        "us-east-1",
        "service",
    };
    const struct aws_parameter headers[] = { { STR("host"), STR("example.amazonaws.com") },
                                             { STR("x-amz-date"), STR("20150830T123600Z") } };
    const struct aws_parameter order[] = { { STR("Param2"), STR("value2") },
                                           { STR("Param1"), STR("value1") } };
    struct aws_request r = { .method = "GET",
                             .path = STR("/"),
                             .headers = headers,
                             .header_count = 2,
                             .payload_digest = STR(EMPTY_DIGEST) };

    (void)state;
#define SUITE_PREFIX                                                                   \
    "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request," \
    "SignedHeaders=host;x-amz-date,Signature="
    assert_aws_authorization_header(
        &suite, &r, "20150830T123600Z",
        SUITE_PREFIX "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
    r.method = "POST";
    assert_aws_authorization_header(
        &suite, &r, "20150830T123600Z",
        SUITE_PREFIX "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b");
    r.method = "GET";
    r.query = order;
    r.query_count = 2;
    assert_aws_authorization_header(
        &suite, &r, "20150830T123600Z",
        SUITE_PREFIX "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500");
}

static void aws_timestamp_is_formatted_in_utc(void **state)
{
    char text[AWS_TIMESTAMP_SIZE];

    (void)state;
    aws_format_timestamp(1369353600, text);
    assert_string_equal(text, example_time);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aws_get_request_of_a_range_is_signed),
        cmocka_unit_test(aws_put_request_with_an_encoded_name_is_signed),
        cmocka_unit_test(aws_query_parameters_are_sorted_before_signing),
        cmocka_unit_test(aws_url_is_presigned),
        cmocka_unit_test(aws_test_suite_requests_are_signed),
        cmocka_unit_test(aws_timestamp_is_formatted_in_utc),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
