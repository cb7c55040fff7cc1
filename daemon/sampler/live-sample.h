/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A sample that the BPF program took, out of the raw data of the record that carries it. */
#pragma once

#include "common/record/event.h"

/*
 * Fills in @event, which decoder_decode() made, from event->sample.raw; call chain and rows point
 * into it. -EBADMSG where it contradicts itself.
 */
int live_sample_decode(struct event *event);
