/* migrations_known.c - the steps of this program, and of none other. */
#include "store/migrations.h"

const struct migration *migrations_known(void)
{
    return migrations;
}
