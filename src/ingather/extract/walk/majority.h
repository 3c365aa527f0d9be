/* Which bits most of many words have: the last step of a fingerprint (simhash.py), which has no tree. */
#ifndef WALK_MAJORITY_H
#define WALK_MAJORITY_H

#include <stdint.h>
#include <string.h>

#define PLANES 48

/* *at* holds *n* words of 64 bits. One counter a bit, all 64 side by side: plane k has bit k of each. */
static uint64_t majority(const unsigned char *at, size_t n) {
    uint64_t planes[PLANES] = {0};
    for (size_t i = 0; i < n; i++) {
        uint64_t carry;
        memcpy(&carry, at + i * sizeof carry, sizeof carry);
        for (int k = 0; carry && k < PLANES; k++) {
            uint64_t both = planes[k] & carry;
            planes[k] ^= carry;
            carry = both;
        }
    }
    uint64_t half = n / 2, more = 0, same = ~(uint64_t)0;
    for (int k = PLANES - 1; k >= 0; k--) {
        if (half >> k & 1) same &= planes[k];
        else {
            more |= same & planes[k];
            same &= ~planes[k];
        }
    }
    return more;
}

#endif
