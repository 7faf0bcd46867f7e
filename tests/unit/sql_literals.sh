#!/bin/sh
# sql_literals.sh SOURCES COMPILER… - the store takes literal SQL, and other text does not compile.
#
# Prepared statements are cached by the address of their text (struct sql in store/store.h), so a
# text that is built at run time would meet the statement of another one.
set -u
sources=$1
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

compiles() {
    cat >"$folder/snippet.c" <<END
#include "store/store.h"
static const char FIND[] = "select 1";
static const struct sql table[] = { SQL_TEXT("select " "1"), { &FIND } };
static char written[] = "select 1";
enum err ask(struct tx *tx, struct sql given, int i);
enum err ask(struct tx *tx, struct sql given, int i)
{
    const char automatic[] = "select 1";
    char built[] = "select 1";
    const char *pointer = i ? automatic : built;

    (void)FIND, (void)table, (void)written, (void)given, (void)pointer;
    return tx_exec(tx, $1, NO_BIND, NULL);
}
END
    shift
    "$@" -std=c17 -D_GNU_SOURCE -Wall -Wextra -Wshadow -Wwrite-strings -Wno-missing-braces -Werror \
        "-I$sources" -fsyntax-only "$folder/snippet.c" >"$folder/said" 2>&1
}

failed=0
for good in '"select 1"' 'FIND' 'given' 'table[i]' 'i ? SQL(FIND) : SQL("select 2")'; do
    if ! compiles "$good" "$@"; then
        echo "does not compile, and should: $good"
        cat "$folder/said"
        failed=1
    fi
done
for bad in 'pointer' 'built' 'automatic' 'written' 'i ? "select 1" : "select 2"' \
    'str_dup_cstring(tx_arena(tx), STR("select 1"))'; do
    if compiles "$bad" "$@"; then
        echo "compiles, and should not: $bad"
        failed=1
    fi
done
exit $failed
