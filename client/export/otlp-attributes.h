/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of attributes of OTLP: each pair of a key and a value has one number, from 1 on. */
#pragma once

#include "client/export/protobuf.h"
#include "client/export/string-table.h"
#include "common/util/macro.h"

/* The keys are those of OpenTelemetry's semantic conventions, which have none for a unit. */
enum otlp_attribute {
	OTLP_PID,        /* process.pid, a number */
	OTLP_COMM,       /* process.executable.name */
	OTLP_UNIT,       /* systemd.unit */
	OTLP_BUILD_ID,   /* process.executable.build_id.gnu */
	OTLP_FRAME_TYPE, /* profile.frame.type */
	N_OTLP_ATTRIBUTES,
};

struct otlp_attributes;

/* -ENOMEM. */
int otlp_attributes_new(struct otlp_attributes **ret);
struct otlp_attributes *otlp_attributes_free(struct otlp_attributes *attributes);
DEFINE_CLEANUP(struct otlp_attributes *, otlp_attributes_free);

/* The number of an attribute; -ENOMEM. */
int64_t otlp_attributes_find(struct otlp_attributes *attributes, enum otlp_attribute key,
			     const char *value);

/* Adds the rows to @dictionary, and their keys to @strings. -ENOMEM. */
int otlp_attributes_write(const struct otlp_attributes *attributes, struct string_table *strings,
			  struct protobuf *dictionary);

/* Adds an attribute of text that is in no table to @message, as its field @field. -ENOMEM. */
int otlp_attributes_put_text(struct protobuf *message, unsigned int field, const char *key,
			     const char *value);
