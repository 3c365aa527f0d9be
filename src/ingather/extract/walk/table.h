/* Targets by href: a table with a secret key, since a page may choose what it holds. */
#ifndef WALK_TABLE_H
#define WALK_TABLE_H

#include "lexbor.h"

typedef struct { uint64_t hash; bytes key; size_t value; } entry;
typedef struct { entry *at; size_t n, room; } table;

#define ROTATE(x, n) (((x) << (n)) | ((x) >> (64 - (n))))
#define ROUND                                                                            \
    a += b, b = ROTATE(b, 13) ^ a, a = ROTATE(a, 32), c += d, d = ROTATE(d, 16) ^ c,      \
    a += d, d = ROTATE(d, 21) ^ a, c += b, b = ROTATE(b, 17) ^ c, c = ROTATE(c, 32)

static uint64_t hash_of(const struct setup *s, bytes key) { /* SipHash-1-3 */
    uint64_t a = s->key[0] ^ 0x736f6d6570736575u, b = s->key[1] ^ 0x646f72616e646f6du;
    uint64_t c = s->key[0] ^ 0x6c7967656e657261u, d = s->key[1] ^ 0x7465646279746573u, word;
    size_t i = 0;
    for (; i + 8 <= key.n; i += 8) {
        memcpy(&word, key.at + i, 8);
        d ^= word;
        ROUND;
        a ^= word;
    }
    word = (uint64_t)key.n << 56;
    for (unsigned shift = 0; i < key.n; i++, shift += 8) word |= (uint64_t)key.at[i] << shift;
    d ^= word;
    ROUND;
    a ^= word;
    c ^= 0xff;
    ROUND; ROUND; ROUND;
    return a ^ b ^ c ^ d;
}

static entry *place_in(const table *t, uint64_t hash, bytes key) {
    for (size_t i = hash & (t->room - 1);; i = (i + 1) & (t->room - 1)) {
        entry *e = t->at + i;
        if (!e->key.at || (e->hash == hash && e->key.n == key.n && !memcmp(e->key.at, key.at, key.n))) return e;
    }
}

static entry *find(const struct setup *s, const table *t, bytes key) {
    if (!t->n) return NULL;
    entry *e = place_in(t, hash_of(s, key), key);
    return e->key.at ? e : NULL;
}

/* Keep *value* under *key*, whose bytes must outlive the table; returns 0 when there is no memory. */
static int keep(const struct setup *s, table *t, bytes key, size_t value) {
    if (4 * (t->n + 1) > 3 * t->room) {
        table larger = {NULL, t->n, t->room ? 2 * t->room : 128};
        if (larger.room > CAP / sizeof(entry) || !(larger.at = calloc(larger.room, sizeof(entry)))) return 0;
        for (size_t i = 0; i < t->room; i++)
            if (t->at[i].key.at) *place_in(&larger, t->at[i].hash, t->at[i].key) = t->at[i];
        free(t->at);
        *t = larger;
    }
    uint64_t hash = hash_of(s, key);
    entry *e = place_in(t, hash, key);
    t->n += !e->key.at;
    *e = (entry){hash, key, value};
    return 1;
}

#endif
