/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decodes a sample of the BPF program from the raw data of its record. */
#pragma once

#include "common/record/event.h"

/*
 * Fills in @event, which decoder_decode() made, from event->sample.raw. Call chain and branch
 * records point into the raw data. 0, or -EBADMSG if the raw data contradict themselves.
 */
int live_sample_decode(struct event *event);
