/* relay_video.c - which layer of a video somebody gets. */
#include "unit.h"

#include "relay/media/packets.h"
#include "relay/video.h"

enum { BLOCK = 0x100, SMALL = BLOCK + 1, MIDDLE = BLOCK + 3, LARGE = BLOCK + 5, OTHER = 0x201 };

static int chosen(unsigned active, struct video_wants wants)
{
    struct relay_layer layers[RELAY_LAYERS] = { { .quality = 25 },
                                                { .quality = 50 },
                                                { .quality = 100 } };

    for (unsigned i = 0; i < RELAY_LAYERS; i++)
        layers[i].active = active >> i & 1;
    return video_choose(layers, RELAY_LAYERS, BLOCK, &wants);
}

#define NAMED(...)            \
    .named = { __VA_ARGS__ }, \
    .count = sizeof(struct video_want[]){ __VA_ARGS__ } / sizeof(struct video_want)

static void the_best_that_was_asked_for_is_chosen(void **state)
{
    (void)state;
    assert_int_equal(chosen(7, (struct video_wants){ .any = 100 }), 2);
    assert_int_equal(chosen(7, (struct video_wants){ .any = 99 }), 1);
    assert_int_equal(chosen(7, (struct video_wants){ .any = 50 }), 1);
    assert_int_equal(chosen(7, (struct video_wants){ .any = 49 }), 0);
    assert_int_equal(chosen(7, (struct video_wants){ .any = 1 }), 0);
    assert_int_equal(chosen(7, (struct video_wants){ .any = 0 }), -1);
    /* Of those that are sent. */
    assert_int_equal(chosen(3, (struct video_wants){ .any = 100 }), 1);
    assert_int_equal(chosen(6, (struct video_wants){ .any = 10 }), 1);
    assert_int_equal(chosen(0, (struct video_wants){ .any = 100 }), -1);
}

static void what_is_named_counts_before_the_rest(void **state)
{
    (void)state;
    assert_int_equal(chosen(7, (struct video_wants){ NAMED({ LARGE, 50 }) }), 1);
    assert_int_equal(chosen(7, (struct video_wants){ .any = 100, NAMED({ SMALL, 25 }) }), 0);
    assert_int_equal(chosen(7, (struct video_wants){ .any = 100, NAMED({ LARGE, 0 }) }), 1);
    assert_int_equal(
        chosen(7, (struct video_wants){ NAMED({ SMALL, 100 }, { MIDDLE, 0 }, { LARGE, 0 }) }), 0);
    assert_int_equal(
        chosen(7, (struct video_wants){ .any = 100,
                                        NAMED({ SMALL, 0 }, { MIDDLE, 0 }, { LARGE, 0 }) }),
        -1);
    assert_int_equal(chosen(7, (struct video_wants){ NAMED({ OTHER, 100 }) }), -1);
}

static void a_block_has_its_layers_in_order(void **state)
{
    (void)state;
    assert_int_equal(video_layer_of(BLOCK, BLOCK), -1);
    assert_int_equal(video_layer_of(BLOCK, SMALL), 0);
    assert_int_equal(video_layer_of(BLOCK, SMALL + 1), 0);
    assert_int_equal(video_layer_of(BLOCK, LARGE + 1), 2);
    assert_int_equal(video_layer_of(BLOCK, LARGE + 2), -1);
    assert_int_equal(video_layer_of(BLOCK, BLOCK - 1), -1);
    for (unsigned i = 0; i < RELAY_LAYERS; i++)
        assert_int_equal(video_layer_of(BLOCK, video_ssrc(BLOCK, i)), i);
}

static void audio_is_no_usual_type_of_video(void **state)
{
    struct video_types types = video_types_usual();

    (void)state;
    assert_true(video_type_is(&types, 96) && video_type_is(&types, 127));
    assert_false(video_type_is(&types, 95));
    assert_false(video_type_is(&types, RTP_OPUS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_that_was_asked_for_is_chosen),
        cmocka_unit_test(what_is_named_counts_before_the_rest),
        cmocka_unit_test(a_block_has_its_layers_in_order),
        cmocka_unit_test(audio_is_no_usual_type_of_video),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
