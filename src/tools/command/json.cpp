/*
 * json.cpp: the members of JSON objects, read by simdjson.
 */
extern "C"
{
#include "command/command.h"
}

#include <new>
#include <simdjson.h>
#include <string>

using namespace simdjson;

static_assert(SIMDJSON_PADDING <= JSON_PADDING, "records have the padding that simdjson asks for");

/* Values within values that are read. */
static const int MAX_DEPTH = 1000;

/* Memory that simdjson allocates counts as all other. */
void *
operator new(std::size_t bytes)
{
	return resize(nullptr, nullptr, bytes > 0 ? bytes : 1);
}

void
operator delete(void *memory) noexcept
{
	resize(nullptr, memory, 0);
}

void
operator delete(void *memory, std::size_t) noexcept
{
	resize(nullptr, memory, 0);
}

struct Json
{
	ondemand::parser parser;
	const char *defect;
	JsonTake take;
	void *state;
	bool nested;      /* values within values are taken, too */
	std::string path; /* the path of the value that is read */
	uint64_t holders; /* objects, and elements of arrays, so far */
};

/* Notes why an object cannot be read; returns false. */
static bool
refuse(Json *json, error_code error)
{
	json->defect = error == UTF8_ERROR         ? "it is not UTF-8" :
		error == STRING_ERROR                  ? "an escape is wrong, or half of a surrogate pair" :
		error == UNESCAPED_CHARS               ? "a control character is not escaped" :
		error == UNCLOSED_STRING               ? "a string does not end on its line" :
		error == INCOMPLETE_ARRAY_OR_OBJECT    ? "it does not end on its line" :
		error == CAPACITY || error == MEMALLOC ? "it is too long" :
		error == DEPTH_ERROR                   ? "its values are nested too deeply" :
		error == NUMBER_ERROR                  ? "a value is not JSON, such as NaN" :
												 "it is not JSON";
	return false;
}

/* Reads a string.  Versions of simdjson differ in the surrogates that they refuse. */
static bool
read_string(Json *json, simdjson_result<std::string_view> result, std::string_view *string)
{
	error_code error = std::move(result).get(*string);

	if (error == SUCCESS && !is_utf8(string->data(), string->size()))
		error = STRING_ERROR;
	return error == SUCCESS || refuse(json, error);
}

/* Skips digits; returns whether there was one. */
static bool
skip_digits(const char **at, const char *end)
{
	const char *first = *at;

	while (*at < end && **at >= '0' && **at <= '9')
		++*at;
	return *at > first;
}

/* Returns whether a token is a number of JSON, with any number of digits, unlike simdjson's. */
static bool
is_number(std::string_view token)
{
	const char *end = token.data() + token.size();
	const char *at = token.data() + (token[0] == '-');

	if (at < end && *at == '0')
		at++;
	else if (!skip_digits(&at, end))
		return false;
	if (at < end && *at == '.' && !skip_digits(&++at, end))
		return false;
	if (at < end && (*at == 'e' || *at == 'E'))
	{
		at++;
		at += at < end && (*at == '+' || *at == '-');
		if (!skip_digits(&at, end))
			return false;
	}
	return at == end;
}

static bool json_read_value(Json *json, ondemand::value value, int depth, std::string_view *text);

/* Returns a value as it is written. */
static std::string_view
as_written(ondemand::value value)
{
	std::string_view token = value.raw_json_token();

	return token.substr(0, token.find_last_not_of(" \t\r\n") + 1);
}

/* Adds a name to the first bytes of the path, if the value there is one to take. */
static void
set_path(Json *json, std::size_t length, int depth, const char *between, std::string_view name)
{
	if (depth > 0 && !json->nested)
		return;
	json->path.resize(length);
	json->path.append(between).append(name);
}

