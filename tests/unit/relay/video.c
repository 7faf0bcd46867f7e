/* video.c - tests which layer of a video a participant receives. */
#include "unit/unit.h"

#include "relay/media/packets.h"
#include "relay/video.h"

enum { BLOCK = 0x100, SMALL = BLOCK + 1, MIDDLE = BLOCK + 3, LARGE = BLOCK + 5, OTHER = 0x201 };

static int chosen(unsigned active, struct video_request wants)
{
    struct relay_video_layer layers[RELAY_LAYERS_MAX] = { { .quality = 25 },
                                                          { .quality = 50 },
                                                          { .quality = 100 } };

    for (unsigned i = 0; i < RELAY_LAYERS_MAX; i++)
        layers[i].active = active >> i & 1;
    return video_choose_layer(layers, RELAY_LAYERS_MAX, BLOCK, &wants);
}

#define NAMED(...)                                                                              \
    .named = { __VA_ARGS__ }, .count = sizeof(struct requested_ssrc_quality[]){ __VA_ARGS__ } / \
                                       sizeof(struct requested_ssrc_quality)

static void best_video_layer_within_the_request_is_chosen(void **state)
{
    (void)state;
    assert_int_equal(chosen(7, (struct video_request){ .any = 100 }), 2);
    assert_int_equal(chosen(7, (struct video_request){ .any = 99 }), 1);
    assert_int_equal(chosen(7, (struct video_request){ .any = 50 }), 1);
    assert_int_equal(chosen(7, (struct video_request){ .any = 49 }), 0);
    assert_int_equal(chosen(7, (struct video_request){ .any = 1 }), 0);
    assert_int_equal(chosen(7, (struct video_request){ .any = 0 }), -1);
    /* Only layers that are sent can be chosen. */
    assert_int_equal(chosen(3, (struct video_request){ .any = 100 }), 1);
    assert_int_equal(chosen(6, (struct video_request){ .any = 10 }), 1);
    assert_int_equal(chosen(0, (struct video_request){ .any = 100 }), -1);
}

static void quality_of_a_named_stream_overrides_the_general_quality(void **state)
{
    (void)state;
    assert_int_equal(chosen(7, (struct video_request){ NAMED({ LARGE, 50 }) }), 1);
    assert_int_equal(chosen(7, (struct video_request){ .any = 100, NAMED({ SMALL, 25 }) }), 0);
    assert_int_equal(chosen(7, (struct video_request){ .any = 100, NAMED({ LARGE, 0 }) }), 1);
    assert_int_equal(
        chosen(7, (struct video_request){ NAMED({ SMALL, 100 }, { MIDDLE, 0 }, { LARGE, 0 }) }), 0);
    assert_int_equal(
        chosen(7, (struct video_request){ .any = 100,
                                          NAMED({ SMALL, 0 }, { MIDDLE, 0 }, { LARGE, 0 }) }),
        -1);
    assert_int_equal(chosen(7, (struct video_request){ NAMED({ OTHER, 100 }) }), -1);
}

static void ssrc_block_contains_its_layers_in_order(void **state)
{
    (void)state;
    assert_int_equal(video_layer_of_ssrc(BLOCK, BLOCK), -1);
    assert_int_equal(video_layer_of_ssrc(BLOCK, SMALL), 0);
    assert_int_equal(video_layer_of_ssrc(BLOCK, SMALL + 1), 0);
    assert_int_equal(video_layer_of_ssrc(BLOCK, LARGE + 1), 2);
    assert_int_equal(video_layer_of_ssrc(BLOCK, LARGE + 2), -1);
    assert_int_equal(video_layer_of_ssrc(BLOCK, BLOCK - 1), -1);
    for (unsigned i = 0; i < RELAY_LAYERS_MAX; i++)
        assert_int_equal(video_layer_of_ssrc(BLOCK, video_layer_ssrc(BLOCK, i)), i);
}

static void default_video_payload_types_exclude_audio(void **state)
{
    struct video_payload_types types = video_payload_types_default();

    (void)state;
    assert_true(video_payload_type_is_set(&types, 96) && video_payload_type_is_set(&types, 127));
    assert_false(video_payload_type_is_set(&types, 95));
    assert_false(video_payload_type_is_set(&types, RTP_OPUS_PAYLOAD_TYPE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(best_video_layer_within_the_request_is_chosen),
        cmocka_unit_test(quality_of_a_named_stream_overrides_the_general_quality),
        cmocka_unit_test(ssrc_block_contains_its_layers_in_order),
        cmocka_unit_test(default_video_payload_types_exclude_audio),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
