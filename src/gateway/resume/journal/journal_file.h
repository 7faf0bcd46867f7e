/* journal_file.h - how a ledger lies in its file. */
#ifndef GATEWAY_RESUME_JOURNAL_JOURNAL_FILE_H
#define GATEWAY_RESUME_JOURNAL_JOURNAL_FILE_H

#include "gateway/resume/journal/journal.h"

enum { LEDGER_HUBS = 256, LEDGER_SLOTS = 1 << 16, LEDGER_NAME = 32, LEDGER_BOOT = 40 };

#define LEDGER_MAGIC UINT64_C(0x0331726467646c47)

struct ledger_place {
    _Atomic uint64_t position;
    char rest[56]; /* each hub writes to a line of its own */
};

struct ledger_head {
    _Atomic uint64_t magic; /* written last */
    int64_t gone_ms;        /* when somebody first found that the process is gone; 0: not yet */
    char boot[LEDGER_BOOT]; /* of the machine; after another one pages of different times may be
                               here */
    char rest[8];
    struct ledger_place hubs[LEDGER_HUBS];
    _Atomic uint64_t numbers[LEDGER_SLOTS]; /* of sessions; 0: the slot is free */
};

/* What the kernel calls this run of the machine; empty where it does not say. */
void ledger_boot(char out[LEDGER_BOOT]);

_Static_assert(sizeof(struct ledger_slot) <= LEDGER_SLOT, "a session has its slot");

static inline size_t ledger_offset(uint32_t slot)
{
    size_t head = (sizeof(struct ledger_head) + LEDGER_SLOT - 1) / LEDGER_SLOT * LEDGER_SLOT;

    return head + (size_t)slot * LEDGER_SLOT;
}

#endif
