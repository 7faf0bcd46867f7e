/* fuzz_voice.c - fuzzes the parser of voice gateway messages. Input: a message. Its data is
 * parsed by the schema of every opcode, and parsed video settings respect their limits. */
#include "fuzz.h"

#include "relay/peers.h"

enum { BLOCK = 16 };

static void check_parsed_video_request(const struct list *entries)
{
    static const struct relay_video_layer layers[RELAY_LAYERS_MAX] = {
        { .quality = 25, .active = true }, { .quality = 0 }, { .quality = 100, .active = true }
    };
    struct video_request wants;

    if (!parse_video_request(entries, &wants))
        return;
    FUZZ_CHECK(wants.any <= 100 && wants.count <= VIDEO_REQUEST_MAX);
    for (unsigned i = 0; i < wants.count; i++)
        FUZZ_CHECK(wants.named[i].quality <= 100);
    int layer = video_choose_layer(layers, RELAY_LAYERS_MAX, BLOCK, &wants);
    FUZZ_CHECK(layer >= -1 && layer < RELAY_LAYERS_MAX && (layer < 0 || layers[layer].active));
}

static void check_lists(struct str text, struct arena *arena)
{
    struct form form = { .arena = arena };
    struct relay_video_layer layers[RELAY_LAYERS_MAX];
    void *d;

    if (!schema_decode(&type_voice_layers, text, &form, &d)) {
        unsigned count = parse_video_layers(true, d, layers);

        FUZZ_CHECK(count >= 1 && count <= RELAY_LAYERS_MAX);
        for (unsigned i = 0; i < count; i++)
            FUZZ_CHECK(layers[i].quality <= 100 && memchr(layers[i].rid, 0, RELAY_RID_MAX));
    }
    form = (struct form){ .arena = arena };
    if (!schema_decode(&type_voice_codecs, text, &form, &d))
        (void)parse_codec_list(d);
}

static void check_data(struct str text, struct arena *arena)
{
    for (const struct voice_opcode_declaration *r = voice_op_rows; r->name; r++) {
        struct form form = { .arena = arena };
        void *d;

        if (r->type && !schema_decode(r->type, text, &form, &d) &&
            r->type == &type_voice_video_request)
            check_parsed_video_request(d);
    }
    check_lists(text, arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_slice((const char *)data, size);
    struct arena *arena = arena_new();
    struct form form = { .arena = arena };
    void *d;

    if (size <= VOICE_MAX_MESSAGE && !schema_decode(&type_voice_envelope, text, &form, &d))
        check_data(((const struct voice_gateway_envelope *)d)->d, arena);
    arena_free(arena);
    return 0;
}
