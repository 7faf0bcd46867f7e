/* message_stream.c - encodes and decodes the messages of a gateway connection without a session. */
#include "gateway/message_stream.h"

#include "base/arena.h"
#include "base/mem.h"
#include "gateway/wire/codec.h"
#include "gateway/wire/compressor.h"
#include "gateway/wire/etf.h"

struct message_stream {
    struct wire_formats dialects; /* has only one dialect: the encoding of this connection */
    struct message_encoder encoder;
};

struct message_stream *message_stream_new(const struct http_request *r)
{
    struct message_stream *s = mem_new(sizeof *s);

    wire_formats_init(&s->dialects);
    s->encoder = (struct message_encoder){ .dialect = wire_format_of_request(&s->dialects, NULL, r),
                                           .begins = true,
                                           .packer = deflate_compressor_new() };
    return s;
}

void message_stream_free(struct message_stream *s)
{
    if (!s)
        return;
    zstd_stream_free(s->encoder.zstd);
    deflate_compressor_free(s->encoder.packer);
    wire_formats_clear(&s->dialects);
    mem_free(s);
}

void message_stream_enable_compression(struct message_stream *s)
{
    s->encoder.compress = true;
}

bool message_stream_encode(struct message_stream *s, struct str json, struct buf *out)
{
    s->encoder.arena = arena_new();
    bool text = encode_json_message(&s->encoder, json, out);
    arena_free(s->encoder.arena);
    s->encoder.begins = false;
    return text;
}

bool message_stream_decode(const struct message_stream *s, struct str message, struct buf *out)
{
    if (s->encoder.dialect->etf)
        return etf_to_json(message, out);
    buf_add_str(out, message);
    return true;
}
