/* sound_files.c - computes the duration of MP3 and Ogg sounds. */
#include "platform/sounds/internal.h"

static uint64_t read_little_endian(const unsigned char *p, int bytes)
{
    uint64_t v = 0;

    while (bytes-- > 0)
        v = v << 8 | p[bytes];
    return v;
}

/* --- Ogg ------------------------------------------------------------------------------ */

bool soundboard_sound_file_is_ogg(struct str bytes)
{
    return str_starts_with(bytes, STR("OggS"));
}

/* Returns the sample rate in Hz. Vorbis files have it in the first packet; for Opus it is always
 * 48,000. */
static uint64_t ogg_sample_rate(struct str s)
{
    const unsigned char *p = (const unsigned char *)s.p;
    size_t at;

    if (s.n < 28)
        return 0;
    at = 27 + (size_t)p[26];
    if (s.n < at + 30)
        return 0;
    if (!memcmp(p + at, "\x01vorbis", 7))
        return read_little_endian(p + at + 12, 4);
    return !memcmp(p + at, "OpusHead", 8) ? 48000 : 0;
}

static int64_t ogg_duration_ms(struct str s)
{
    const unsigned char *p = (const unsigned char *)s.p;
    uint64_t rate = ogg_sample_rate(s), last = 0;

    for (size_t i = 0; rate && i + 27 <= s.n; i++)
        if (!memcmp(p + i, "OggS", 4) && read_little_endian(p + i + 6, 8) < UINT64_C(1) << 62)
            last = read_little_endian(p + i + 6, 8);
    return rate && last ? (int64_t)(last * 1000 / rate) : -1;
}

/* --- MP3 ------------------------------------------------------------------------------ */

/* Bit rates in kbit/s of layer III: first row MPEG 1, second row MPEG 2. */
static const int rates[2][16] = {
    { 0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0 },
    { 0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0 },
};
static const int samples[3] = { 44100, 48000, 32000 };

/* Parses an MP3 frame header. Returns size in bytes and duration of the frame, or false if the
 * header is invalid. */
static bool parse_mp3_frame_header(const unsigned char *p, size_t *ret_bytes, int64_t *ret_us)
{
    int version = p[1] >> 3 & 3, layer = p[1] >> 1 & 3, rate = p[2] >> 4, hz = p[2] >> 2 & 3;
    bool old = version == 3; /* version bits: 3 is MPEG 1, 2 is MPEG 2, 0 is MPEG 2.5 */

    if (p[0] != 0xff || (p[1] & 0xe0) != 0xe0 || version == 1 || layer != 1 || hz == 3 ||
        !rates[!old][rate])
        return false;
    int frequency = samples[hz] >> (old ? 0 : version == 2 ? 1 : 2);
    int bytes = (old ? 144000 : 72000) * rates[!old][rate] / frequency + (p[2] >> 1 & 1);
    *ret_bytes = (size_t)bytes;
    *ret_us = (int64_t)(old ? 1152 : 576) * 1000000 / frequency;
    return true;
}

static size_t id3_tag_length(struct str s)
{
    const unsigned char *p = (const unsigned char *)s.p;

    if (s.n < 10 || memcmp(p, "ID3", 3) != 0)
        return 0;
    return 10 + ((size_t)(p[6] & 127) << 21 | (size_t)(p[7] & 127) << 14 |
                 (size_t)(p[8] & 127) << 7 | (p[9] & 127));
}

static int64_t mp3_duration_ms(struct str s)
{
    int64_t total = 0, us;
    size_t bytes;

    for (size_t at = id3_tag_length(s); at + 4 <= s.n; at += bytes) {
        if (!parse_mp3_frame_header((const unsigned char *)s.p + at, &bytes, &us))
            break;
        total += us;
    }
    return total ? total / 1000 : -1;
}

static int64_t sound_duration_ms(struct str bytes)
{
    return soundboard_sound_file_is_ogg(bytes) ? ogg_duration_ms(bytes) : mp3_duration_ms(bytes);
}

/* --- data URIs ------------------------------------------------------------------------ */

static bool strip_data_uri_prefix(struct str *text)
{
    static const char *const heads[] = { "data:audio/mpeg;base64,", "data:audio/mp3;base64,",
                                         "data:audio/ogg;base64,", NULL };

    for (int i = 0; heads[i]; i++)
        if (str_starts_with(*text, str_of(heads[i]))) {
            *text = str_skip_bytes(*text, strlen(heads[i]));
            return true;
        }
    return false;
}

enum err soundboard_sound_decode_data_uri(struct arena *arena, struct str uri, struct str *ret)
{
    if (!strip_data_uri_prefix(&uri) || !str_base64_decode(arena, uri, ret))
        return ERR_INVALID_FORM_BODY;
    if (ret->n > SOUND_MAX_BYTES)
        return ERR_FILE_TOO_LARGE;
    int64_t ms = sound_duration_ms(*ret);
    if (ms < 0)
        return ERR_SOUND_UNREADABLE;
    return ms > SOUND_MAX_MS ? ERR_SOUND_TOO_LONG : OK;
}
