/* tar.c - writes headers of tar archives (POSIX ustar). */
#include "platform/exports/tar.h"

#include <stdio.h>
#include <string.h>

/* Offsets of the header fields. */
enum {
    AT_NAME = 0,
    AT_MODE = 100,
    AT_UID = 108,
    AT_GID = 116,
    AT_SIZE = 124,
    AT_TIME = 136,
    AT_SUM = 148,
    AT_TYPE = 156,
    AT_MAGIC = 257,
};

static void write_octal_number(unsigned char *at, int digits, int64_t value)
{
    for (int i = digits - 1; i >= 0; i--, value >>= 3)
        at[i] = (unsigned char)('0' + (value & 7));
}

bool tar_write_header(unsigned char out[TAR_BLOCK], const char *name, int64_t size, int64_t time_s)
{
    unsigned sum = 0;

    if (strlen(name) >= TAR_NAME || size < 0 || size >= INT64_C(1) << 33)
        return false;
    memset(out, 0, TAR_BLOCK);
    memcpy(out + AT_NAME, name, strlen(name));
    write_octal_number(out + AT_MODE, 7, 0600);
    write_octal_number(out + AT_UID, 7, 0);
    write_octal_number(out + AT_GID, 7, 0);
    write_octal_number(out + AT_SIZE, 11, size);
    write_octal_number(out + AT_TIME, 11, time_s);
    memset(out + AT_SUM, ' ',
           8); /* The checksum is computed as if its own field contained spaces. */
    out[AT_TYPE] = '0';
    memcpy(out + AT_MAGIC,
           "ustar\0"
           "00",
           8);
    for (int i = 0; i < TAR_BLOCK; i++)
        sum += out[i];
    write_octal_number(out + AT_SUM, 6, sum);
    out[AT_SUM + 6] = 0;
    return true;
}

int64_t tar_padding_bytes(int64_t size)
{
    return (TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK;
}
