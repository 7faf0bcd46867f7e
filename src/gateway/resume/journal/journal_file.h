/* journal_file.h - the layout of the journal file. */
#ifndef GATEWAY_RESUME_JOURNAL_JOURNAL_FILE_H
#define GATEWAY_RESUME_JOURNAL_JOURNAL_FILE_H

#include "gateway/resume/journal/journal.h"

enum {
    JOURNAL_LOOPS_MAX = 256,
    JOURNAL_SLOTS_MAX = 1 << 16,
    JOURNAL_NAME_BYTES = 32,
    JOURNAL_BOOT_ID = 40
};

#define JOURNAL_MAGIC UINT64_C(0x0531726467646c47)

struct journal_loop_record {
    _Atomic uint64_t position;
    char rest[56]; /* pads to a cache line */
};

struct journal_file_header {
    _Atomic uint64_t magic; /* written last */
    /* Time at which another process first found this process dead, in ms; 0 if none did. */
    int64_t gone_ms;
    char boot[JOURNAL_BOOT_ID]; /* kernel boot id; after a reboot the file may be inconsistent */
    char rest[8];
    struct journal_loop_record loops[JOURNAL_LOOPS_MAX];
    /* number of the session in each journal slot; 0 if the slot is free */
    _Atomic uint64_t numbers[JOURNAL_SLOTS_MAX];
};

/* Reads the kernel's boot id; `out` is empty if there is none. */
void read_kernel_boot_id(char out[JOURNAL_BOOT_ID]);

_Static_assert(sizeof(struct journal_slot) <= JOURNAL_SLOT_BYTES, "a slot fits into its space");

static inline size_t journal_slot_offset(uint32_t slot)
{
    size_t head = (sizeof(struct journal_file_header) + JOURNAL_SLOT_BYTES - 1) /
                  JOURNAL_SLOT_BYTES * JOURNAL_SLOT_BYTES;

    return head + (size_t)slot * JOURNAL_SLOT_BYTES;
}

#endif