/* Reads a value within another, whose path is json->path, and gives it to json->take. */
static bool
json_take_value(Json *json, ondemand::value value, int depth, uint64_t holder)
{
	std::size_t length = json->path.size();
	std::string_view raw = as_written(value);
	std::string_view text;
	JsonValue taken;

	if (!json_read_value(json, value, depth + 1, &text))
		return false;
	json->path.resize(length);
	if (raw[0] != '"')
		raw = text;
	taken = {json->path.data(), length,     depth > 0,   holder,
			 raw.data(),        raw.size(), text.data(), text.size()};
	if (depth == 0 || json->nested)
		json->take(json->state, &taken);
	return true;
}

/* Reads an object, whose path is json->path unless it is the outermost. */
static bool
read_object(Json *json, simdjson_result<ondemand::object> result, int depth)
{
	ondemand::object object;
	error_code error = std::move(result).get(object);
	std::size_t length = json->path.size();
	uint64_t holder = ++json->holders;

	if (error != SUCCESS)
		return refuse(json, error);
	for (simdjson_result<ondemand::field> member : object)
	{
		ondemand::field field;
		std::string_view name;

		error = std::move(member).get(field);
		if (error != SUCCESS)
			return refuse(json, error);
		if (!read_string(json, field.unescaped_key(), &name))
			return false;
		set_path(json, length, depth, depth > 0 ? "." : "", name);
		if (!json_take_value(json, field.value(), depth, holder))
			return false;
	}
	return true;
}

/* Reads an array. */
static bool
read_array(Json *json, simdjson_result<ondemand::array> result, int depth)
{
	ondemand::array array;
	error_code error = std::move(result).get(array);
	std::size_t length = json->path.size();

	if (error != SUCCESS)
		return refuse(json, error);
	for (simdjson_result<ondemand::value> element : array)
	{
		ondemand::value value;

		error = std::move(element).get(value);
		if (error != SUCCESS)
			return refuse(json, error);
		set_path(json, length, depth, "[]", {});
		if (!json_take_value(json, value, depth, ++json->holders))
			return false;
	}
	return true;
}

/* Reads a value; sets text to a string, or to the value as it is written. */
static bool
json_read_value(Json *json, ondemand::value value, int depth, std::string_view *text)
{
	const char *end;
	char first;

	*text = value.raw_json_token();
	first = text->front();
	if (first == '"')
		return read_string(json, value.get_string(), text);
	if (first == '{' || first == '[')
	{
		if (depth > MAX_DEPTH)
			return refuse(json, DEPTH_ERROR);
		if (!(first == '{' ? read_object(json, value.get_object(), depth) :
							 read_array(json, value.get_array(), depth)))
			return false;
		if (value.current_location().get(end) != SUCCESS)
			return refuse(json, INCOMPLETE_ARRAY_OR_OBJECT);
		*text = {text->data(), (std::size_t)(end - text->data())};
	}
	*text = text->substr(0, text->find_last_not_of(" \t\r\n") + 1);
	if (first == '{' || first == '[' || *text == "true" || *text == "false" || *text == "null" ||
		is_number(*text))
		return true;
	return refuse(json, NUMBER_ERROR);
}

/* Reads an object, behind which JSON_PADDING bytes can be read.  Returns why it cannot be, or NULL. */
const char *
json_read(Json **position, const char *at, size_t length, bool nested, JsonTake take, void *state)
{
	Json *json = *position = *position != nullptr ? *position : new Json;
	const char *first = at + strspn(at, " \t\r");
	ondemand::document document;
	error_code error;

	if (*first == '[')
		return "it is an array: write each of its objects on a line, as jq -c '.[]' does";
	if (*first != '{')
		return "it is no JSON object";
	json->defect = nullptr;
	json->nested = nested;
	json->take = take;
	json->state = state;
	json->path.clear();
	error = json->parser.iterate(at, length, length + JSON_PADDING).get(document);
	if (error != SUCCESS)
		refuse(json, error);
	else if (read_object(json, document.get_object(), 0) &&
			 document.current_location().error() != OUT_OF_BOUNDS)
		json->defect = "something follows the JSON object";
	return json->defect;
}

/* Frees what json_read() has allocated. */
void
json_free(Json *json)
{
	delete json;
}

/* Returns whether bytes are UTF-8. */
bool
is_utf8(const char *bytes, size_t length)
{
	return validate_utf8(bytes, length);
}
