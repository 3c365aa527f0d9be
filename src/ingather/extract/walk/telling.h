/* After the walk: what was found becomes the one buffer that compiled.py reads. */
#ifndef WALK_TELLING_H
#define WALK_TELLING_H

#include "found.h"

#define SECTIONS 12

static int fold_if_any(buffer *to, bytes text) {
    size_t before = to->n;
    if (text.n) fold(to, text.at, text.n);
    return to->n > before || to->failed;
}

/* The words of a link that shows none: its picture's, its title's. */
static void spoken(walk *w, node *link) {
    const struct setup *s = w->s;
    for (node *at = link; at; at = following(s, link, at))
        if (s->tag(at) == s->image_tag) {
            ATTRIBUTES(picture, at, "alt");
            if (fold_if_any(&w->words, picture[0])) return;
        }
    ATTRIBUTES(v, link, "alt", "aria-label", "title");
    for (int i = 0; i < 3; i++)
        if (fold_if_any(&w->words, v[i])) return;
}

/* A target whose first link shows no words takes those of a later one. */
static int name_the_nameless(walk *w) {
    const struct setup *s = w->s;
    table nameless = {0};
    int kept = 1;
    for (size_t i = 0; kept && i < w->targets.items; i++) {
        target *t = ITEM(target, w->targets, i);
        if (t->link != NONE && !t->n) kept = keep(s, &nameless, t->href, i);
    }
    for (size_t i = 0; nameless.n && i < w->links.items; i++) {
        link_ *l = ITEM(link_, w->links, i);
        entry *e = l->href.n ? find(s, &nameless, l->href) : NULL;
        target *t = e ? ITEM(target, w->targets, e->value) : NULL;
        if (!t || t->n) continue;
        t->words = w->words.n;
        fold(&w->words, w->inner.at + l->start, l->end - l->start);
        t->n = prefix(w->words.at + t->words, w->words.n - t->words, s->anchor_chars);
        w->words.n = t->words + t->n;
    }
    free(nameless.at);
    return kept && !w->words.failed ? FINE : NO_MEMORY;
}

/* Elements may nest, and their texts with them: the budget bounds what is copied. */
static int find_words(walk *w, int64_t *budget) {
    const struct setup *s = w->s;
    int nameless = 0;
    for (size_t i = 0; i < w->targets.items; i++) {
        target *t = ITEM(target, w->targets, i);
        t->words = w->words.n;
        if (t->link != NONE && *budget > 0) {
            link_ *l = ITEM(link_, w->links, t->link);
            fold(&w->words, w->inner.at + l->start, l->end - l->start);
            *budget -= (int64_t)characters(w->words.at + t->words, w->words.n - t->words);
        }
        if (w->words.n == t->words) spoken(w, t->at);
        if (w->words.failed) return NO_MEMORY;
        t->n = prefix(w->words.at + t->words, w->words.n - t->words, s->anchor_chars);
        w->words.n = t->words + t->n;
        nameless |= !t->n;
    }
    return nameless ? name_the_nameless(w) : FINE;
}

static int put_anchors(walk *w, buffer *out) {
    put_size(out, 0xdd, w->targets.items, 4);
    for (size_t i = 0; i < w->targets.items; i++) {
        target *t = ITEM(target, w->targets, i);
        put_byte(out, 0x94);
        put_bytes(out, t->href);
        put_string(out, w->words.at + t->words, t->n);
        buffer rel = {0};
        fold(&rel, t->rel.at, t->rel.n);
        int plain = 1;
        for (size_t k = 0; k < rel.n; k++) {
            plain &= rel.at[k] < 0x80;
            rel.at[k] = lower(rel.at[k]);
        }
        put_string(out, rel.at, rel.n);
        out->failed |= rel.failed;
        free(rel.at);
        if (!plain) return NOT_FOR_ME;
        put_string(out, t->kind, strlen(t->kind));
    }
    return FINE;
}

static void put_headings(walk *w, buffer *out, int64_t *budget) {
    buffer headings = {0}, words = {0};
    for (size_t i = 0; i < w->slices.items; i++) {
        slice *l = ITEM(slice, w->slices, i);
        if (!l->level) continue;
        const byte *text = w->shown.at + l->start;
        size_t n = l->end - l->start;
        *budget -= (int64_t)characters(text, n);
        words.n = 0;
        fold(&words, text, prefix(text, n, w->s->heading_chars));
        if (words.n) {
            put_byte(&headings, 0x92);
            put_byte(&headings, l->level);
            put_string(&headings, words.at, words.n);
            headings.items++;
        }
        if (*budget < 0) break;
    }
    put_section(out, &headings);
    out->failed |= words.failed;
    free(headings.at);
    free(words.at);
}

static void put_marked(walk *w, buffer *out, int64_t *budget) {
    buffer marked = {0}, words = {0};
    for (size_t i = 0; i < w->slices.items; i++) {
        slice *l = ITEM(slice, w->slices, i);
        if (l->level) continue;
        const byte *text = w->shown.at + l->start;
        size_t count = characters(text, l->end - l->start);
        *budget -= (int64_t)count;
        if (count <= w->s->marked_chars) {
            put(&marked, text, l->end - l->start);
            put_byte(&marked, ' ');
        }
        if (*budget < 0) break;
    }
    fold(&words, marked.at, marked.n);
    put_string(out, words.at, words.n);
    out->failed |= words.failed | marked.failed;
    free(marked.at);
    free(words.at);
}

static void put_text(walk *w, buffer *out, int folded) {
    int any = w->body_start != NONE && w->body_end > w->body_start;
    const byte *text = any ? w->shown.at + w->body_start : NULL;
    size_t n = any ? w->body_end - w->body_start : 0;
    buffer lines = {0};
    if (folded && n) fold_lines(&lines, text, n);
    put_string(out, folded ? lines.at : text, folded ? lines.n : n);
    out->failed |= lines.failed;
    free(lines.at);
}

static int write_down(walk *w, size_t n_html, int folded, buffer *out) {
    int64_t budget = (int64_t)(2 * n_html + w->s->spare_chars);
    int failed = find_words(w, &budget);
    if (failed) return failed;
    put_byte(out, 0x90 | SECTIONS);
    put_string(out, w->title.at, w->title.n);
    put_byte(out, 0xc2 | w->titled);
    put_text(w, out, folded);
    put_bytes(out, w->base);
    put_bytes(out, w->language);
    if ((failed = put_anchors(w, out))) return failed;
    put_section(out, &w->relations);
    put_headings(w, out, &budget);
    put_section(out, &w->metas);
    put_marked(w, out, &budget);
    put_section(out, &w->json_ld);
    put_section(out, &w->times);
    return out->failed || w->title.failed ? NO_MEMORY : FINE;
}

#endif
