/* The different lines of a long text: what simhash.py does with a set, in one pass and a sort. */
#ifndef WALK_LINES_H
#define WALK_LINES_H

#include <stdlib.h>

#include "majority.h"
#include "xxh3.h"

static int ascending(const void *one, const void *other) {
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return (a > b) - (a < b);
}

/* Leave of *count* hashes the different ones, in front; returns how many there are. A page may choose its lines, so that they
 * meet in a table: what meets too often is sorted. *room*: a power of two, at least twice *count*; *table* is of zeros. */
static size_t different(uint64_t *hashes, size_t count, uint64_t *table, size_t room) {
    size_t kept = 0, met = 0, most = 4 * count + 64;
    for (size_t i = 0; i < count && met < most; i++) {
        uint64_t hash = hashes[i] ? hashes[i] : 1;
        size_t at = hash & (room - 1);
        for (; table[at] && table[at] != hash && met < most; met++) at = (at + 1) & (room - 1);
        if (!table[at]) table[at] = hash;
    }
    if (met < most) {
        for (size_t at = 0; at < room; at++)
            if (table[at]) hashes[kept++] = table[at];
        return kept;
    }
    qsort(hashes, count, sizeof *hashes, ascending);
    for (size_t i = 0; i < count; i++)
        if (!i || hashes[i] != hashes[kept - 1]) hashes[kept++] = hashes[i];
    return kept;
}

/* The fingerprint of a text by its different lines; of more than *most* those whose hash is small.
 * 0 = not for me: fewer than *least*, or no memory. */
static uint64_t lined(const unsigned char *at, size_t n, size_t least, size_t most) {
    size_t lines = 1, count = 0;
    for (const unsigned char *end = at + n, *found = at; (found = memchr(found, '\n', (size_t)(end - found))); found++) lines++;
    if (lines < least) return 0;
    size_t room = 64;
    while (room < 2 * lines) room *= 2;
    uint64_t *hashes = calloc(lines + room, sizeof *hashes);
    if (!hashes) return 0;
    for (size_t start = 0; count < lines; count++) {
        const unsigned char *end = memchr(at + start, '\n', n - start);
        size_t length = end ? (size_t)(end - at) - start : n - start;
        hashes[count] = xxh3(at + start, length);
        start += length + 1;
    }
    size_t kept = different(hashes, count, hashes + lines, room);
    uint64_t found = 0;
    if (kept >= least) {
        if (kept > most) {
            unsigned parts = 1;
            for (size_t more = kept / most; more && parts < 256; more >>= 1) parts <<= 1;
            count = kept;
            kept = 0;
            for (size_t i = 0; i < count; i++)
                if (hashes[i] >> 56 < 256 / parts) hashes[kept++] = hashes[i];
        }
        for (size_t i = 0; i < kept; i++) hashes[i] = __builtin_bswap64(hashes[i]); /* simhash.py reads the digest's bytes backwards */
        found = majority((const unsigned char *)hashes, kept);
        found = found ? found : 1;
    }
    free(hashes);
    return found;
}

#endif
