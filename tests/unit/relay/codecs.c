/* codecs.c - tests the choice of the video codec of a room. */
#include "unit/unit.h"

#include "relay/codecs.h"

static struct video_codecs offer(const char *first, const char *second)
{
    struct video_codecs c = { 0 };

    if (first)
        video_codecs_add(&c, str_of(first), 1000);
    if (second)
        video_codecs_add(&c, str_of(second), 2000);
    return c;
}

static const char *best_of(const struct video_codecs *offers, size_t count)
{
    struct codec_votes c = { 0 };

    for (size_t i = 0; i < count; i++)
        codec_votes_add(&c, &offers[i]);
    return video_codec_name(codec_votes_choose(&c));
}

static void chosen_video_codec_is_supported_by_all_participants(void **state)
{
    struct video_codecs offers[] = { offer("VP8", "H264"), offer("VP9", "H264"),
                                     offer(NULL, NULL) };

    (void)state;
    assert_string_equal(best_of(offers, 0), "H264");
    assert_string_equal(best_of(offers, 1), "VP8");
    assert_string_equal(best_of(offers, 2), "H264");
    /* A participant without a video offer accepts every codec. */
    assert_string_equal(best_of(offers, 3), "H264");
    assert_string_equal(best_of(offers + 1, 2), "VP9");
    assert_string_equal(best_of(offers + 2, 1), "H264");
}

static void invalid_codec_priorities_are_ignored(void **state)
{
    struct video_codecs wild[] = { offer("nonsense", NULL), { 0 }, { 0 } };

    (void)state;
    /* An offer with only an unknown codec excludes all known ones. */
    assert_true(wild[0].given);
    assert_string_equal(best_of(wild, 1), "H264");
    video_codecs_add(&wild[1], STR("AV1"), -5);
    video_codecs_add(&wild[1], STR("VP8"), INT64_MAX);
    video_codecs_add(&wild[2], STR("AV1"), 2);
    video_codecs_add(&wild[2], STR("VP8"), 1);
    assert_string_equal(best_of(wild + 1, 2), "VP8");
    assert_true(wild[1].rank[CODEC_AV1] && wild[1].rank[CODEC_VP8]);
}

static void payload_types_are_translated_by_codec(void **state)
{
    struct codec_payload_types from = { 0 }, to = { 0 };

    (void)state;
    codec_payload_types_add(&from, STR("opus"), 111, 0);
    codec_payload_types_add(&from, STR("H264"), 103, 104);
    codec_payload_types_add(&from, STR("VP8"), 96, 97);
    codec_payload_types_add(&to, STR("H264"), 101, 0);
    codec_payload_types_add(&to, STR("unknown"), 96, 97);
    assert_int_equal(from.opus, 111);
    assert_int_equal(codec_payload_types_translate(&from, &to, 103), 101);
    assert_int_equal(codec_payload_types_translate(&from, &to, 104), -1);
    assert_int_equal(codec_payload_types_translate(&from, &to, 96), -1);
    assert_int_equal(codec_payload_types_translate(&from, &to, 0), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chosen_video_codec_is_supported_by_all_participants),
        cmocka_unit_test(invalid_codec_priorities_are_ignored),
        cmocka_unit_test(payload_types_are_translated_by_codec),
    };

    return cmocka_run_group_tests_name("relay/codecs", tests, NULL, NULL);
}
