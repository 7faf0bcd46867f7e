/* migrations.h - the steps from an empty database to the present one. */
#ifndef STORE_MIGRATIONS_H
#define STORE_MIGRATIONS_H

struct migration {
    int number;       /* 1, 2, 3 …; 0 ends the list */
    const char *name; /* "0001-accounts" */
    /* With the words {id} and {clustered}. What only one engine can do stands below a
     * line "-- sqlite:" or "-- postgres:", until "-- both:". */
    const char *sql;
};

extern const struct migration migrations[];

#endif
