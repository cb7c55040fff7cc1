/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The numbers of the fields of OpenTelemetry's messages of profiles, in version 1.10.0 of
 * opentelemetry-proto: profiles/v1development, which is no stable one. In 1.9.0 those of a sample
 * differ. Rows of places: place-tables.h.
 */
#pragma once

/* Of ExportProfilesServiceRequest and of ProfilesData. */
enum otlp_request_field {
	OTLP_RESOURCE_PROFILES = 1,
	OTLP_DICTIONARY,
};

enum otlp_resource_profiles_field {
	OTLP_RESOURCE_PROFILES_RESOURCE = 1,
	OTLP_RESOURCE_PROFILES_SCOPES,
};

enum otlp_resource_field {
	OTLP_RESOURCE_ATTRIBUTES = 1,
};

enum otlp_scope_profiles_field {
	OTLP_SCOPE_PROFILES_SCOPE = 1,
	OTLP_SCOPE_PROFILES_PROFILES,
};

enum otlp_scope_field {
	OTLP_SCOPE_NAME = 1,
};

enum otlp_dictionary_field {
	OTLP_MAPPING_TABLE = 1,
	OTLP_LOCATION_TABLE,
	OTLP_FUNCTION_TABLE,
	OTLP_LINK_TABLE,
	OTLP_STRING_TABLE,
	OTLP_ATTRIBUTE_TABLE,
	OTLP_STACK_TABLE,
};

enum otlp_profile_field {
	OTLP_PROFILE_SAMPLE_TYPE = 1,
	OTLP_PROFILE_SAMPLES,
	OTLP_PROFILE_TIME,
	OTLP_PROFILE_DURATION,
	OTLP_PROFILE_PERIOD_TYPE,
	OTLP_PROFILE_PERIOD,
	OTLP_PROFILE_ID,
};

enum otlp_sample_field {
	OTLP_SAMPLE_STACK = 1,
	OTLP_SAMPLE_ATTRIBUTES,
	OTLP_SAMPLE_VALUES = 4,
};

enum otlp_stack_field {
	OTLP_STACK_LOCATIONS = 1,
};

enum otlp_attribute_field {
	OTLP_MAPPING_ATTRIBUTES = 5,
	OTLP_LOCATION_ATTRIBUTES = 4,
};

/* Of KeyValueAndUnit, whose key is the number of a string, and of KeyValue. */
enum otlp_key_value_field {
	OTLP_KEY_VALUE_KEY = 1,
	OTLP_KEY_VALUE_VALUE,
};

enum otlp_any_value_field {
	OTLP_ANY_VALUE_STRING = 1,
	OTLP_ANY_VALUE_INT = 3,
};
